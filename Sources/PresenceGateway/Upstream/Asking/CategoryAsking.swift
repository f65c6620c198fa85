import PresenceDocuments
import SIPCore

/// Single and batch category SUBSCRIBEs (MS-PRES 2.2.2.4.1, 3.4.5.1.1).
extension UpstreamSubscription {
    func describeCategories(_ request: inout SIPRequest, expires: Int, reliable: Bool) {
        offerNotifications(&request, reliable: reliable)
        request.headers.append(.supported, "eventlist")
        if shape == .batch { request.headers.append(.require, "adhoclist, categoryList") }
        guard expires > 0 || request.headers.toTag == nil else { return }
        request.headers.set(.contentType, WatcherFormat.batchSubscribeType)
        // One action for all that want the same.
        var actions: [BatchSubscribeAction] = []
        for resource in resources {
            let named = BatchSubscribeResource(uri: resource.uri.description)
            if let place = actions.firstIndex(where: { $0.categories == resource.categories }) {
                actions[place].resources.append(named)
            } else {
                actions.append(BatchSubscribeAction(id: String(actions.count + 1), resources: [named], categories: resource.categories))
            }
        }
        request.body = BatchSubscribeDocument(uri: watcher.description, name: watcher.description, actions: actions).encoded()
    }
}
