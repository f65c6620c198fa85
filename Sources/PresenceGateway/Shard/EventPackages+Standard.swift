extension EventPackages {
    /// All packages of the gateway; a new one is a line here.
    static func standard(
        _ presence: PresenceSubscriptions, _ information: WatcherInformation, _ ownData: any OwnDataSource
    ) -> EventPackages {
        var packages = EventPackages()
        packages.register(PresencePackage(presence))
        packages.register(WatcherInfoPackage(information, .presence))
        packages.register(WatcherInfoPackage(information, .information))
        packages.register(RoamingSelfPackage(ownData))
        packages.register(ProvisioningPackage(ownData))
        packages.register(ContactsPackage(ownData))
        packages.register(AccessControlPackage(ownData))
        packages.register(PendingWatchersPackage())
        return packages
    }
}
