import SIPCore

/// A pattern for addresses of record: `*`, `example.org`, `*.example.org` (the domains below it), `alice@example.org`,
/// `sales-*@example.org`.
public struct PartyPattern: Hashable, Sendable, CustomStringConvertible {
    private enum Users: Hashable, Sendable {
        case all
        case one([UInt8])
        case beginning(with: [UInt8])
    }

    private enum Domains: Hashable, Sendable {
        case all
        case one(String)
        case below(String)
    }

    /// The pattern as text.
    public let description: String
    private let users: Users
    private let domains: Domains

    /// Parses a pattern; nil for other forms.
    public init?(_ text: String) {
        description = text
        if text == "*" {
            users = .all
            domains = .all
            return
        }
        var host = Substring(text)
        var users = Users.all
        if let at = text.lastIndex(of: "@") {
            host = text[text.index(after: at)...]
            let user = String(text[..<at])
            guard !user.isEmpty, !user.utf8.contains(UInt8(ascii: ":")), !user.dropLast().utf8.contains(UInt8(ascii: "*")),
                SIPURI("sip:\(user)@example.org") != nil
            else {
                return nil
            }
            // By octet: as a Character, * with a combining mark is not *.
            let isPrefix = user.utf8.last == UInt8(ascii: "*")
            let name = Self.decoded(isPrefix ? String(decoding: user.utf8.dropLast(), as: UTF8.self) : user)
            users = user == "*" ? .all : isPrefix ? .beginning(with: name) : .one(name)
        }
        let isBelow = host.hasPrefix("*.")
        guard case .name(let name)? = PeerPattern(String(isBelow ? host.dropFirst(2) : host)) else { return nil }
        self.users = users
        domains = isBelow ? .below(name) : .one(name)
    }

    /// Whether a canonical URI matches. The anonymous user of a domain matches as one of its users, but no pattern with a user part.
    /// User parts are compared with their escapes resolved (RFC 3261 19.1.4), octet by octet.
    public func matches(_ user: SIPURI) -> Bool {
        guard matches(domainOf: user) else { return false }
        if users != .all, AnonymousUser.partner(ofHost: user.domainKey) != nil { return false }
        switch users {
        case .all: return true
        case .one(let name): return user.user.map(Self.decoded) == name
        case .beginning(let prefix): return user.user.map(Self.decoded)?.starts(with: prefix) ?? false
        }
    }

    /// The octets of a user part with its escapes resolved.
    private static func decoded(_ user: String) -> [UInt8] { Array((SIPURI(user: user, host: "").decodedUser ?? user).utf8) }

    /// Whether a user may be meant: an anonymous one may be any of its domain.
    func mayMatch(_ user: SIPURI) -> Bool {
        AnonymousUser.partner(ofHost: user.domainKey) == nil ? matches(user) : matches(domainOf: user)
    }

    private func matches(domainOf user: SIPURI) -> Bool {
        let domain = AnonymousUser.partner(ofHost: user.domainKey) ?? user.domainKey
        switch domains {
        case .all: return true
        case .one(let name): return name == domain
        case .below(let name): return domain.hasSuffix("." + name)
        }
    }
}
