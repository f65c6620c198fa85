import ByteCoding
import Testing

@Suite struct ByteCodingTests {
    @Test(
        "RFC 4648 10: the standard's own values, both ways",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
        ])
    func base64(_ text: String, _ encoded: String) {
        #expect(Base64.text(Array(text.utf8)) == encoded)
        #expect(Base64.decode(strictly: encoded) == Array(text.utf8))
    }

    @Test("RFC 4648 5: the alphabet for URLs has - and _, and refuses + and /, as the standard one refuses - and _")
    func base64URL() {
        let octets: [UInt8] = [0xFB, 0xEF, 0xBE, 0xFF, 0xFF, 0xFF]
        #expect(Base64.text(octets) == "++++////")
        #expect(Base64.text(octets, .url) == "----____")
        #expect(Base64.decode(strictly: "----____", .url) == octets)
        #expect(Base64.decode(strictly: "++++////", .url) == nil)
        #expect(Base64.decode(strictly: "----____") == nil)
    }

    @Test(
        "RFC 4648 3.3: other characters, padding inside and half groups are refused by the strict decoder",
        arguments: ["Z", "Zg=", "Zg==Zg==", "Z===", "Zm 9", "Zm9v====", "====", "Zm9*"])
    func strict(_ text: String) {
        #expect(Base64.decode(strictly: text) == nil)
    }

    private static func liberal(_ text: String) -> [UInt8]? {
        Array(text.utf8).withUnsafeBufferPointer { Base64.decode(liberally: $0) }
    }

    @Test("the liberal decoder takes white space and missing padding", arguments: ["Zm8=", "Zm8", " Z m\r\n8\t=", "Zm8=="])
    func liberal(_ text: String) {
        #expect(Self.liberal(text) == Array("fo".utf8))
    }

    @Test("the liberal decoder refuses other characters, and characters after the padding", arguments: ["A", "AA=A", "A*==", "Zm9vA"])
    func refused(_ text: String) {
        #expect(Self.liberal(text) == nil)
    }

    @Test("FNV-1a has the published values for the empty text, 'a' and 'foobar'")
    func hashes() {
        #expect(FNV1a().value == 0xCBF2_9CE4_8422_2325)
        #expect(FNV1a(of: "a".utf8).value == 0xAF63_DC4C_8601_EC8C)
        #expect(FNV1a(of: "foobar".utf8).value == 0x8594_4171_F739_67E8)
        #expect(FNV1a32.hash("a".utf8) == 0xE40C_292C)
        #expect(FNV1a32.hash("foobar".utf8) == 0xBF9C_F968)
    }

    @Test("RFC 8259 7: quotes, backslashes and control characters are escaped")
    func quoted() {
        #expect(JSONString.quoted("a\"b\\c\n\r\t\u{1}\u{7F}ä") == #""a\"b\\c\n\r\t\u0001\u007fä""#)
    }
}
