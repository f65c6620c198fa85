import Testing

@testable import SIPSecurity

/// What is kept of a password.
@Suite struct CredentialVerifiersTests {
    @Test("MS-NLMP 4.2.2.1.2: the NT hash of the specification's password")
    func ntHash() throws {
        let verifiers = try CredentialVerifiers(user: "User", realm: "contoso.com", password: "Password")
        #expect(Hexadecimal.text(verifiers.ntHash) == "a4f49c406510bdcab6824ee7c30fd852")
    }

    @Test("RFC 7616 3.4.2: both Digest hashes are those of user, realm and password")
    func digestHashes() throws {
        let verifiers = try CredentialVerifiers(user: "alice", realm: "Contoso.com", password: "secret")
        #expect(Hexadecimal.text(verifiers.md5) == HashAlgorithm.md5.hexDigest("alice:contoso.com:secret"))
        #expect(Hexadecimal.text(verifiers.sha256) == HashAlgorithm.sha256.hexDigest("alice:contoso.com:secret"))
    }

    @Test("the text form comes back as it was, and nothing but the text shows a secret")
    func textForm() throws {
        let verifiers = try CredentialVerifiers(user: "alice", realm: "contoso.com", password: "correct horse")
        #expect(try CredentialVerifiers(text: verifiers.text) == verifiers)
        var dumped = ""
        dump(verifiers, to: &dumped)
        for shown in ["\(verifiers)", String(reflecting: verifiers), dumped, "\([verifiers])"] {
            #expect(!shown.contains(Hexadecimal.text(verifiers.ntHash)))
            #expect(!shown.contains("alice"))
        }
        #expect(!verifiers.text.contains("correct"))
    }

    @Test(
        "names that Digest cannot carry are refused by name",
        arguments: [
            ("", "contoso.com", "x", CredentialVerifiers.Problem.user), ("a:b", "contoso.com", "x", .user),
            ("a b", "contoso.com", "x", .user), ("a\"b", "contoso.com", "x", .user), ("alice", "", "x", .realm),
            ("alice", "con toso", "x", .realm), ("alice", "contoso.com", "", .password), ("alice", "contoso.com", "a\nb", .password),
        ])
    func refused(_ user: String, _ realm: String, _ password: String, _ problem: CredentialVerifiers.Problem) {
        #expect(throws: problem) { try CredentialVerifiers(user: user, realm: realm, password: password) }
    }

    @Test(
        "a text that is cut, padded or of another version is refused",
        arguments: [
            "", "v1 alice contoso.com", "v2 alice contoso.com nt=00 md5=00 sha256=00", "v1 alice contoso.com nt=00 md5=00 sha256=00",
            "v1 alice contoso.com nt=zz md5=00 sha256=00", String(repeating: "v1 ", count: 1_000),
        ])
    func refusedText(_ text: String) {
        #expect(throws: CredentialVerifiers.Problem.text) { try CredentialVerifiers(text: text) }
    }
}
