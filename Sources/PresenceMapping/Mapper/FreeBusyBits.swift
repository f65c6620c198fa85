/// The bit stream of free/busy data (MS-PRES 2.2.2.7.8): slots of states, packed.
///
/// Two encodings exist. The old one packs two bits per slot. The newer one begins with the number of states and, for every state above the
/// first five, a byte that names an older state to show instead; its slots are as wide as that number needs. Which bit of a byte comes first
/// is not what the standard prints but what deployed clients do: the least significant.
public enum FreeBusyBits {
    public enum BitOrder: Sendable, Hashable {
        /// As deployed; what we write.
        case leastSignificantFirst
        /// As the standard prints the stream.
        case mostSignificantFirst
    }

    /// States of the old encoding: free, tentative, busy, out of facility.
    static let oldStates = 4
    /// States of the newer encoding that need no fallback.
    static let namedStates = 5
    /// Slots that a document of the newer encoding holds.
    static let newSlots = 384

    /// Slots of a stream in the old encoding.
    public static func decode(_ bytes: [UInt8], order: BitOrder = .leastSignificantFirst) -> [UInt8] {
        unpack(bytes[...], width: 2, order: order)
    }

    /// Packs slots in the old encoding; a state above 3 is written busy.
    public static func encode(_ slots: [UInt8], order: BitOrder = .leastSignificantFirst) -> [UInt8] {
        var bytes: [UInt8] = Array(repeating: 0, count: (slots.count + 3) / 4)
        for (index, slot) in slots.enumerated() {
            let value = slot < oldStates ? slot : 2
            let place = UInt8(index % 4) * 2
            bytes[index / 4] |= order == .leastSignificantFirst ? value << place : value << (6 - place)
        }
        return bytes
    }

    /// Slots of the newer encoding, or nil where the stream cannot be one: the instance number alone does not tell, since samples of the
    /// old encoding carry numbers of the new.
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

    /// Seconds of an ISO 8601 duration of days, hours, minutes and seconds, or nil. At most a day.
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

    /// An ISO 8601 duration in minutes where it is whole minutes, else in seconds.
    static func duration(ofSeconds seconds: Int) -> String {
        seconds % 60 == 0 ? "PT\(seconds / 60)M" : "PT\(seconds)S"
    }
}
