import PresenceDocuments
import SIPCore

/// What a search found (MS-PRES 3.1.5.2).
public struct DirectoryMatches: Hashable, Sendable {
    /// In the order of their SIP URIs.
    public var users: [DirectoryUser]
    /// Whether more users match than are returned.
    public var moreAvailable: Bool

    /// The rows of the answer (MS-PRES 4.1).
    public var rows: [DirectorySearchRow] {
        users.map { user in
            DirectorySearchRow(
                uri: user.uri.description, displayName: user.displayName, title: user[.title] ?? "", office: user[.office] ?? "",
                phone: user.phone ?? "", company: user[.company] ?? "", city: user[.city] ?? "", state: user[.state] ?? "",
                country: user[.country] ?? "", email: user.email ?? "")
        }
    }
}

extension UserDirectory {
    /// The users of one domain who fulfil every filter (MS-PRES 3.1.5.2).
    ///
    /// A filter holds when a value of its attribute begins with its text, without regard to case; an attribute that is not known
    /// holds for nobody, as in a directory service.
    /// - Parameters:
    ///   - domain: The SIP domain in which is searched, in lower case.
    ///   - requester: The `aorKey` of who asks; he does not find users who are disabled or hidden from him (MS-PRES 1.3.2).
    ///   - limit: Most users returned: the lower of what is asked for and what the administrator allows.
    public func search(_ filters: [DirectorySearchFilter], in domain: String, for requester: String, limit: Int) -> DirectoryMatches {
        let tests = filters.map(PrefixTest.init)
        var found: [DirectoryUser] = []
        for user in users
        where user.domain == domain && user.isVisible(to: requester) && tests.allSatisfy({ $0.holds(for: user) }) {
            guard found.count < limit else { return DirectoryMatches(users: found, moreAvailable: true) }
            found.append(user)
        }
        return DirectoryMatches(users: found, moreAvailable: false)
    }
}

extension DirectoryUser {
    /// Whether a search by `requester` may show this user (MS-PRES 1.3.2).
    func isVisible(to requester: String) -> Bool { isEnabled && (!isHidden || key == requester) }

    /// Every value that a search attribute means; nil for an attribute that is not known.
    fileprivate func values(of attribute: SearchAttribute) -> [String] {
        switch attribute {
        case .field(let field): self[field].map { [$0] } ?? (field == .displayName ? [displayName] : field == .account ? [account] : [])
        case .sipAddress:
            ([uri.description] + secondaryURIs).flatMap { [$0, Self.withoutScheme($0)] }
        case .mailAddress: (email.map { [$0] } ?? []) + otherEmails
        case .ambiguousName:
            [displayName, self[.givenName], self[.surname], email, account].compactMap(\.self) + values(of: .sipAddress)
        case .unknown: []
        }
    }

    private static func withoutScheme(_ uri: String) -> String {
        uri.lowercased().hasPrefix("sip:") ? String(uri.dropFirst(4)) : uri
    }
}

/// What the name of an attribute in a filter stands for (MS-PRES 8.3).
private enum SearchAttribute {
    case field(DirectoryField)
    /// The macro msRTCURI: primary and secondary SIP address.
    case sipAddress
    /// The macro msRTCMail: mail address and proxy addresses.
    case mailAddress
    /// anr, the search over all names (MS-PRES 1.3.2).
    case ambiguousName
    case unknown

    private static let named: [String: SearchAttribute] = {
        var named: [String: SearchAttribute] = [
            "msrtcuri": .sipAddress, "msrtcmail": .mailAddress, "anr": .ambiguousName, "cn": .field(.displayName),
            "name": .field(.displayName),
        ]
        for field in DirectoryField.allCases { named[field.attribute.lowercased()] = .field(field) }
        return named
    }()

    init(_ name: String) { self = Self.named[name.lowercased()] ?? .unknown }
}

/// One filter, prepared for many users.
private struct PrefixTest {
    let attribute: SearchAttribute
    let folded: String
    let isASCII: Bool

    init(_ filter: DirectorySearchFilter) {
        attribute = SearchAttribute(filter.attribute)
        folded = filter.value.lowercased()
        isASCII = folded.utf8.allSatisfy { $0 < 0x80 }
    }

    func holds(for user: DirectoryUser) -> Bool { user.values(of: attribute).contains(where: begins) }

    private func begins(_ value: String) -> Bool {
        guard isASCII else { return value.lowercased().hasPrefix(folded) }
        var bytes = value.utf8.makeIterator()
        for wanted in folded.utf8 {
            guard let byte = bytes.next() else { return false }
            let lower = byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
            if lower != wanted { return false }
        }
        return true
    }
}
