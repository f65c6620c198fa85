/// Verifiers of a user's password for NTLM and Digest; the password itself is not stored (MS-NLMP 3.3.1, RFC 7616 3.4.2).
///
/// Each verifier can replace the password in its own scheme, so all are secret: descriptions and dumps hide them, and only ``text``
/// writes them, for directory files.
public struct CredentialVerifiers: Hashable, Sendable {
    /// The login name; part of both Digest hashes.
    public let user: String
    /// The SIP domain in lower case: the realm, and part of both Digest hashes.
    public let realm: String
    let ntHash: [UInt8]
    let md5: [UInt8]
    let sha256: [UInt8]

    /// The invalid part of a name, password or text.
    public enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
        case user, realm, password, text

        /// The rule that the part breaks.
        public var description: String {
            switch self {
            case .user: "RFC 7616 3.4.2: a user name is 1 to 256 characters without blanks, colons, quotes and controls"
            case .realm: "a realm is a domain name: 1 to 255 letters, digits, dots and hyphens"
            case .password: "a password is 1 to 256 characters without controls"
            case .text: "verifiers are written as: v1 USER REALM nt=HEX md5=HEX sha256=HEX, all lengths exact"
            }
        }
    }

    /// Computes the verifiers of a password.
    /// - Parameters:
    ///   - user: The login name without a domain.
    ///   - realm: The SIP domain.
    ///   - password: 1 to 256 characters without control characters.
    /// - Throws: ``Problem`` with the invalid part.
    public init(user: String, realm: String, password: String) throws(Problem) {
        try Self.check(user, realm)
        guard (1...256).contains(password.count), !password.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            throw .password
        }
        let realm = realm.lowercased()
        self.init(
            user: user, realm: realm, ntHash: HashAlgorithm.md4.digest(UTF16LE.bytes(password)),
            md5: HashAlgorithm.md5.digest("\(user):\(realm):\(password)".utf8),
            sha256: HashAlgorithm.sha256.digest("\(user):\(realm):\(password)".utf8))
    }

    init(user: String, realm: String, ntHash: [UInt8], md5: [UInt8], sha256: [UInt8]) {
        self.user = user
        self.realm = realm
        self.ntHash = ntHash
        self.md5 = md5
        self.sha256 = sha256
    }

    /// Parses the form of ``text``.
    /// - Throws: ``Problem/text``, or the problem of a name in it.
    public init(text: some StringProtocol) throws(Problem) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 6, words[0] == "v1", let ntHash = Self.value("nt=", 16, words[3]), let md5 = Self.value("md5=", 16, words[4]),
            let sha256 = Self.value("sha256=", 32, words[5])
        else { throw .text }
        let (user, realm) = (String(words[1]), String(words[2]))
        try Self.check(user, realm)
        self.init(user: user, realm: realm.lowercased(), ntHash: ntHash, md5: md5, sha256: sha256)
    }

    /// `v1 USER REALM nt=HEX md5=HEX sha256=HEX`, the form in directory files; contains secrets.
    public var text: String {
        "v1 \(user) \(realm) nt=\(Hexadecimal.text(ntHash)) md5=\(Hexadecimal.text(md5)) sha256=\(Hexadecimal.text(sha256))"
    }

    private static func value(_ name: String, _ count: Int, _ word: some StringProtocol) -> [UInt8]? {
        guard word.hasPrefix(name), let bytes = Hexadecimal.bytes(word.dropFirst(name.count)), bytes.count == count else { return nil }
        return bytes
    }

    private static func check(_ user: String, _ realm: String) throws(Problem) {
        let isUser = user.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F && $0 != ":" && $0 != "\"" && $0 != "\\" }
        guard (1...256).contains(user.count), isUser else { throw .user }
        let isRealm = realm.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2E || $0 == 0x2D
        }
        guard (1...255).contains(realm.utf8.count), isRealm else { throw .realm }
    }
}

extension CredentialVerifiers: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text without secrets.
    public var description: String { "CredentialVerifiers(hidden)" }
    /// A fixed text without secrets.
    public var debugDescription: String { description }
    /// A mirror without children, so that dumps show no secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
