import Glibc

/// File descriptors of this process; connections, files and the administration's connections all need them.
package enum FileDescriptors {
    /// Raises the soft limit to the hard limit; a common soft limit of 1,024 is too low for the connections of one site. Errors are
    /// ignored.
    package static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Soft limit of open descriptors (RLIMIT_NOFILE); `Int.max` when it cannot be read.
    package static var limit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
        return Int(clamping: limit.rlim_cur)
    }

    /// Descriptors that accepted connections must leave free: half for outgoing connections, half for files and the administration.
    static func reserve(of limit: Int) -> Int { min(64, limit / 4) }

    /// Whether accepting connections must pause.
    package static var areScarce: Bool { isTaken(upTo: reserve(of: limit)) }

    /// Whether no outgoing connection may be opened.
    static var areNearlyUsedUp: Bool { isTaken(upTo: reserve(of: limit) / 2) }

    /// Duplicates a descriptor and looks at its number: the kernel assigns the lowest free one, so two system calls show how many are in
    /// use.
    private static func isTaken(upTo reserve: Int) -> Bool {
        let probe = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
        guard probe >= 0 else { return errno == EMFILE }
        close(probe)
        return Int(probe) >= limit - reserve
    }
}
