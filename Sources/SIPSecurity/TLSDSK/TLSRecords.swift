/// The records of a flight (RFC 5246 6.2.1).
enum TLSRecords {
    private static let headerLength = 5
    /// Longest content of a record that is not encrypted.
    private static let contentLimit = 1 << 14
    private static let handshake: UInt8 = 22

    /// Packs a flight into as few records as possible: consecutive unencrypted handshake messages share a record.
    ///
    /// OpenSSL writes one record per message, but some clients expect one record per flight (pidgin-sipe rejects a ServerHelloDone in
    /// a record of its own). The handshake hash covers messages, not records, so packing is safe.
    static func packed(_ flight: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(flight.count)
        /// Start of the record that can be extended.
        var open: Int?
        var position = 0
        while flight.count - position >= headerLength {
            let length = Int(flight[position + 3]) << 8 | Int(flight[position + 4])
            let end = position + headerLength + length
            guard end <= flight.count, flight[position] == handshake else { break }
            if let start = open, result.count - start - headerLength + length <= contentLimit {
                result += flight[(position + headerLength)..<end]
                let content = result.count - start - headerLength
                (result[start + 3], result[start + 4]) = (UInt8(content >> 8), UInt8(content & 0xFF))
            } else {
                open = result.count
                result += flight[position..<end]
            }
            position = end
        }
        return result + flight[position...]
    }
}
