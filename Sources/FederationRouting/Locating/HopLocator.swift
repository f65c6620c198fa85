import SIPCore

/// Locates the servers of a hop target (RFC 3263 4.1, 4.2): returns DNS questions, receives answers, and ends with a plan or a
/// failure.
///
///     NAPTR ---------> SRV -------------> A, AAAA --> plan
///       | none, or a transport is named    ^
///       +---> SRV of each transport -------+
///       | a port is named, or no SRV ------+
///
/// Answers are kept until the end, so that a lifetime of 0 causes no second question. Questions, servers and addresses are
/// bounded.
public struct HopLocator: Sendable {
    /// The next step.
    public enum Step: Hashable, Sendable {
        /// Questions to ask; none of them has an answer yet.
        case ask([NameQuestion])
        /// The servers.
        case found(HopPlan)
        /// The reason no server can be used.
        case failed(HopFailure)
    }

    /// Limits of one hop target.
    public struct Limits: Hashable, Sendable {
        /// Questions per hop target; further ones fail with `overload`.
        public var questions = 64
        /// NAPTR records followed, and SRV targets per name.
        public var records = 16
        /// Addresses per host name.
        public var addresses = 8

        /// Creates the default limits: 64 questions, 16 records, 8 addresses.
        public init() {}
    }

    /// The hop target.
    public let hopTarget: HopTarget
    private let limits: Limits
    /// Whether IPv6 addresses are tried before IPv4 addresses.
    private let prefersIPv6: Bool
    private var answers: [NameQuestion: NameAnswer] = [:]
    // State of one evaluation:
    private var wanted: [NameQuestion] = []
    private var shortest: TimeSpan?
    private var failure: NameFailure?
    private var objection: String?
    /// The priority from which TLS servers may exist that could not be looked up; nil: all of them are known.
    private var unknownSecure: Int?
    /// Whether DNS names a TLS server of the domain, with or without an address.
    private var offersSecure = false

    /// Creates a locator; its first ``step()`` returns questions unless all hosts are numeric addresses.
    public init(_ hopTarget: HopTarget, prefersIPv6: Bool = false, limits: Limits = Limits()) {
        self.hopTarget = hopTarget
        self.prefersIPv6 = prefersIPv6
        self.limits = limits
    }

    /// Stores an answer; later answers to the same question are ignored.
    public mutating func receive(_ answer: NameAnswer, to question: NameQuestion) {
        if answers[question] == nil { answers[question] = answer }
    }

    /// Evaluates the answers received so far.
    public mutating func step() -> Step {
        (wanted, shortest, failure, objection, unknownSecure) = ([], nil, nil, nil, nil)
        offersSecure = false
        let servers: [HopPlan.Server]
        switch hopTarget.lookup {
        case .listed(let hops): servers = listed(hops)
        case .enterprise: servers = enterprise()
        case .standard(let transport, let port): servers = standard(transport, port)
        }
        if !wanted.isEmpty { return .ask(wanted) }
        let kept = neverWeaker(hopTarget.isSecure ? servers.filter { $0.addresses.allSatisfy { $0.transport == .tls } } : servers)
        guard kept.isEmpty else { return .found(HopPlan(servers: kept, timeToLive: shortest)) }
        if let objection { return .failed(HopFailure(.notAllowed, objection, timeToLive: shortest)) }
        if let failure { return .failed(HopFailure(.unknown, "\(hopTarget.host): \(failure.rawValue)")) }
        if offersSecure, !servers.isEmpty {
            return .failed(
                HopFailure(
                    .absent, "\(hopTarget.host) offers TLS, but no server for it is found; it is not asked without", timeToLive: shortest)
            )
        }
        if !servers.isEmpty {
            return .failed(
                HopFailure(.notAllowed, "\(hopTarget.host) has no server for TLS, and is not asked without", timeToLive: shortest))
        }
        return .failed(HopFailure(.absent, "the Domain Name System names no SIP server of \(hopTarget.host)", timeToLive: shortest))
    }

    /// Removes servers without TLS if the domain offers TLS: otherwise an attacker could force plain text by blocking one
    /// port or one DNS answer. With ``HopTarget/allowsWeaker`` the order of the NAPTR records applies.
    private func neverWeaker(_ servers: [HopPlan.Server]) -> [HopPlan.Server] {
        guard let first = servers.map(\.priority).min() else { return [] }
        guard hopTarget.allowsWeaker else {
            return offersSecure || unknownSecure != nil ? servers.filter { $0.addresses.allSatisfy { $0.transport == .tls } } : servers
        }
        let isSecure =
            unknownSecure.map { $0 <= first } ?? false
            || servers.contains { $0.priority == first && $0.addresses.contains { $0.transport == .tls } }
        return isSecure ? servers.filter { $0.addresses.allSatisfy { $0.transport == .tls } } : servers
    }

    /// Records that an unanswered question might have led to TLS servers.
    private mutating func missSecure(from priority: Int) { unknownSecure = min(unknownSecure ?? .max, priority) }

    // MARK: Procedures

    private mutating func listed(_ hops: [ListedHop]) -> [HopPlan.Server] {
        var servers: [HopPlan.Server] = []
        for hop in hops {
            let found = addresses(
                of: hop.address.host, hop.address.transport, hop.address.port, proving: hop.address.provenName, priority: hop.priority)
            guard !found.list.isEmpty else { continue }
            servers.append(
                .init(
                    priority: hop.priority, weight: hop.weight, addresses: found.list, reason: "configured \(hop)",
                    timeToLive: found.timeToLive))
        }
        return servers
    }

    private mutating func enterprise() -> [HopPlan.Server] {
        services("_sipfederationtls._tcp.\(hopTarget.host)", .tls, rank: 0, reason: "", isEnterprise: true) ?? []
    }

    private mutating func standard(_ transport: TransportProtocol?, _ port: Int?) -> [HopPlan.Server] {
        let host = hopTarget.host
        let simplest = transport ?? (hopTarget.isSecure ? .tls : .udp)
        if TransportAddress.isNumeric(host) || port != nil {
            return plain(host, simplest, port, reason: TransportAddress.isNumeric(host) ? "address" : "port is named")
        }
        if let transport {
            let found = services(Self.service(transport) + host, transport, rank: 0, reason: "transport is named, ")
            return found ?? (mayContinue ? plain(host, transport, nil, reason: "no SRV") : [])
        }
        guard let pointers = look(NameQuestion(.naptr, host)) else { return [] }
        if case .failed = pointers.outcome { missSecure(from: 0) }
        if case .records(let records) = pointers.outcome {
            let chosen = Self.chosen(records, isSecure: hopTarget.isSecure).prefix(limits.records)
            if !chosen.isEmpty {
                if chosen.contains(where: { $0.transport == .tls }) { offersSecure = true }
                var servers: [HopPlan.Server] = []
                for (place, pick) in chosen.enumerated() {
                    servers += services(pick.name, pick.transport, rank: place, reason: "NAPTR \(pick.service), ") ?? []
                }
                return servers
            }
        }
        // No NAPTR record for a supported transport: query SRV for each transport (RFC 3263 4.1).
        var servers: [HopPlan.Server] = []
        var isNamed = false
        let transports: [TransportProtocol] = hopTarget.isSecure ? [.tls] : [.tls, .tcp, .udp]
        for (place, transport) in transports.enumerated() {
            guard let found = services(Self.service(transport) + host, transport, rank: place, reason: "no NAPTR, ") else { continue }
            isNamed = true
            servers += found
        }
        if isNamed || !mayContinue { return servers }
        return plain(host, simplest, nil, reason: "no NAPTR, no SRV")
    }

    /// Whether every question so far has an answer, so that absence is certain.
    private var mayContinue: Bool { wanted.isEmpty && failure == nil }

    /// The usable NAPTR records in ascending order and preference (RFC 3263 4.1).
    private static func chosen(
        _ records: [NameRecord], isSecure: Bool
    ) -> [(name: String, transport: TransportProtocol, service: String)] {
        let pointers = records.compactMap { if case .pointer(let pointer) = $0 { pointer } else { nil } }
        let sorted = pointers.sorted { ($0.order, $0.preference, $0.service) < ($1.order, $1.preference, $1.service) }
        return sorted.compactMap { pointer in
            guard pointer.flags == "s", !pointer.replacement.isEmpty else { return nil }
            switch pointer.service {
            case "SIPS+D2T": return (pointer.replacement, .tls, pointer.service)
            case "SIP+D2T" where !isSecure: return (pointer.replacement, .tcp, pointer.service)
            case "SIP+D2U" where !isSecure: return (pointer.replacement, .udp, pointer.service)
            default: return nil
            }
        }
    }

    private static func service(_ transport: TransportProtocol) -> String {
        switch transport {
        case .tls: "_sips._tcp."
        case .tcp: "_sip._tcp."
        case .udp: "_sip._udp."
        }
    }

    // MARK: Steps

    /// A server that is a host with one port.
    private mutating func plain(_ host: String, _ transport: TransportProtocol, _ port: Int?, reason: String) -> [HopPlan.Server] {
        let found = addresses(of: host, transport, port ?? transport.defaultPort, proving: hopTarget.host, priority: 0)
        guard !found.list.isEmpty else { return [] }
        return [.init(priority: 0, weight: 0, addresses: found.list, reason: reason, timeToLive: found.timeToLive)]
    }

    /// The servers of SRV records; nil if there are no such records, so that the next procedure can be tried.
    private mutating func services(
        _ name: String, _ transport: TransportProtocol, rank: Int, reason: String, isEnterprise: Bool = false
    ) -> [HopPlan.Server]? {
        guard let answer = look(NameQuestion(.srv, name)) else { return nil }
        if case .failed = answer.outcome, transport == .tls { missSecure(from: rank << 16) }
        guard case .records(let records) = answer.outcome else { return nil }
        let services = records.compactMap { if case .service(let service) = $0 { service } else { nil } }
        var servers: [HopPlan.Server] = []
        for service in services.sorted(by: { ($0.priority, $1.weight, $0.host) < ($1.priority, $0.weight, $1.host) }).prefix(limits.records)
        where !service.host.isEmpty && service.port != 0 {
            // DNS is untrusted: a target outside the partner's domain is not covered by the certificate that the partner
            // must show.
            if isEnterprise, service.host != hopTarget.host, !service.host.hasSuffix("." + hopTarget.host) {
                objection = "\(name) names \(service.host), which is not within \(hopTarget.host)"
                continue
            }
            let priority = rank << 16 | Int(service.priority)
            let found = addresses(
                of: service.host, transport, Int(service.port), proving: isEnterprise ? service.host : hopTarget.host, priority: priority)
            if transport == .tls { offersSecure = true }
            guard !found.list.isEmpty else { continue }
            let lifetime = [answer.timeToLive, found.timeToLive].compactMap { $0 }.min()
            servers.append(
                .init(
                    priority: priority, weight: Int(service.weight), addresses: found.list,
                    reason: "\(reason)SRV \(service.priority) \(service.weight) \(service.host)", timeToLive: lifetime))
        }
        return servers
    }

    /// The addresses of a host, alternating between both families; empty while a question is open.
    private mutating func addresses(
        of host: String, _ transport: TransportProtocol, _ port: Int, proving name: String?, priority: Int
    ) -> (list: [TransportAddress], timeToLive: TimeSpan?) {
        // Only TLS peers prove a name; for other transports the same address must not become two targets.
        let proven = transport == .tls ? name ?? host : nil
        if TransportAddress.isNumeric(host) {
            return ([TransportAddress(transport, host, port, proving: proven == host ? nil : proven)], nil)
        }
        let questions = (prefersIPv6 ? [.aaaa, .a] : [.a, .aaaa]).map { NameQuestion($0, host) }
        var families: [[String]] = []
        var lifetime: TimeSpan?
        for answer in questions.map({ look($0) }) {
            if transport == .tls, case .failed? = answer?.outcome { missSecure(from: priority) }
            guard let answer, case .records(let records) = answer.outcome else { continue }
            families.append(records.compactMap { if case .address(let text) = $0 { text } else { nil } })
            lifetime = [lifetime, answer.timeToLive].compactMap { $0 }.min()
        }
        let most = families.map(\.count).max() ?? 0
        let list = (0..<most).flatMap { place in families.compactMap { place < $0.count ? $0[place] : nil } }
        return (list.prefix(limits.addresses).map { TransportAddress(transport, $0, port, proving: proven) }, lifetime)
    }

    /// The answer to a question at the end of its alias chain; nil if it must be asked first.
    private mutating func look(_ asked: NameQuestion) -> NameAnswer? {
        var question = asked
        for _ in 0...DNSReply.aliasLimit {
            guard let answer = answers[question] else {
                if answers.count + wanted.count >= limits.questions {
                    failure = .overload
                    return NameAnswer(.failed(.overload))
                }
                if !wanted.contains(question) { wanted.append(question) }
                return nil
            }
            shortest = [shortest, answer.timeToLive].compactMap { $0 }.min()
            switch answer.outcome {
            case .alias(let name): question = NameQuestion(asked.kind, name)
            case .failed(let reason):
                failure = reason
                return answer
            default: return answer
            }
        }
        failure = .aliasLoop
        return NameAnswer(.failed(.aliasLoop))
    }
}
