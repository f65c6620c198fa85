import Foundation
import PresenceDocuments
import SIPCore
import SIPSecurity
import UserDirectory
import Yams

/// File of users: YAML with one key, `users`, and below it one entry per user, by SIP URI.
///
///     users:
///       sip:bob@contoso.com:
///         display-name: "Bob Baker"
///         email: "bob@contoso.com"
///         verifiers: "v1 bob contoso.com nt=... md5=... sha256=..."
///
/// Unknown keys are mistakes; all mistakes are reported together.
package struct DirectoryFile: Hashable, Sendable {
    package var users: [DirectoryUser]
    /// Line number of each user's entry, from 1, by `aorKey`.
    var lines: [String: Int]

    /// Limit of a file's size, in octets.
    static let byteLimit = 256 << 20

    private static let listKeys = ["enabled", "hidden", "secondary-uris", "other-emails", "verifiers", "rules", "lists"]

    init(users: [DirectoryUser] = [], lines: [String: Int] = [:]) {
        self.users = users
        self.lines = lines
    }

    /// - Parameter file: Name used in reports; the file is not read here.
    init(reading text: String, file: String) throws(ConfigurationError) {
        self.init()
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            throw ConfigurationError(file: file, problems: [ConfigurationReader.syntaxProblem(error)])
        }
        // A file with only comments is an empty directory.
        guard let root else { return }
        let problems = ConfigurationProblems()
        let node = ConfigurationNode(node: root, key: "", problems: problems)
        if let users = node.fields(["users"])?["users"], !users.isEmpty {
            for entry in users.entries() ?? [] { read(entry.keyNode, entry.value) }
        }
        guard problems.all.isEmpty else { throw ConfigurationError(file: file, problems: problems.all) }
    }

    private mutating func read(_ keyNode: ConfigurationNode, _ entry: ConfigurationNode) {
        guard let uri = keyNode.node.scalar?.string else { return keyNode.refuse("must be a SIP URI") }
        var user: DirectoryUser
        do {
            user = try DirectoryUser(uri)
        } catch {
            return keyNode.refuse(error.rule)
        }
        let line = keyNode.node.mark?.line ?? 0
        if let first = lines.updateValue(line, forKey: user.key) {
            return keyNode.refuse("is the user of line \(first) once more (hosts compare without case)")
        }
        if !entry.isEmpty { Self.read(entry, into: &user) }
        users.append(user)
    }

    private static func read(_ entry: ConfigurationNode, into user: inout DirectoryUser) {
        guard let fields = entry.fields(DirectoryField.allCases.map(\.rawValue) + listKeys) else { return }
        for field in DirectoryField.allCases {
            guard let node = fields[field.rawValue], let text = node.string() else { continue }
            do { try user.set(field, text) } catch { node.refuse(error.rule) }
        }
        if let enabled = fields["enabled"]?.bool() { user.isEnabled = enabled }
        if let hidden = fields["hidden"]?.bool() { user.isHidden = hidden }
        user.rulesFile = fields["rules"]?.string()
        user.listsFile = fields["lists"]?.string()
        if user.rulesFile == nil { fields["lists"]?.refuse("needs `rules`, which name the lists") }
        for element in fields["secondary-uris"]?.elements() ?? [] {
            guard let text = element.string() else { continue }
            do { user.secondaryURIs.append(try DirectoryUser(text).uri.description) } catch { element.refuse(error.rule) }
        }
        for element in fields["other-emails"]?.elements() ?? [] {
            guard let text = element.string() else { continue }
            if let rule = DirectoryField.email.rule(brokenBy: text) { element.refuse(rule) } else { user.otherEmails.append(text) }
        }
        if let verifiers = fields["verifiers"], let text = verifiers.string() {
            // The value is secret: no part of it is quoted.
            do {
                let read = try CredentialVerifiers(text: text)
                user.verifiers = read
                if read.realm != user.domain { verifiers.refuse("are for another domain than the user's", quotesValue: false) }
                if read.user != user.account { verifiers.refuse("are for another account than the user's", quotesValue: false) }
            } catch {
                verifiers.refuse("cannot be read: \(error)", quotesValue: false)
            }
        }
    }

    // MARK: files

    /// Reads a file into a directory with the file's modification time.
    /// - Parameter domains: Hosted domains in lower case; a user of another domain is a mistake. nil accepts any domain.
    /// - Throws: `ServiceFailure` with one line per mistake.
    static func load(_ path: String, domains: Set<String>?) throws(ServiceFailure) -> UserDirectory {
        let file = try read(path)
        if let domains {
            let strangers = file.users.filter { !domains.contains($0.domain) }
            guard strangers.isEmpty else {
                throw ServiceFailure(
                    strangers.map { "\(path):\(file.lines[$0.key] ?? 0): \($0.uri): \"\($0.domain)\" is no hosted domain" })
            }
        }
        do {
            return try UserDirectory(file.users, asOf: modificationTime(path))
        } catch {
            throw ServiceFailure("\(path): \(error)")
        }
    }

    package static func read(_ path: String) throws(ServiceFailure) -> DirectoryFile {
        try parse(InputFile.text(path), path)
    }

    static func parse(_ text: String, _ path: String) throws(ServiceFailure) -> DirectoryFile {
        guard text.utf8.count <= byteLimit else { throw ServiceFailure("\(path): more than \(byteLimit) octets") }
        do {
            return try DirectoryFile(reading: text, file: path)
        } catch {
            throw ServiceFailure(error.lines)
        }
    }

    private static func modificationTime(_ path: String) -> DateTime {
        var status = stat()
        guard stat(path, &status) == 0 else { return DateTime(nanosecondsSince1970: 0) }
        return DateTime(nanosecondsSince1970: Int64(status.st_mtim.tv_sec) * 1_000_000_000)
    }
}
