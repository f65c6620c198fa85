import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore

/// Content of the document that is published at the compositor.
extension PIDFBridge {
    /// UUIDs of the endpoints on which a published instance depends, in lower case.
    var endpoints: Set<String> {
        Set(
            enhanced.pairs.flatMap { enhanced.instances(of: $0) }.compactMap {
                $0.expireType == .endpoint ? $0.endpointID?.lowercased() : nil
            })
    }

    /// Elements for the compositor. Each category is taken as colleagues see it, because the compositor's domain decides about its own
    /// watchers; if nothing is published for colleagues, as a watcher in the domain's network would see it. Containers for smaller groups,
    /// the user or blocked watchers are ignored. legacyInterop replaces a missing state (MS-PRES 3.7.5.1).
    func shown(to network: DomainNetwork) -> [CategoryElement] {
        guard isPublished else { return [] }
        func identity(_ network: DomainNetwork) -> WatcherIdentity {
            WatcherIdentity(uri: "sip:anonymous.invalid", network: SourceNetwork(rawValue: network.rawValue))
        }
        let watcher = identity(network)
        let names = UpstreamSubscription.standardCategories
        let colleagues = enhanced.view(of: names, for: identity(.sameEnterprise)).categories
        let others = enhanced.view(of: names, for: watcher).categories
        var elements = zip(colleagues, others).flatMap { inside, outside in
            let isForColleagues = inside.resolution.container.map { $0 != .default } ?? false
            return (isForColleagues && !inside.instances.isEmpty ? inside : outside).instances.map(\.watcherElement)
        }
        if !elements.contains(where: { $0.name == .state }), let legacy = enhanced.legacyInterop(for: watcher) {
            elements.append(legacy.watcherElement)
        }
        return elements.map { element in
            var element = element
            if let body = element.body, let read = try? body.read(as: element.name) { element.body = read }
            return element
        }
    }
}
