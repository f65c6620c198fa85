import PresenceDocuments
import PresenceGateway
import SIPCore
import UserDirectory

/// A directory of users of fabrikam.com, in the form in which tests write them.
enum Fabrikam {
    static func user(_ name: String, _ texts: [DirectoryField: String] = [:], hidden: Bool = false, enabled: Bool = true) throws
        -> DirectoryUser
    {
        var user = try DirectoryUser("sip:\(name)@fabrikam.com")
        for (field, text) in texts { try user.set(field, text) }
        user.isHidden = hidden
        user.isEnabled = enabled
        return user
    }

    static func directory(_ users: DirectoryUser...) throws -> DirectoryState {
        .known(try UserDirectory(users, asOf: DateTime(nanosecondsSince1970: 1_690_000_000_000_000_000)))
    }

    static var rob: DirectoryUser {
        get throws { try user("rob", [.displayName: "Rob Young", .email: "rob@fabrikam.com", .workPhone: "+1 555 0100"]) }
    }
}

extension Bench {
    func use(_ state: DirectoryState) {
        gateway.use(directory: state, at: now)
        sort()
    }
}
