import Glibc

/// Returns the user and system time of all threads of this process, in nanoseconds.
public func processorTime() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Returns the user and system time of another process in nanoseconds, by its clock; nil when it has ended.
public func processorTime(of process: pid_t) -> UInt64? {
    var clock = clockid_t()
    guard clock_getcpuclockid(process, &clock) == 0 else { return nil }
    var time = timespec()
    guard clock_gettime(clock, &time) == 0 else { return nil }
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Keeps the optimizer from dropping a result.
@inline(never)
public func keep<Value>(_ value: Value) {}
