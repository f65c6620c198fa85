/// Base 64 (RFC 4648 4, 5).
package enum Base64 {
    /// The 64 letters of an encoding, and the value of each.
    package struct Alphabet: Sendable {
        fileprivate let letters: [UInt8]
        fileprivate let values: [UInt8]

        private init(_ lastLetters: String) {
            letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8) + lastLetters.utf8
            var table = [UInt8](repeating: 0xFF, count: 256)
            for (value, letter) in letters.enumerated() { table[Int(letter)] = UInt8(value) }
            values = table
        }

        /// The standard alphabet (RFC 4648 4).
        package static let standard = Alphabet("+/")
        /// The alphabet that is safe in URLs (RFC 4648 5).
        package static let url = Alphabet("-_")
    }

    /// Encodes octets with padding and without line breaks.
    package static func encode(_ octets: [UInt8], _ alphabet: Alphabet = .standard) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity((octets.count + 2) / 3 * 4)
        var index = 0
        while index < octets.count {
            let left = min(3, octets.count - index)
            var group = UInt32(octets[index]) << 16
            if left > 1 { group |= UInt32(octets[index + 1]) << 8 }
            if left > 2 { group |= UInt32(octets[index + 2]) }
            for place in 0..<4 {
                result.append(place <= left ? alphabet.letters[Int(group >> UInt32(18 - 6 * place)) & 63] : UInt8(ascii: "="))
            }
            index += 3
        }
        return result
    }

    /// Encodes octets as text, with padding and without line breaks.
    package static func text(_ octets: [UInt8], _ alphabet: Alphabet = .standard) -> String {
        String(decoding: encode(octets, alphabet), as: UTF8.self)
    }

    /// Decodes complete groups with padding at the end only; nil for anything else, white space included (RFC 4648 3.2, 3.3).
    package static func decode(strictly text: some StringProtocol, _ alphabet: Alphabet = .standard) -> [UInt8]? {
        let letters = Array(text.utf8)
        let padding = letters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard letters.count.isMultiple(of: 4), padding <= 2 else { return nil }
        return decode(letters.dropLast(padding), alphabet)
    }

    /// Decodes text in which white space may occur and padding may be missing; nil for other characters, and for characters after the
    /// padding.
    package static func decode(liberally text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        let letters = text.filter { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        return decode(letters.prefix { $0 != UInt8(ascii: "=") }, .standard, padding: letters.drop { $0 != UInt8(ascii: "=") })
    }

    private static func decode(_ letters: ArraySlice<UInt8>, _ alphabet: Alphabet, padding: ArraySlice<UInt8> = []) -> [UInt8]? {
        guard padding.allSatisfy({ $0 == UInt8(ascii: "=") }) else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(letters.count / 4 * 3 + 2)
        var group: UInt32 = 0
        var bits = 0
        for letter in letters {
            let value = alphabet.values[Int(letter)]
            guard value != 0xFF else { return nil }
            group = group << 6 | UInt32(value)
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            result.append(UInt8(truncatingIfNeeded: group >> UInt32(bits)))
        }
        // One letter alone in the last group holds less than an octet.
        return bits == 6 ? nil : result
    }
}
