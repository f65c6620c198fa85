import EnhancedPresence

/// The user's own data for its event packages.
extension HomeServerFlow: OwnDataSource {
    func contacts(of user: String) -> ContactList { home.lists.contacts(of: user) }
    func accessControl(of user: String) -> AccessControlList { home.lists.accessControl(of: user) }
}
