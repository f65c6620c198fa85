extension EventPackages {
    /// All packages of the gateway; a new one is a line here.
    static var standard: EventPackages {
        var packages = EventPackages()
        packages.register(PresencePackage())
        packages.register(RoamingSelfPackage())
        packages.register(ProvisioningPackage())
        packages.register(ContactsPackage())
        packages.register(AccessControlPackage())
        packages.register(PendingWatchersPackage())
        return packages
    }
}
