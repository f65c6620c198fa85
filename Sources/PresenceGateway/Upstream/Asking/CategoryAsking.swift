import FederationRouting
import PresenceDocuments
import SIPCore

/// Single and batch category SUBSCRIBEs (MS-PRES 2.2.2.4.1, 3.4.5.1.1).
extension UpstreamSubscription {
    func describeCategories(_ request: inout SIPRequest, expires: Int, reliable: Bool) {
        offerNotifications(&request, reliable: reliable)
        request.headers.append(.supported, "eventlist")
        if shape == .batch { request.headers.append(.require, "adhoclist, categoryList") }
        let isInitial = request.headers.toTag == nil
        guard expires > 0 || isInitial else { return }
        request.headers.set(.contentType, WatcherFormat.batchSubscribeType)
        let shown = AnonymousUser.shown(watcher).description
        request.body = BatchSubscribeDocument(
            uri: shown, name: shown, actions: shape == .batch ? batchActions(isInitial) : singleActions
        ).encoded()
    }

    private var singleActions: [BatchSubscribeAction] {
        resources.prefix(1).map {
            BatchSubscribeAction(id: "1", resources: [BatchSubscribeResource(uri: $0.uri.description)], categories: $0.categories)
        }
    }

    /// The first SUBSCRIBE and a refresh without changes name all resources, others only the changed ones, because the state of each named
    /// resource is sent again (MS-PRES 3.4.5.1.3). Resources with the same categories share one action.
    private func batchActions(_ isInitial: Bool) -> [BatchSubscribeAction] {
        let isChange = !isInitial && hasChange
        var actions: [BatchSubscribeAction] = []
        func add(_ name: BatchSubscribeActionName, _ resource: UpstreamResource, _ categories: [CategoryName]) {
            let named = BatchSubscribeResource(uri: resource.uri.description)
            if let place = actions.firstIndex(where: { $0.name == name && $0.categories == categories }) {
                actions[place].resources.append(named)
            } else {
                actions.append(
                    BatchSubscribeAction(name: name, id: String(actions.count + 1), resources: [named], categories: categories))
            }
        }
        var narrowed: [UpstreamResource] = []
        for resource in resources {
            guard let change = isChange ? resource.change : resource.hasSink ? .subscribe : nil else { continue }
            resource.offer(change)
            add(
                change == .subscribe ? .subscribe : .unsubscribe, resource,
                change == .subscribe ? resource.categories : resource.asked ?? [])
            if change == .subscribe, !resource.surplus.isEmpty { narrowed.append(resource) }
        }
        // Unsubscribe last: a presentity without any category left is no longer watched.
        for resource in narrowed { add(.unsubscribe, resource, resource.surplus) }
        return actions
    }
}
