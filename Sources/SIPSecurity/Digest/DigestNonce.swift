import SIPCore

/// A stateless server nonce: time, random octets, and a keyed hash over both with the realm and the client's address (RFC 7616 3.3).
enum DigestNonce {
    static func text(at now: Instant, realm: String, host: String, random: [UInt8], key: [UInt8]) -> String {
        let milliseconds = UInt64(clamping: now.nanosecondsSince1970 / 1_000_000)
        let head = (0..<8).reversed().map { UInt8(truncatingIfNeeded: milliseconds >> UInt64($0 * 8)) } + random.prefix(8)
        return Hexadecimal.text(head + seal(head, realm, host, key))
    }

    /// The time at which a nonce was issued; nil if this server did not issue it for this realm and address.
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

/// The used request counters of each nonce; contains only nonces that were used with a right password.
///
/// When full, the oldest nonce is dropped, and all nonces up to its age count as stale, so that no counter is accepted twice.
struct NonceTable: Sendable {
    let limit: Int
    private var windows: [String: ReplayWindow] = [:]
    private var order = ExpiryOrder()
    private var floor: Instant?

    init(limit: Int) { self.limit = limit }

    var count: Int { windows.count }

    /// Marks a counter as used.
    /// - Parameter issued: The time at which the nonce was issued.
    /// - Returns: false if the counter was used, or may have been.
    mutating func accept(_ nonce: String, issued: Instant, counter: UInt32, until expiry: Instant, at now: Instant) -> Bool {
        while let due = order.popDue(at: now) { windows[due] = nil }
        if windows[nonce] == nil {
            if let floor, issued <= floor { return false }
            if windows.count >= limit, let oldest = order.popFirst() {
                windows[oldest.key] = nil
                // Nonces expire in the order of issue, so the dropped one is not younger than the remaining ones.
                floor = max(floor ?? issued, oldest.made)
            }
            windows[nonce] = ReplayWindow()
            order.append(nonce, made: issued, until: expiry)
        }
        return windows[nonce]?.accept(counter) ?? false
    }
}
