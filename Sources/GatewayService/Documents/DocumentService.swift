import HTTPTransport
import PresenceGateway
import SIPCore
import SIPSecurity
import SIPTransport
import Synchronization
import XCAP

/// XCAP over HTTP: authenticates the user of a request and passes it to the shard of the user.
final class DocumentService: Sendable {
    private let server: SIPServer
    private let router: ShardRouter
    private let authenticator: Authenticator
    private let root: XCAPRoot
    private let domains: Mutex<Domains>

    /// Domains of users, which a reload may change.
    struct Domains: Sendable {
        /// Hosted domains, sorted.
        let realms: [String]
        private let configuration: GatewayConfiguration

        init(_ configuration: GatewayConfiguration) {
            self.configuration = configuration
            realms = configuration.domains.filter { $0.key != "*" && $0.value.hosted && $0.value.refuse == nil }.keys.sorted()
        }

        /// All realms, the one of a user first.
        func realms(startingWith user: XUI?) -> [String] {
            guard let user, let uri = SIPURI(user.description) else { return realms }
            let own = configuration.canonical(uri).domainKey
            return realms.contains(own) ? [own] + realms.filter { $0 != own } : realms
        }
    }

    /// Header fields by which a proxy names a user; no proxy is trusted, so that they are refused.
    private static let identityHeaders = ["x-3gpp-intended-identity", "x-3gpp-asserted-identity", "x-xcap-asserted-identity"]

    init(server: SIPServer, router: ShardRouter, authenticator: Authenticator, root: XCAPRoot, configuration: GatewayConfiguration) {
        self.server = server
        self.router = router
        self.authenticator = authenticator
        self.root = root
        domains = Mutex(Domains(configuration))
    }

    /// Applies a new configuration.
    func use(_ configuration: GatewayConfiguration) { domains.withLock { $0 = Domains(configuration) } }

    /// Answers a request once, on any thread.
    func answer(_ request: HTTPRequest, _ answer: @escaping @Sendable (HTTPAnswer) -> Void) {
        guard Self.identityHeaders.allSatisfy({ request.values($0).isEmpty }) else { return answer(Self.refusal(403)) }
        let user = (try? XCAPURI(target: request.target, root: root))?.document.user
        let realms = domains.withLock { $0.realms(startingWith: user) }
        let remote = TransportAddress(.tcp, request.remoteHost, request.remotePort)
        let credentials = HTTPCredentialsRequest(
            method: request.method, target: request.target, body: request.body, authorization: request.values("authorization"),
            source: MessageSource(local: TransportAddress(.tcp, "", 0), remote: remote))
        switch authenticator.check(credentials, realms: realms, at: server.clock.now()) {
        case .challenge(let values): answer(Self.refusal(401, values.map { ("WWW-Authenticate", $0) }))
        case .refused(let status, let pause): answer(Self.refusal(status, pause.map { [("Retry-After", String($0))] } ?? []))
        case .accepted(let identity):
            let asked = DocumentRequest(
                user: identity, method: request.method, target: request.target, contentType: request.values("content-type").first,
                ifMatch: Self.joined(request.values("if-match")), ifNoneMatch: Self.joined(request.values("if-none-match")),
                body: request.body)
            server.shards[router.shard(ofKey: identity)].submit { endpoint, now in
                guard let gateway = endpoint as? Gateway else { return answer(Self.refusal(503)) }
                gateway.receive(asked, at: now) { answer(Self.answer($0)) }
            }
        }
    }

    private static func joined(_ values: [String]) -> String? { values.isEmpty ? nil : values.joined(separator: ", ") }

    private static func answer(_ answer: DocumentAnswer) -> HTTPAnswer {
        HTTPAnswer(
            status: answer.status, headers: answer.headers.map { (name: $0.name, value: $0.value) } + common, body: answer.body,
            omitsBody: answer.omitsBody)
    }

    private static func refusal(_ status: Int, _ headers: [(String, String)] = []) -> HTTPAnswer {
        HTTPAnswer(status: status, headers: headers.map { (name: $0.0, value: $0.1) } + common)
    }

    private static let common = [(name: "Cache-Control", value: "private, no-cache"), (name: "Vary", value: "Authorization")]
}
