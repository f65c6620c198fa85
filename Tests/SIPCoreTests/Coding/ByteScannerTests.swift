import Testing

@testable import SIPCore

@Suite struct ByteScannerTests {
    @Test("RFC 3261 25.1 the table of character classes is the grammar's")
    func classes() {
        let digits = "0123456789"
        let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
        let mark = "-_.!~*'()"
        let expected: [(UInt8, String)] = [
            (ASCII.digit, digits), (ASCII.alpha, letters), (ASCII.hex, digits + "abcdefABCDEF"),
            (ASCII.token, digits + letters + "-.!%*_+`'~"), (ASCII.host, digits + letters + "-._"),
            (ASCII.user, digits + letters + mark + "&=+$,;?/" + "%" + "#^|{}`"),
            (ASCII.uriParameter, digits + letters + mark + "[]/:&+$" + "%=" + "@"),
        ]
        for (bit, characters) in expected {
            let members = Set(characters.utf8)
            for byte in UInt8.min...UInt8.max {
                #expect((ASCII.classes[Int(byte)] & bit != 0) == members.contains(byte), "octet \(byte), class \(bit)")
            }
        }
    }

    @Test("the first control character is found at every distance, eight octets at a time")
    func controls() {
        for length in 0..<40 {
            for place in 0...length {
                var bytes = [UInt8](repeating: 0x80, count: length)
                if place < length { bytes[place] = 0x1F }
                let found = bytes.withUnsafeBufferPointer { HeaderBlockReader.nextControl($0, 0, length) }
                #expect(found == place)
            }
        }
        let high = Array("\u{ff}\u{e9} \u{7f}".utf8)
        #expect(high.withUnsafeBufferPointer { HeaderBlockReader.nextControl($0, 0, high.count) } == high.count)
    }
}
