import SIPCore

/// A server nonce that needs no memory until it is used: moment, random octets, and a keyed hash over both, the realm and the address that
/// it is given to (RFC 7616 3.3).
enum DigestNonce {
    static func text(at now: Instant, realm: String, host: String, random: [UInt8], key: [UInt8]) -> String {
        let milliseconds = UInt64(clamping: now.nanosecondsSince1970 / 1_000_000)
        let head = (0..<8).reversed().map { UInt8(truncatingIfNeeded: milliseconds >> UInt64($0 * 8)) } + random.prefix(8)
        return Hexadecimal.text(head + seal(head, realm, host, key))
    }

    /// When the nonce was made; nil: not by this server for this realm and address.
    static func issued(_ text: String, realm: String, host: String, key: [UInt8]) -> Instant? {
        guard text.utf8.count == 64, let bytes = Hexadecimal.bytes(text) else { return nil }
        let head = Array(bytes.prefix(16))
        guard ConstantTime.equal(Array(bytes.suffix(16)), seal(head, realm, host, key)) else { return nil }
        let milliseconds = head.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Instant(nanosecondsSince1970: Int64(clamping: milliseconds) * 1_000_000)
    }

    private static func seal(_ head: [UInt8], _ realm: String, _ host: String, _ key: [UInt8]) -> [UInt8] {
        Array(HashAlgorithm.sha256.authenticationCode(head + Array("\(realm)\n\(host)".utf8), key: key).prefix(16))
    }
}

/// Which request counters of a nonce were used; only nonces that came back with a right password are in it.
///
/// When it is full the oldest nonce goes, and with it the trust in all nonces as old: those count as stale, so none is ever used twice.
struct NonceTable: Sendable {
    let limit: Int
    private var windows: [String: ReplayWindow] = [:]
    private var order = ExpiryOrder()
    private var floor: Instant?

    init(limit: Int) { self.limit = limit }

    var count: Int { windows.count }

    /// - Parameter issued: When the nonce was made.
    /// - Returns: false if the counter was used before, or may have been.
    mutating func accept(_ nonce: String, issued: Instant, counter: UInt32, until expiry: Instant, at now: Instant) -> Bool {
        while let due = order.popDue(at: now) { windows[due] = nil }
        if windows[nonce] == nil {
            if let floor, issued <= floor { return false }
            if windows.count >= limit, let oldest = order.popFirst() {
                windows[oldest.key] = nil
                // Nonces expire in the order in which they were made, so this one is no younger than any that remain.
                floor = max(floor ?? issued, oldest.made)
            }
            windows[nonce] = ReplayWindow()
            order.append(nonce, made: issued, until: expiry)
        }
        return windows[nonce]?.accept(counter) ?? false
    }
}
