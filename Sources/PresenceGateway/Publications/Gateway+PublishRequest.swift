import SIPCore
import SIPEvents

/// Checks of PUBLISH that do not depend on the compositor (RFC 3903 6).
extension Gateway {
    /// Checks the package, the publisher and the type of the document.
    func checkPublication(_ request: SIPRequest, _ parties: RequestScreening.Parties) throws(Refusal) {
        guard let event = request.headers.event, event.package == EventToken.presence else { throw packages.badEvent }
        guard parties.watcherKey == parties.presentityKey else {
            throw .forbidden("RFC 3903 6: only the presentity itself may publish")
        }
        if !request.body.isEmpty, request.headers.contentType?.essence != WatcherFormat.pidfType {
            throw .unsupportedMediaType(accept: WatcherFormat.pidfType)
        }
    }
}
