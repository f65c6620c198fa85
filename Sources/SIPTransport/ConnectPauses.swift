import SIPCore

/// Addresses to which a connection failed recently, and the time until which they are not tried again.
///
///     free --failed--> pause --over--> the next message tries --heard--> free
///                        ^                | failed: the pause doubles
///                        +----------------+
///
/// During a pause, sends to the address fail at once with the last reason, so that the sender can try another server. Limited to 4,096
/// addresses; when full, the pause that ends first is dropped.
struct ConnectPauses {
    private struct Entry {
        var pause: TimeSpan
        var until: Instant
        var reason: String
    }

    private let shortest: TimeSpan
    private let longest: TimeSpan
    private var entries: [TransportAddress: Entry] = [:]
    /// Number of reloads at the time the pauses were last ended.
    private var reloads: UInt64 = 0
    private static let limit = 4_096

    /// - Parameter shortest: Length of the first pause; zero disables pauses.
    init(shortest: TimeSpan, longest: TimeSpan) {
        self.shortest = shortest
        self.longest = max(shortest, longest)
    }

    var count: Int { entries.count }

    /// Reason why the address is paused; nil when a connection may be tried.
    func pauseReason(at address: TransportAddress, now: Instant) -> String? {
        guard !entries.isEmpty, let entry = entries[address], now < entry.until else { return nil }
        return entry.reason
    }

    /// Starts or doubles the pause of an address, after a connection failed or its peer closed it without sending anything.
    /// - Parameter random: Source of jitter that lengthens the pause by up to 25 %.
    mutating func failed(_ address: TransportAddress, _ reason: String, at now: Instant, using random: inout some RandomNumberGenerator) {
        guard shortest > .zero else { return }
        var pause = shortest
        if let known = entries[address] {
            // Ignore attempts that began before the pause.
            guard now >= known.until else { return }
            // A failure long ago does not double today's pause.
            if now < known.until + longest { pause = min(known.pause * 2, longest) }
        } else if entries.count >= Self.limit, let first = entries.min(by: { $0.value.until < $1.value.until }) {
            entries[first.key] = nil
        }
        let extra = Int64.random(in: 0...(pause.nanoseconds / 4), using: &random)
        entries[address] = Entry(pause: pause, until: now + pause + TimeSpan(nanoseconds: extra), reason: reason)
    }

    /// Ends the pause of an address after its peer sent something.
    mutating func succeeded(_ address: TransportAddress) {
        guard !entries.isEmpty else { return }
        entries[address] = nil
    }

    /// Ends all pauses when the settings were replaced since the last call.
    /// - Parameter reloads: Number of reloads until now.
    mutating func forgetAll(before reloads: UInt64) {
        guard reloads != self.reloads else { return }
        self.reloads = reloads
        entries.removeAll()
    }
}
