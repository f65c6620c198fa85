import NIOCore

/// Progress of a connection's input.
struct ConnectionInput {
    /// Number of received requests without a final response.
    private(set) var unanswered = 0
    /// Octets held of incomplete messages.
    private(set) var unfinishedOctets = 0
    /// Arrival of the first octet of an incomplete message; the connection is closed after `messageTimeout`.
    private(set) var insideSince: NIODeadline?

    mutating func received(wantsResponse: Bool) {
        // The time limit is that of one message; the next may have begun in the same read.
        insideSince = nil
        if wantsResponse { unanswered += 1 }
    }

    mutating func answered() { if unanswered > 0 { unanswered -= 1 } }

    /// Records the end of a read.
    mutating func paused(isInsideMessage: Bool) { insideSince = isInsideMessage ? insideSince ?? .now() : nil }

    /// - Returns: The growth of the octets held.
    mutating func holds(_ octets: Int) -> Int {
        defer { unfinishedOctets = octets }
        return octets - unfinishedOctets
    }
}
