/// The bit stream of free/busy data (MS-PRES 2.2.2.7.8).
///
/// Two encodings exist. The old one packs two bits per slot. The newer one starts with the number of states and, for each state above
/// the first five, a byte with the older state to show instead; the width of its slots follows from the number of states. Deployed
/// clients start with the least significant bit of a byte, contrary to the standard.
public enum FreeBusyBits {
    /// The order of the bits in a byte.
    public enum BitOrder: Sendable, Hashable {
        /// The order in deployment, and the default.
        case leastSignificantFirst
        /// The order printed in the standard.
        case mostSignificantFirst
    }

    /// Number of states in the old encoding: free, tentative, busy, out of facility.
    static let oldStates = 4
    /// Number of states in the newer encoding that need no fallback.
    static let namedStates = 5
    /// Number of slots in a document of the newer encoding.
    static let newSlots = 384

    /// Decodes a stream in the old encoding: four slots per byte.
    public static func decode(_ bytes: [UInt8], order: BitOrder = .leastSignificantFirst) -> [UInt8] {
        unpack(bytes[...], width: 2, order: order)
    }

    /// Encodes slots in the old encoding; states above 3 become busy. The last byte is padded with free slots.
    public static func encode(_ slots: [UInt8], order: BitOrder = .leastSignificantFirst) -> [UInt8] {
        var bytes: [UInt8] = Array(repeating: 0, count: (slots.count + 3) / 4)
        for (index, slot) in slots.enumerated() {
            let value = slot < oldStates ? slot : 2
            let place = UInt8(index % 4) * 2
            bytes[index / 4] |= order == .leastSignificantFirst ? value << place : value << (6 - place)
        }
        return bytes
    }

    /// Decodes a stream in the newer encoding; nil if it cannot be one. The instance number does not decide this alone, because
    /// samples of the old encoding have numbers of the newer one.
    public static func decodeNew(_ bytes: [UInt8], order: BitOrder = .leastSignificantFirst) -> [UInt8]? {
        guard let states = bytes.first.map(Int.init), states >= namedStates, states <= 64 else { return nil }
        let width = Int.bitWidth - (states - 1).leadingZeroBitCount
        let header = 1 + states - namedStates
        guard bytes.count == header + (newSlots * width + 7) / 8 else { return nil }
        var shown: [UInt8] = []
        for state in 0..<states {
            guard state >= namedStates else {
                shown.append(UInt8(state))
                continue
            }
            let older = Int(bytes[1 + state - namedStates])
            guard older < state else { return nil }
            shown.append(shown[older])
        }
        var slots: [UInt8] = []
        for value in unpack(bytes[header...], width: width, order: order).prefix(newSlots) {
            guard Int(value) < states else { return nil }
            slots.append(shown[Int(value)])
        }
        return slots
    }

    private static func unpack(_ bytes: ArraySlice<UInt8>, width: Int, order: BitOrder) -> [UInt8] {
        var slots: [UInt8] = []
        slots.reserveCapacity(bytes.count * 8 / width)
        var value: UInt8 = 0
        var filled = 0
        for byte in bytes {
            for bit in 0..<8 {
                switch order {
                case .leastSignificantFirst: value |= ((byte >> UInt8(bit)) & 1) << UInt8(filled)
                case .mostSignificantFirst: value = value << 1 | ((byte >> UInt8(7 - bit)) & 1)
                }
                filled += 1
                if filled == width {
                    slots.append(value)
                    value = 0
                    filled = 0
                }
            }
        }
        return slots
    }

    /// Seconds of an ISO 8601 duration of days, hours, minutes and seconds, from 1 to 86,400; nil for other texts.
    static func seconds(ofDuration text: String) -> Int? {
        var total = 0
        var number: Int?
        var inTime = false
        var sawP = false
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "P") where !sawP: sawP = true
            case UInt8(ascii: "T") where sawP && !inTime: inTime = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let next = (number ?? 0) * 10 + Int(byte - UInt8(ascii: "0"))
                guard next <= 1_000_000 else { return nil }
                number = next
            case UInt8(ascii: "D"), UInt8(ascii: "H"), UInt8(ascii: "M"), UInt8(ascii: "S"):
                guard let count = number, inTime != (byte == UInt8(ascii: "D")) else { return nil }
                switch byte {
                case UInt8(ascii: "D"): total += count * 86_400
                case UInt8(ascii: "H"): total += count * 3_600
                case UInt8(ascii: "M"): total += count * 60
                default: total += count
                }
                number = nil
            default: return nil
            }
        }
        guard sawP, number == nil, (1...86_400).contains(total) else { return nil }
        return total
    }

    /// An ISO 8601 duration in minutes, or in seconds unless it is whole minutes.
    static func duration(ofSeconds seconds: Int) -> String {
        seconds % 60 == 0 ? "PT\(seconds / 60)M" : "PT\(seconds)S"
    }
}
