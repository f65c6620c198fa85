import SIPCore
import Synchronization

@testable import SIPSecurity

/// An authenticator with two users of contoso.com and one of example.com, and messages for it.
struct Bench {
    static let start = Instant(secondsSince1970: 1_700_000_000)
    static let secret = [UInt8](repeating: 3, count: 32)
    static let ntlm = AuthenticationDemand(offersNTLM: true, digestAlgorithms: [])
    static let digest = AuthenticationDemand(offersNTLM: false, digestAlgorithms: [.sha256, .md5])
    static let any = AuthenticationDemand(offersNTLM: true, digestAlgorithms: [.sha256, .md5])

    let authenticator: Authenticator
    let directory: Directory
    let source = MessageSource(
        local: TransportAddress(.tcp, "192.0.2.1", 5060), remote: TransportAddress(.tcp, "192.0.2.9", 40_000),
        connection: ConnectionID(rawValue: 7))

    init(_ change: (inout AuthenticationLimits) -> Void = { _ in }) throws {
        var limits = AuthenticationLimits()
        change(&limits)
        var accounts: [LoginName: Account] = [:]
        for (user, domain, password) in [
            ("alice", "contoso.com", "Pa$$w0rd"), ("bob", "contoso.com", "hunter2"), ("alice", "example.com", "x"),
        ] {
            accounts[LoginName(user: user, domain: domain)] = Account(
                identity: "sip:\(user)@\(domain)", verifiers: try CredentialVerifiers(user: user, realm: domain, password: password))
        }
        let directory = Directory(accounts)
        self.directory = directory
        authenticator = Authenticator(targetName: "edge1.example.net", secret: Self.secret, limits: limits) { directory[$0] }
    }

    /// Accounts that may change under the authenticator.
    final class Directory: Sendable {
        private let accounts: Mutex<[LoginName: Account]>

        init(_ accounts: [LoginName: Account]) { self.accounts = Mutex(accounts) }

        subscript(login: LoginName) -> Account? {
            accounts.withLock { $0[LoginName(user: login.user.lowercased(), domain: login.domain)] }
        }

        func set(_ account: Account?, for login: LoginName) { accounts.withLock { $0[login] = account } }
    }

    static func request(
        _ method: SIPMethod = .register, from user: String = "alice@contoso.com", epid: String = "e1", cSeq: Int = 1, callID: String = "c1"
    ) -> SIPRequest {
        var request = SIPRequest(method, requestURI: "sip:contoso.com")
        request.headers.append(.via, "SIP/2.0/TCP 192.0.2.9:40000;branch=z9hG4bK\(cSeq)")
        request.headers.append(.from, "\"A <b>\" <sip:\(user)>;tag=f1;epid=\(epid)")
        request.headers.append(.to, "<sip:\(user)>")
        request.headers.append(.callID, callID)
        request.headers.append(.cSeq, "\(cSeq) \(method.rawValue)")
        return request
    }

    func check(
        _ request: SIPRequest, _ demand: AuthenticationDemand = Bench.ntlm, from source: MessageSource? = nil, at now: Instant = Bench.start
    ) -> AuthenticationOutcome {
        authenticator.check(request, from: source ?? self.source, under: demand, at: now)
    }

    /// The answer as the client gets it.
    static func response(_ outcome: AuthenticationOutcome, to request: SIPRequest) -> SIPResponse? {
        switch outcome {
        case .accepted: return nil
        case .challenge(let answer), .refused(let answer):
            var response = SIPResponse(to: request, status: answer.status, toTag: "t")
            for header in answer.headers { response.headers.append(header.name, header.value) }
            return response
        }
    }

    static func client(user: String = "alice", domain: String = "CONTOSO", password: String = "Pa$$w0rd", salt: UInt8 = 1) -> NTLMClient {
        NTLMClient(user: user, domain: domain, password: password, secret: [UInt8](repeating: salt, count: 32))
    }

    /// Both challenges; the AUTHENTICATE request is returned unsent.
    func handshake(
        _ client: inout NTLMClient, from user: String = "alice@contoso.com", epid: String = "e1", source: MessageSource? = nil,
        at now: Instant = Bench.start
    ) -> SIPRequest {
        for cSeq in 1...2 {
            var request = Self.request(from: user, epid: epid, cSeq: cSeq)
            client.authorize(&request)
            if let response = Self.response(check(request, from: source, at: now), to: request) { _ = client.receive(challenge: response) }
        }
        var request = Self.request(from: user, epid: epid, cSeq: 3)
        client.authorize(&request)
        return request
    }

    /// A whole sign-in; the association's name, or nil if it failed.
    func signIn(
        _ client: inout NTLMClient, from user: String = "alice@contoso.com", epid: String = "e1", at now: Instant = Bench.start
    ) -> String? {
        if case .accepted(_, let association) = check(handshake(&client, from: user, epid: epid, at: now), at: now) { return association }
        return nil
    }
}

extension AuthenticationOutcome {
    var status: Int? {
        switch self {
        case .accepted: nil
        case .challenge(let answer), .refused(let answer): answer.status.rawValue
        }
    }

    var answer: AuthenticationAnswer? {
        switch self {
        case .accepted: nil
        case .challenge(let answer), .refused(let answer): answer
        }
    }

    var isAccepted: Bool { status == nil }

    func values(_ name: SIPHeaderName) -> [String] { answer?.headers.filter { $0.name == name }.map(\.value) ?? [] }
}
