import Testing

/// All suites that open sockets and start programs, run one after the other: they share the machine, and each waits for events within
/// limits of real time.
@Suite(.serialized) struct RealSockets {}
