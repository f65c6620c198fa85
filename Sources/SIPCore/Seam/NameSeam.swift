/// One question to the Domain Name System (RFC 1035 3.2), as the core asks it and an edge answers it.
public struct NameQuestion: Hashable, Sendable, CustomStringConvertible {
    /// The types of records that locate a SIP server; the raw value is the number on the wire.
    public enum Kind: UInt16, Hashable, Sendable, CaseIterable {
        case a = 1
        case aaaa = 28
        case srv = 33
        case naptr = 35
    }

    /// In lower case, without the final dot.
    public let name: String
    public let kind: Kind

    public init(_ kind: Kind, _ name: String) {
        self.kind = kind
        let lowered = name.lowercased()
        self.name = lowered.hasSuffix(".") ? String(lowered.dropLast()) : lowered
    }

    /// As the zone files write it: `_sip._tcp.example.org SRV`.
    public var description: String { "\(name) \(String(describing: kind).uppercased())" }
}

/// One record of an answer.
public enum NameRecord: Hashable, Sendable {
    /// A or AAAA: an address as text.
    case address(String)
    case service(ServiceRecord)
    case pointer(NamingPointer)
}

/// A SRV record (RFC 2782).
public struct ServiceRecord: Hashable, Sendable {
    /// Lower is tried first.
    public var priority: UInt16
    /// The share among records of one priority.
    public var weight: UInt16
    public var port: UInt16
    /// In lower case without the final dot; empty for the target `.`: the service is decidedly not there.
    public var host: String

    public init(priority: UInt16, weight: UInt16, port: UInt16, host: String) {
        self.priority = priority
        self.weight = weight
        self.port = port
        self.host = host
    }
}

/// A NAPTR record (RFC 3403 4.1), as far as RFC 3263 uses it: without a regular expression.
public struct NamingPointer: Hashable, Sendable {
    /// Lower is tried first; the next order only counts where nothing of this one is supported.
    public var order: UInt16
    /// Lower is tried first within one order.
    public var preference: UInt16
    /// In lower case; `s`: the replacement is asked for SRV records.
    public var flags: String
    /// In upper case, such as `SIPS+D2T`.
    public var service: String
    /// In lower case without the final dot.
    public var replacement: String

    public init(order: UInt16, preference: UInt16, flags: String, service: String, replacement: String) {
        self.order = order
        self.preference = preference
        self.flags = flags
        self.service = service
        self.replacement = replacement
    }
}

/// Why a question has no answer; nothing is known of the name then.
public enum NameFailure: String, Hashable, Sendable {
    case timeout = "no DNS server answered in time"
    case serverFailure = "the DNS server failed"
    case noUsableAnswer = "no DNS server gave an answer that can be used: each one answered SERVFAIL or REFUSED, or cannot be reached"
    case refused = "the DNS server refused to answer"
    case malformed = "the DNS answer cannot be read"
    case aliasLoop = "the aliases (CNAME) lead in a circle"
    case overload = "too many DNS questions are open"
}

/// What became of a question.
public struct NameAnswer: Hashable, Sendable {
    public enum Outcome: Hashable, Sendable {
        /// All of the asked type, at the end of all aliases; at least one.
        case records([NameRecord])
        /// The name is an alias of this one, of which the server said nothing (RFC 1034 3.6.2).
        case alias(String)
        /// NXDOMAIN (RFC 2308 2.1).
        case noSuchName
        /// The name is there, records of the type are not (RFC 2308 2.2).
        case noData
        case failed(NameFailure)
    }

    public var outcome: Outcome
    /// For how long it holds from now; nil: nobody said so.
    public var timeToLive: TimeSpan?

    public init(_ outcome: Outcome, timeToLive: TimeSpan? = nil) {
        self.outcome = outcome
        self.timeToLive = timeToLive
    }
}

/// Whoever answers questions outside of the core: an edge that asks the Domain Name System, or a script.
public protocol NameResolving: Sendable {
    /// Answers once, soon or late, on any thread.
    func ask(_ question: NameQuestion, answer: @escaping @Sendable (NameAnswer) -> Void)
}
