import SIPCore

/// DNS servers, timeouts and limits.
package struct NameResolverOptions: Hashable, Sendable {
    /// `ADDRESS` or `ADDRESS:PORT`, IPv6 in brackets before a port; empty: the servers of the system (/etc/resolv.conf).
    package var servers: [String] = []
    /// Timeout of the first try per server; c-ares doubles it for later tries.
    package var timeout: TimeSpan = .milliseconds(2_000)
    /// Number of tries per server.
    package var tries = 2
    /// Largest number of open questions; further ones fail with `overload`.
    package var outstanding = 1_000
    /// The hosts file that is read before DNS; nil: none.
    package var hostsFile: String? = "/etc/hosts"

    /// Largest number of servers that a configuration may list; the resolver itself does not check it.
    package static let serverLimit = 4

    /// Creates the default options: the system's servers, 2 s, 2 tries, 1,000 questions, `/etc/hosts`.
    package init() {}
}

/// The reason the resolver cannot start.
package struct NameResolverError: Error, Hashable, CustomStringConvertible {
    /// The failed step and the error text.
    package var description: String
}

/// Counters of the lookups of one resolver, for metrics.
package struct NameResolverCounters: Hashable, Sendable {
    /// Questions sent to DNS; identical open questions count once.
    package var questions: UInt64 = 0
    /// Questions without a usable answer, including those refused because too many were open. NXDOMAIN is an answer.
    package var failures: UInt64 = 0

    /// Creates counters at zero.
    package init() {}
}
