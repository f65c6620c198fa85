import Registration
import SIPCore

/// One endpoint of one watcher (MS-PRES 3.4.5.1.3).
struct EndpointKey: Hashable {
    private let watcher: String
    let endpoint: EndpointID

    /// Creates the key; nil if the request names no endpoint.
    /// - Parameter watcher: the sender's canonical key, for any form of its URI in From.
    init?(_ request: SIPRequest, of watcher: String) {
        guard let endpoint = EndpointID(of: request.headers) else { return nil }
        self.init(watcher: watcher, endpoint: endpoint)
    }

    init(watcher: String, endpoint: EndpointID) {
        self.watcher = watcher
        self.endpoint = endpoint
    }
}
