import Glibc

/// The file descriptors of this process: every connection needs one, and so do files, and a look at `/health`.
public enum FileDescriptors {
    /// Raises the soft limit to the hard one: the usual soft limit of 1,024 is fewer than the connections of one site.
    public static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// How many there may be (RLIMIT_NOFILE).
    public static var limit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
        return Int(clamping: limit.rlim_cur)
    }

    /// Descriptors that accepted connections leave free: half for connections of our own, half for files and the administration.
    static func reserve(of limit: Int) -> Int { min(64, limit / 4) }

    /// Whether no connection is to be accepted now.
    static var areScarce: Bool { isTaken(upTo: reserve(of: limit)) }

    /// Whether no connection of our own is to be opened now.
    static var areNearlyUsedUp: Bool { isTaken(upTo: reserve(of: limit) / 2) }

    /// The kernel gives out the lowest free number, so that a new one tells how many are taken, in two system calls.
    private static func isTaken(upTo reserve: Int) -> Bool {
        let probe = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
        guard probe >= 0 else { return errno == EMFILE }
        close(probe)
        return Int(probe) >= limit - reserve
    }
}
