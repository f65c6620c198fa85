import NIOCore

/// Which failed handshakes were told lately: a peer that fails again and again, and a crowd that does, fill no log.
struct WarningPauses {
    private struct Key: Hashable {
        var host: String
        var kind: HandshakeFailure.Kind
    }

    private var until: [Key: NIODeadline] = [:]
    private static let pause = TimeAmount.seconds(60)
    static let limit = 1_024

    /// Whether the last failure of this kind at this address is a minute ago, or there was none. Of a crowd the first are told.
    mutating func isNews(_ host: String, _ kind: HandshakeFailure.Kind, at now: NIODeadline) -> Bool {
        let key = Key(host: host, kind: kind)
        if let until = until[key], now < until { return false }
        if until.count >= Self.limit { until = until.filter { now < $0.value } }
        guard until.count < Self.limit else { return false }
        until[key] = now + Self.pause
        return true
    }
}
