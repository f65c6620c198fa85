/// The records of a flight (RFC 5246 6.2.1).
enum TLSRecords {
    private static let headerLength = 5
    /// Longest content of a record that is not encrypted.
    private static let contentLimit = 1 << 14
    private static let handshake: UInt8 = 22

    /// The flight with as few records as can be: handshake messages that follow each other share one, until the first that is encrypted.
    ///
    /// OpenSSL gives each message a record of its own, others pack a flight into one, and there are clients that know no other
    /// (pidgin-sipe takes a ServerHelloDone alone in its record for a broken one). What a handshake proves is its messages, not its records.
    static func packed(_ flight: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(flight.count)
        /// Where the record begins that more can be added to.
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
