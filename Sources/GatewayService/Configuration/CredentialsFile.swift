import PresenceGateway
import SIPSecurity

/// `domains.NAME.credentials`: a user, and a file with the password in its first line.
struct CredentialsFile: Hashable, Sendable {
    var user: String
    var path: String

    init(user: String, path: String) {
        self.user = user
        self.path = path
    }

    /// Reads the value; nil when a mistake was recorded.
    init?(_ node: ConfigurationNode, path: (String) -> String) {
        guard let fields = node.fields(["user", "password-file"]) else { return nil }
        guard let user = fields["user"]?.string(), let file = fields["password-file"]?.string() else {
            if fields["user"] == nil || fields["password-file"] == nil {
                node.refuse("needs both, as in { user: gateway, password-file: example-org.password }")
            }
            return nil
        }
        self.init(user: user, path: path(file))
    }
}

extension ProgramConfiguration {
    /// Returns the configuration with the passwords of `credentials`, read from their files.
    /// - Throws: `ServiceFailure` naming key and file.
    package func withPasswords() throws(ServiceFailure) -> ProgramConfiguration {
        var result = self
        for (name, file) in credentials.sorted(by: { $0.key < $1.key }) {
            let key = "domains.\(name).credentials.password-file"
            let bytes: [UInt8]
            do throws(ServiceFailure) {
                bytes = try InputFile.read(file.path)
            } catch {
                throw ServiceFailure("\(key): \(error.lines.joined(separator: "; "))")
            }
            guard let password = PasswordFile.password(in: bytes) else {
                throw ServiceFailure("\(key): \(file.path): has no password in its first line")
            }
            result.domains[name]?.credentials = PartnerCredentials(user: file.user, password: password)
        }
        return result
    }
}
