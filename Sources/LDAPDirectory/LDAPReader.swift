import Foundation
import PresenceDocuments
import SIPCore
import SIPSecurity
import UserDirectory

/// The users read from a directory service, and the problems found.
package struct LDAPSnapshot: Hashable, Sendable {
    /// The users of the requested domains.
    package var directory: UserDirectory
    /// Entries and texts that were left out, each with the DN of the entry; at most ``problemLimit``.
    package var problems: [String]
    /// Number of all problems, including those beyond ``problemLimit``.
    package var problemCount: Int

    /// Largest number of problems described.
    package static let problemLimit = 20
}

/// Reads the users of a directory service.
package enum LDAPReader {
    /// Reads every user. Blocks the calling thread; each LDAP operation is limited by ``LDAPSettings/timeout``.
    ///
    /// Entries that break the rules of `DirectoryUser` are left out and reported, and so are single texts.
    /// - Parameters:
    ///   - domains: The SIP domains to read, in lower case; users of other domains are left out without a report.
    ///   - now: The time of the snapshot.
    /// - Throws: ``LDAPFailure`` if the service cannot be reached, refuses an operation, or has more than
    ///   ``LDAPSettings/entryLimit`` entries.
    package static func read(_ settings: LDAPSettings, domains: Set<String>, at now: DateTime) throws(LDAPFailure) -> LDAPSnapshot {
        let connection = try LDAPConnection(settings, password: try password(settings))
        let attributes = Set(settings.attributes.values).sorted()
        var reading = LDAPReading(settings: settings, domains: domains)
        for entry in try connection.search(settings, attributes: attributes) { reading.take(entry) }
        do {
            return LDAPSnapshot(
                directory: try UserDirectory(Array(reading.users.values), asOf: now), problems: reading.problems,
                problemCount: reading.problemCount)
        } catch {
            throw LDAPFailure(operation: "users", reason: error.description)
        }
    }

    /// Returns the password of the bind DN; empty without a bind DN.
    /// - Throws: ``LDAPFailure`` for a bind DN without password: that bind is unauthenticated, and a server may accept it as anonymous
    ///   (RFC 4513 5.1.2).
    private static func password(_ settings: LDAPSettings) throws(LDAPFailure) -> String {
        guard settings.bindDN != nil else { return "" }
        guard let file = settings.passwordFile else {
            throw LDAPFailure(operation: "bind", reason: "bind-dn needs password-file: a bind without password is refused (RFC 4513 5.1.2)")
        }
        guard let octets = FileManager.default.contents(atPath: file) else {
            throw LDAPFailure(operation: "bind", reason: "the password file \(file) cannot be read")
        }
        guard let password = PasswordFile.password(in: octets) else {
            throw LDAPFailure(
                operation: "bind",
                reason: "password-file: \(file) has no password in its first line; a bind without password is refused (RFC 4513 5.1.2)")
        }
        return password
    }
}

/// Converts entries to users and collects problems.
struct LDAPReading {
    let settings: LDAPSettings
    let domains: Set<String>
    private(set) var users: [String: DirectoryUser] = [:]
    private(set) var problems: [String] = []
    private(set) var problemCount = 0
    private var accounts: Set<String> = []

    init(settings: LDAPSettings, domains: Set<String>) {
        self.settings = settings
        self.domains = domains
    }

    mutating func take(_ entry: LDAPEntry) {
        func values(_ field: LDAPField) -> [String] { settings.attributes[field].flatMap { entry.values[$0.lowercased()] } ?? [] }
        guard let address = values(.uri).first else { return note(entry, "has no \(settings.attributes[.uri] ?? "uri")") }
        var user: DirectoryUser
        do {
            user = try DirectoryUser(Self.withScheme(address))
        } catch {
            return note(entry, error.description)
        }
        guard domains.contains(user.domain) else { return }
        for field in DirectoryField.allCases {
            guard let text = values(.text(field)).first else { continue }
            do { try user.set(field, text) } catch { note(entry, error.description) }
        }
        if let enabled = values(.enabled).first { user.isEnabled = ["true", "1", "yes"].contains(enabled.lowercased()) }
        for address in values(.secondaryURIs) {
            do { user.secondaryURIs.append(try DirectoryUser(Self.withScheme(address)).uri.description) } catch {
                note(entry, error.description)
            }
        }
        // Proxy addresses other than mail have other prefixes than `smtp:`; `SMTP:` marks the primary address.
        for address in values(.otherEmails) {
            let mail = address.lowercased().hasPrefix("smtp:") ? String(address.dropFirst(5)) : address
            if DirectoryField.email.rule(brokenBy: mail) == nil, !mail.contains(":") { user.otherEmails.append(mail) }
        }
        if let text = values(.verifiers).first { user.verifiers = verifiers(text, of: user, entry) }
        guard users[user.key] == nil else { return note(entry, "has the SIP address \(user.uri) of another entry") }
        guard accounts.insert("\(user.account.lowercased())@\(user.domain)").inserted else {
            return note(entry, "has the account \(user.account) of another entry")
        }
        users[user.key] = user
    }

    private mutating func verifiers(_ text: String, of user: DirectoryUser, _ entry: LDAPEntry) -> CredentialVerifiers? {
        guard let verifiers = try? CredentialVerifiers(text: text), verifiers.user == user.account, verifiers.realm == user.domain else {
            note(entry, "has verifiers that are not of its account and domain")
            return nil
        }
        return verifiers
    }

    private mutating func note(_ entry: LDAPEntry, _ text: String) {
        problemCount += 1
        if problems.count < LDAPSnapshot.problemLimit { problems.append("\(entry.name): \(text)") }
    }

    private static func withScheme(_ address: String) -> String {
        address.lowercased().hasPrefix("sip:") ? "sip:" + address.dropFirst(4) : "sip:" + address
    }
}
