import FederationRouting
import PresenceGateway
import SIPCore
import Testing

/// An enterprise pool that is asked by the gateway.
extension Bench {
    static let poolOne = "sip:pool1.contoso.com@contoso.com;gruu;opaque=srvr:HomeServer:one"
    static let poolTwo = "sip:pool2.contoso.com@contoso.com;gruu;opaque=srvr:HomeServer:two"

    /// A gateway that is trusted inside contoso.com.
    static func trusted(store: (any GatewayStore)? = nil, _ change: (inout GatewayConfiguration) -> Void = { _ in }) -> Bench {
        Bench(store: store) {
            $0.domains["contoso.com"]?.federation.network = .sameEnterprise
            change(&$0)
        }
    }

    /// The watcher's SUBSCRIBE, taken; its first NOTIFY is not.
    @discardableResult
    func watch(
        _ presentity: String, by watcher: String = "ann@example.org", accept: String = "application/pidf+xml",
        location: SourceLocation = #_sourceLocation
    ) throws -> SIPResponse {
        send(subscribe(watcher, to: presentity, accept: accept, via: Self.simple), from: Self.simple)
        return try nextResponse(200, at: Self.simple, location)
    }

    static func instanceState(_ uri: String, _ attributes: String) -> String {
        "<resource uri=\"sip:\(uri)\"><instance id=\"0\" cid=\"\(uri)\" \(attributes)/></resource>"
    }

    static func elsewhere(_ uri: String, _ pool: String? = nil) -> String {
        instanceState(uri, "state=\"resubscribe\"" + (pool.map { " poolFqdn=\"\($0)\"" } ?? ""))
    }

    static let listType = "multipart/related; type=\"application/rlmi+xml\";start=resourceList;boundary=b1"

    /// A resource list with verdicts and one part for each presentity (MS-PRES 2.2.2.4.2).
    static func list(_ states: [(String, String)], _ instanceStates: [String] = []) -> String {
        var text =
            "--b1\r\nContent-Transfer-Encoding: binary\r\nContent-ID: resourceList\r\nContent-Type: application/rlmi+xml\r\n\r\n"
            + "<list xmlns=\"urn:ietf:params:xml:ns:rlmi\" uri=\"sip:ann@example.org\" version=\"0\" fullState=\"false\">"
            + instanceStates.joined() + "</list>\r\n"
        for (uri, content) in states {
            text +=
                "--b1\r\nContent-Transfer-Encoding: binary\r\nContent-Type: application/msrtc-event-categories+xml\r\n\r\n"
                + categories(uri, content) + "\r\n"
        }
        return text + "--b1--\r\n"
    }

    /// Answers a SUBSCRIBE of the gateway with a piggybacked list.
    func grant(_ request: SIPRequest, _ states: [(String, String)] = [], _ instanceStates: [String] = [], expires: Int = 3_600) {
        answer(
            request, 200, from: Self.enterprise,
            headers: [
                (.expires, "\(expires)"), (.event, "presence"),
                ("subscription-state", expires == 0 ? "terminated;expires=0" : "active;expires=\(expires)"),
                (.msPiggybackCSeq, "\(request.headers.cSeq?.number ?? 0)"), (.supported, "ms-piggyback-first-notify"),
                (.contentType, Self.listType),
            ], body: Self.list(states, instanceStates))
    }

    /// `subscribe:` or `unsubscribe:` and the URIs of each action of a category SUBSCRIBE.
    static func actions(_ request: SIPRequest) -> [String] {
        request.text.split(separator: "<action ").dropFirst().map { action in
            let name = action.split(separator: "\"")[1]
            let uris = action.split(separator: "<resource uri=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
            return "\(name): " + uris.joined(separator: " ")
        }
    }

    /// Takes the watcher's NOTIFYs, answered; what each says: its presentity and Subscription-State, and `open` or `closed`.
    func notified() throws -> [String] {
        try takeNotifies(at: Self.simple).map { notify in
            let presentity = notify.headers.from?.uri.description.dropFirst(4) ?? ""
            let state = notify.headers.subscriptionState?.state.rawValue ?? ""
            let reason = notify.headers.subscriptionState?.reason?.rawValue
            let basic = ["open", "closed"].first { notify.text.contains("<basic>\($0)</basic>") }
            return ["\(presentity)", state, reason, basic].compactMap { $0 }.joined(separator: " ")
        }
    }
}
