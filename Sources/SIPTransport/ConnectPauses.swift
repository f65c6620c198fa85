import SIPCore

/// Where connecting failed lately, and until when it is not tried again.
///
///     free --failed--> pause --over--> the next message tries --heard--> free
///                        ^                | failed: the pause doubles
///                        +----------------+
///
/// What is to be sent meanwhile fails at once with the last diagnosis, so that whoever knows another way takes it. Bounded: where it is
/// full, the pause that ends first is forgotten.
struct ConnectPauses {
    private struct Entry {
        var pause: TimeSpan
        var until: Instant
        var reason: String
    }

    private let shortest: TimeSpan
    private let longest: TimeSpan
    private var entries: [TransportAddress: Entry] = [:]
    private static let limit = 4_096

    /// - Parameter shortest: zero: nothing is ever put off.
    init(shortest: TimeSpan, longest: TimeSpan) {
        self.shortest = shortest
        self.longest = max(shortest, longest)
    }

    var count: Int { entries.count }

    /// Why an address is not tried now; nil: it is.
    func obstacle(at address: TransportAddress, now: Instant) -> String? {
        guard !entries.isEmpty, let entry = entries[address], now < entry.until else { return nil }
        return entry.reason
    }

    /// A connection could not be made, or its peer ended it without having said a word.
    /// - Parameter random: makes the pause up to a quarter longer.
    mutating func failed(_ address: TransportAddress, _ reason: String, at now: Instant, using random: inout some RandomNumberGenerator) {
        guard shortest > .zero else { return }
        var pause = shortest
        if let known = entries[address] {
            // Tries that began before the pause say nothing new.
            guard now >= known.until else { return }
            // What failed long ago is no sign of today's troubles.
            if now < known.until + longest { pause = min(known.pause * 2, longest) }
        } else if entries.count >= Self.limit, let first = entries.min(by: { $0.value.until < $1.value.until }) {
            entries[first.key] = nil
        }
        let extra = Int64.random(in: 0...(pause.nanoseconds / 4), using: &random)
        entries[address] = Entry(pause: pause, until: now + pause + TimeSpan(nanoseconds: extra), reason: reason)
    }

    /// The peer at this address was heard.
    mutating func succeeded(_ address: TransportAddress) {
        guard !entries.isEmpty else { return }
        entries[address] = nil
    }

    /// All is tried anew, as after a change of certificates.
    mutating func forgetAll() { entries.removeAll() }
}
