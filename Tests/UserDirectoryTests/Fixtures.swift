import PresenceDocuments
import UserDirectory

/// A user with these texts.
func user(_ uri: String, _ texts: [DirectoryField: String] = [:], hidden: Bool = false, enabled: Bool = true) throws -> DirectoryUser {
    var user = try DirectoryUser(uri)
    for (field, text) in texts { try user.set(field, text) }
    user.isHidden = hidden
    user.isEnabled = enabled
    return user
}

func directory(_ users: DirectoryUser...) throws -> UserDirectory { try UserDirectory(users) }
