/// Question to the Domain Name System (RFC 1035 3.2), asked by the core and answered by an edge.
public struct NameQuestion: Hashable, Sendable, CustomStringConvertible {
    /// Type of records that locate a SIP server; the raw value is the number on the wire.
    public enum Kind: UInt16, Hashable, Sendable, CaseIterable {
        case a = 1
        case aaaa = 28
        case srv = 33
        case naptr = 35
    }

    /// Name in lower case, without final dot.
    public let name: String
    /// Type of the records asked for.
    public let kind: Kind

    /// Creates a question; the name is converted to lower case without final dot.
    public init(_ kind: Kind, _ name: String) {
        self.kind = kind
        let lowered = name.lowercased()
        self.name = lowered.hasSuffix(".") ? String(lowered.dropLast()) : lowered
    }

    /// Form of zone files: `_sip._tcp.example.org SRV`.
    public var description: String { "\(name) \(String(describing: kind).uppercased())" }
}

/// Record of an answer.
public enum NameRecord: Hashable, Sendable {
    /// Address of an A or AAAA record, as text.
    case address(String)
    case service(ServiceRecord)
    case pointer(NamingPointer)
}

/// SRV record (RFC 2782).
public struct ServiceRecord: Hashable, Sendable {
    /// Priority; lower values are tried first.
    public var priority: UInt16
    /// Share among records of one priority.
    public var weight: UInt16
    /// Port of the service.
    public var port: UInt16
    /// Target in lower case without final dot; empty for `.`: the service is not available in this domain.
    public var host: String

    public init(priority: UInt16, weight: UInt16, port: UInt16, host: String) {
        self.priority = priority
        self.weight = weight
        self.port = port
        self.host = host
    }
}

/// NAPTR record (RFC 3403 4.1) as RFC 3263 uses it: without a regular expression.
public struct NamingPointer: Hashable, Sendable {
    /// Order; lower values come first, higher ones count only if nothing of this order is supported.
    public var order: UInt16
    /// Preference within one order; lower values come first.
    public var preference: UInt16
    /// Flags in lower case; `s`: SRV records of the replacement are looked up.
    public var flags: String
    /// Service in upper case, such as `SIPS+D2T`.
    public var service: String
    /// Replacement in lower case without final dot.
    public var replacement: String

    public init(order: UInt16, preference: UInt16, flags: String, service: String, replacement: String) {
        self.order = order
        self.preference = preference
        self.flags = flags
        self.service = service
        self.replacement = replacement
    }
}

/// Reason why a question has no answer; nothing is known of the name then.
public enum NameFailure: String, Hashable, Sendable {
    case timeout = "no DNS server answered in time"
    case serverFailure = "the DNS server failed"
    case noUsableAnswer = "no DNS server gave an answer that can be used: each one answered SERVFAIL or REFUSED, or cannot be reached"
    case refused = "the DNS server refused to answer"
    case malformed = "the DNS answer cannot be read"
    case aliasLoop = "the aliases (CNAME) lead in a circle"
    case overload = "too many DNS questions are open"
}

/// Answer to a question.
public struct NameAnswer: Hashable, Sendable {
    /// Result of a question.
    public enum Outcome: Hashable, Sendable {
        /// All records of the type, after following all aliases; at least one.
        case records([NameRecord])
        /// The name is an alias of this one, for which the server gave no records (RFC 1034 3.6.2).
        case alias(String)
        /// The name does not exist: NXDOMAIN (RFC 2308 2.1).
        case noSuchName
        /// The name exists, but has no records of the type (RFC 2308 2.2).
        case noData
        case failed(NameFailure)
    }

    /// Result of the question.
    public var outcome: Outcome
    /// Validity from now on; nil if the server gave none.
    public var timeToLive: TimeSpan?

    public init(_ outcome: Outcome, timeToLive: TimeSpan? = nil) {
        self.outcome = outcome
        self.timeToLive = timeToLive
    }
}

/// Resolver outside the core: an edge that queries the Domain Name System, or a script.
public protocol NameResolving: Sendable {
    /// Calls `answer` once, at any time and on any thread.
    func ask(_ question: NameQuestion, answer: @escaping @Sendable (NameAnswer) -> Void)
}
