import SIPCore

extension Refusal {
    /// Maps a refusal by the remote domain to a response for the publishing client.
    init(remotePublication status: Int) {
        switch status {
        case 300..<400:
            self.init(.badGateway, "the identity's domain answered \(status) without a Contact of its own servers")
        case 401, 407:
            self.init(.badGateway, "the identity's domain asks this gateway for credentials")
        case 403, 603:
            self = .forbidden("the identity's domain does not let this gateway publish")
        case 404, 410, 489, 604:
            self.init(.notFound, "the identity's domain takes no publications of it", errorID: 4005)
        case 413, 513:
            self.init(.requestEntityTooLarge, "what is published is too large for the identity's domain", errorID: 2010)
        default:
            self.init(.badGateway, "the identity's domain refused the publication with \(status)")
        }
    }
}
