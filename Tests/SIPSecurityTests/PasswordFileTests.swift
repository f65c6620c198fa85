import SIPSecurity
import Testing

@Suite struct PasswordFileTests {
    @Test(
        "a password is the first line, whether lines end in LF, in CR LF, or with the file",
        arguments: [
            ("secret", "secret"), ("secret\n", "secret"), ("secret\r\n", "secret"), ("secret\r\nnot this\r\n", "secret"),
            ("secret\nnot this\r\n", "secret"), (" two words \r\n", " two words "), ("e\u{301}\u{2028}x\n", "e\u{301}\u{2028}x"),
            ("", nil), ("\n", nil), ("\r\n", nil), ("\r\nnot this", nil), ("\nnot this\n", nil),
        ])
    func firstLine(content: String, password: String?) {
        let found = PasswordFile.password(in: Array(content.utf8))
        #expect(found.map { Array($0.utf8) } == password.map { Array($0.utf8) })
    }

    @Test("octets that are not UTF-8 are no password") func notUTF8() { #expect(PasswordFile.password(in: [0x73, 0xFF, 0x0A]) == nil) }
}
