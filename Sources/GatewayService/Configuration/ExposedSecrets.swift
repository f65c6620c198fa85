import Glibc
import LDAPDirectory

/// Finds files with secrets that other users of the machine can read or change.
package enum ExposedSecrets {
    /// One line for each such file, with key, file and mode.
    package static func warnings(of configuration: ProgramConfiguration) -> [String] {
        secrets(of: configuration).compactMap { key, path in
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & 0o066 != 0 else { return nil }
            let readers = status.st_mode & 0o006 != 0 ? "every user" : "its group"
            let mode = String(status.st_mode & 0o7777, radix: 8)
            return "\(key): \(path): \(readers) can read or change it (mode 0\(mode)); make it 0600"
        }
    }

    private static func secrets(of configuration: ProgramConfiguration) -> [(key: String, path: String)] {
        var secrets: [(key: String, path: String)] = []
        if let tls = configuration.tls {
            secrets.append(("tls.key", tls.own.key))
            secrets += tls.names.sorted { $0.key < $1.key }.map { ("tls.names.\($0.key).key", $0.value.key) }
        }
        secrets += configuration.credentials.sorted { $0.key < $1.key }.map {
            ("domains.\($0.key).credentials.password-file", $0.value.path)
        }
        if let tlsDSK = configuration.signIn.tlsDSK { secrets.append(("tls-dsk.key", tlsDSK.key)) }
        switch configuration.directory {
        case .file(let path): secrets.append(("directory.file", path))
        case .ldap(let settings): if let path = settings.passwordFile { secrets.append(("directory.ldap.password-file", path)) }
        case nil: break
        }
        return secrets
    }
}
