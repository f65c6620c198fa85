import SIPCore

/// The watched presentities of all dialogs of presence: their limits, their sources, and the bodies of notifications.
final class PresenceSubscriptions: ShardMember, Inspectable {
    let kernel: GatewayKernel
    let context: ShardContext
    /// The notifier, which sends what this part makes.
    unowned let notifier: SubscriptionsFlow
    unowned let admission: any WatchAdmission
    unowned let hosted: any HostedSources
    unowned let remote: any RemoteSources
    unowned let keptLists: any KeptLists
    /// Presentities of other shards.
    private(set) lazy var views = WatchedViews(self)
    /// Number of dialogs by watched presentity.
    private(set) var dialogsOfPresentity: [String: Int] = [:]
    /// Number of resources of all dialogs.
    private(set) var watchedResources = 0
    /// Tags of dialogs about list services, by owner.
    var keptListDialogs: [String: Set<String>] = [:]

    init(
        _ kernel: GatewayKernel, _ context: ShardContext, notifier: SubscriptionsFlow, admission: any WatchAdmission,
        hosted: any HostedSources, remote: any RemoteSources, keptLists: any KeptLists
    ) {
        self.kernel = kernel
        self.context = context
        self.notifier = notifier
        self.admission = admission
        self.hosted = hosted
        self.remote = remote
        self.keptLists = keptLists
    }

    // MARK: numbers

    func countWatched(_ resource: WatchedResource, by watcher: WatcherDialog) {
        dialogsOfPresentity[resource.key, default: 0] += 1
        watchedResources += 1
        let partner = partnerName(of: watcher.watcher)
        resource.count(for: partner)
        watcher.serve(through: partner)
        if let partner { admission.watch(resource.key, by: partner) }
    }

    func uncountWatched(_ resource: WatchedResource) {
        if let count = dialogsOfPresentity[resource.key] { dialogsOfPresentity[resource.key] = count > 1 ? count - 1 : nil }
        watchedResources -= 1
        if let partner = resource.partner { admission.unwatch(resource.key, by: partner) }
        resource.count(for: nil)
    }
}
