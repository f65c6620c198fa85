import Glibc

/// Part of the input of a connection.
struct OctetSpan {
    var start: UnsafeMutablePointer<UInt8>
    var count = 0

    var isEmpty: Bool { count == 0 }
    var array: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }

    func hasPrefix(_ text: StaticString) -> Bool {
        count >= text.utf8CodeUnitCount && memcmp(start, text.utf8Start, text.utf8CodeUnitCount) == 0
    }

    /// Position behind the first occurrence of a text; nil without one.
    func end(of text: StaticString) -> Int? {
        let length = text.utf8CodeUnitCount
        var place = 0
        while place + length <= count, let found = memchr(start + place, Int32(text.utf8Start[0]), count - place - length + 1) {
            place = UnsafeMutableRawPointer(start).distance(to: found)
            if memcmp(found, text.utf8Start, length) == 0 { return place + length }
            place += 1
        }
        return nil
    }

    /// Part from an offset up to the first octet of the set, or to the end.
    func part(from offset: Int, until isEnd: (UInt8) -> Bool) -> OctetSpan {
        var length = 0
        while offset + length < count, !isEnd(start[offset + length]) { length += 1 }
        return OctetSpan(start: start + offset, count: length)
    }

    /// Decimal number at an offset; 0 without a digit.
    func number(at offset: Int = 0) -> Int {
        var place = offset
        var value = 0
        while place < count, start[place] == 0x20 { place += 1 }
        while place < count, start[place] >= 0x30, start[place] <= 0x39 {
            value = value * 10 + Int(start[place] - 0x30)
            place += 1
        }
        return value
    }
}

/// Message of the measured side: the places that the load needs, without a copy and without a check of the grammar.
struct ReceivedMessage {
    /// First line and header fields.
    var head: OctetSpan
    /// First line without its end.
    var first: OctetSpan
    /// Values of header fields, without name, leading spaces and line end.
    var callID: OctetSpan
    var sequence: OctetSpan
    var from: OctetSpan
    var to: OctetSpan
    var contact: OctetSpan
    var entityTag: OctetSpan
    var recordRoutes: [OctetSpan] = []
    /// Octets of the whole message.
    var length = 0

    var isRequest: Bool { !first.hasPrefix("SIP/2.0 ") }
    /// URI of Contact, without its brackets.
    var contactURI: [UInt8] {
        let start = contact.end(of: "<")
        return contact.part(from: start ?? 0) { start == nil ? $0 == 0x3B : $0 == 0x3E }.array
    }
    var status: Int { first.number(at: 8) }

    /// Reads one message from the start of the input; nil while it is incomplete.
    /// - Parameter echo: Receives the lines that a response repeats (RFC 3261 8.2.6), when the message is a request.
    init?(_ input: OctetSpan, echo: Octets) {
        guard let headLength = input.end(of: "\r\n\r\n") else { return nil }
        let none = OctetSpan(start: input.start)
        (first, callID, sequence, from, to, contact, entityTag) = (none, none, none, none, none, none, none)
        head = OctetSpan(start: input.start, count: headLength)
        first = input.part(from: 0) { $0 == 0x0D }
        echo.removeAll()
        let isRequest = !first.hasPrefix("SIP/2.0 ")
        var bodyLength = 0
        var offset = first.count + 2
        while offset < headLength - 2 {
            let line = input.start + offset
            guard let end = memchr(line, 0x0A, headLength - offset) else { return nil }
            let lineLength = UnsafeMutableRawPointer(line).distance(to: end) + 1
            offset += lineLength
            guard let colon = memchr(line, 0x3A, lineLength) else { continue }
            let nameLength = UnsafeMutableRawPointer(line).distance(to: colon)
            var value = OctetSpan(start: line + nameLength + 1, count: lineLength - nameLength - 3)
            while value.count > 0, value.start[0] == 0x20 { value = OctetSpan(start: value.start + 1, count: value.count - 1) }
            var isEchoed = false
            // Names of equal initial and length that the peers do not send need no further comparison.
            switch (line[0] | 0x20, nameLength) {
            case (UInt8(ascii: "v"), 1), (UInt8(ascii: "v"), 3): isEchoed = true
            case (UInt8(ascii: "f"), 1), (UInt8(ascii: "f"), 4): (from, isEchoed) = (value, true)
            case (UInt8(ascii: "t"), 1), (UInt8(ascii: "t"), 2): to = value
            case (UInt8(ascii: "i"), 1): (callID, isEchoed) = (value, true)
            case (UInt8(ascii: "m"), 1): contact = value
            case (UInt8(ascii: "l"), 1): bodyLength = value.number()
            case (UInt8(ascii: "c"), 4): (sequence, isEchoed) = (value, true)
            case (UInt8(ascii: "c"), 7) where line[1] | 0x20 == UInt8(ascii: "a"): (callID, isEchoed) = (value, true)
            case (UInt8(ascii: "c"), 7): contact = value
            case (UInt8(ascii: "c"), 14): bodyLength = value.number()
            case (UInt8(ascii: "s"), 8): entityTag = value
            case (UInt8(ascii: "r"), 12):
                recordRoutes.append(value)
                isEchoed = true
            default: break
            }
            if isRequest, isEchoed { echo.append(line, lineLength) }
        }
        length = headLength + bodyLength
        guard length <= input.count else { return nil }
    }
}
