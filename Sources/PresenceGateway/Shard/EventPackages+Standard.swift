extension EventPackages {
    /// All packages of the gateway; a new one is a line here.
    static func standard(_ presence: PresenceSubscriptions, _ ownData: any OwnDataSource) -> EventPackages {
        var packages = EventPackages()
        packages.register(PresencePackage(presence))
        packages.register(RoamingSelfPackage(ownData))
        packages.register(ProvisioningPackage(ownData))
        packages.register(ContactsPackage(ownData))
        packages.register(AccessControlPackage(ownData))
        packages.register(PendingWatchersPackage())
        return packages
    }
}
