import EnhancedPresence

/// The user's own data; the other requirements are methods of the home server.
extension Gateway: OwnDataSource {
    func contacts(of user: String) -> ContactList { home.lists.contacts(of: user) }
    func accessControl(of user: String) -> AccessControlList { home.lists.accessControl(of: user) }
}
