import Testing

/// Everything that opens sockets and starts programs, one after the other: they share the machine, and each waits
/// for events within limits of real time.
@Suite(.serialized) struct RealSockets {}
