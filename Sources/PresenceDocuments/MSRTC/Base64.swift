/// Base64 of RFC 4648 section 4, without Foundation.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static let values: [UInt8] = {
        var table = [UInt8](repeating: 0xFF, count: 256)
        for (value, letter) in alphabet.enumerated() { table[Int(letter)] = UInt8(value) }
        return table
    }()

    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let left = min(3, bytes.count - index)
            var group = UInt32(bytes[index]) << 16
            if left > 1 { group |= UInt32(bytes[index + 1]) << 8 }
            if left > 2 { group |= UInt32(bytes[index + 2]) }
            for position in 0..<4 {
                if position <= left {
                    result.append(alphabet[Int(group >> UInt32(18 - 6 * position)) & 63])
                } else {
                    result.append(UInt8(ascii: "="))
                }
            }
            index += 3
        }
        return result
    }

    /// Decodes text; skips white space and accepts missing padding. nil for any other character.
    static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(text.count / 4 * 3)
        var group: UInt32 = 0
        var count = 0
        var isPadded = false
        for letter in text {
            if letter == 0x20 || letter == 0x09 || letter == 0x0A || letter == 0x0D { continue }
            if letter == UInt8(ascii: "=") {
                isPadded = true
                continue
            }
            let value = values[Int(letter)]
            guard value != 0xFF, !isPadded else { return nil }
            group = group << 6 | UInt32(value)
            count += 1
            if count == 4 {
                result.append(UInt8(truncatingIfNeeded: group >> 16))
                result.append(UInt8(truncatingIfNeeded: group >> 8))
                result.append(UInt8(truncatingIfNeeded: group))
                group = 0
                count = 0
            }
        }
        switch count {
        case 0: return result
        case 2: result.append(UInt8(truncatingIfNeeded: group >> 4))
        case 3:
            result.append(UInt8(truncatingIfNeeded: group >> 10))
            result.append(UInt8(truncatingIfNeeded: group >> 2))
        default: return nil
        }
        return result
    }
}
