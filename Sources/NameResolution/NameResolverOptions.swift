import SIPCore

/// Which DNS servers are asked, and how patiently.
public struct NameResolverOptions: Hashable, Sendable {
    /// `ADDRESS` or `ADDRESS:PORT`, IPv6 in brackets before a port; at most four. Empty: those of the system (/etc/resolv.conf).
    public var servers: [String] = []
    /// How long one server may take for its first answer; twice as long at the second try, and so on.
    public var timeout: TimeSpan = .milliseconds(2_000)
    /// How often each server is tried.
    public var tries = 2
    /// Questions that may be open at a time; what goes beyond fails at once.
    public var outstanding = 1_000
    /// The file of names that need no DNS; nil: none.
    public var hostsFile: String? = "/etc/hosts"

    public static let serverLimit = 4

    public init() {}
}

/// Why names cannot be looked up.
public struct NameResolverError: Error, Hashable, CustomStringConvertible {
    public var description: String
}

/// Numbers of the lookups of one process that only grow, for metrics.
public struct NameResolverCounters: Hashable, Sendable {
    /// Questions that went to a DNS server; identical ones that are open at a time count once.
    public var questions: UInt64 = 0
    /// Of these, how many nobody answered usably.
    public var failures: UInt64 = 0

    public init() {}
}
