import PresenceDocuments
import XMLCore

extension ContainerID {
    /// Container 32000, in which a user puts blocked watchers (product convention, MS-PRES 4.4.2).
    public static let blocked = ContainerID(32_000) ?? .default
}

extension ContainerResolver {
    /// The container in which the memberships place a watcher, whatever the containers hold: the first rule that finds the watcher, and
    /// its highest container (MS-PRES 3.2.5.3). Nil: no container but the default one.
    public func place(of watcher: WatcherIdentity) -> ContainerResolution? {
        for rule in ResolutionRule.inOrder {
            let highest = memberships.keys.lazy.filter { matches(rule, $0, watcher) }.max()
            if let highest { return ContainerResolution(container: highest, rule: rule) }
        }
        return nil
    }

    /// Whether a watcher is blocked: the memberships place it in container 32000 (MS-PRES 4.4.2).
    public func isBlocked(_ watcher: WatcherIdentity) -> Bool {
        // Most users block no watcher.
        guard let blocked = memberships[.blocked], !blocked.members.isEmpty else { return false }
        return place(of: watcher)?.container == .blocked
    }
}

extension EnhancedPresentity {
    /// The containers that can decide about a category, highest number first: those that hold it (MS-PRES 3.2.5.3), and container 32000
    /// as soon as it has a member.
    ///
    /// Without the addition a block would hold for those categories only that the user's client has published there, and a contact card
    /// for colleagues would reach a blocked watcher.
    func candidates(for category: CategoryName) -> [ContainerID] {
        var holders = store.containers(holding: category)
        guard memberships[.blocked]?.members.isEmpty == false, !holders.contains(.blocked) else { return holders }
        holders.insert(.blocked, at: holders.firstIndex { $0 < .blocked } ?? holders.endIndex)
        return holders
    }
}

extension EnhancedPresentity {
    /// Fills container 32000, where the user's client has published nothing there, with the values of an offline user (MS-PRES 4.4.2).
    ///
    /// Clients are meant to fill the container when they sign in for the first time, and look for it in their own data. No watcher is
    /// shown these values: what a blocked watcher sees follows from ``signedOff(at:)`` and from what is published for every user.
    /// - Returns: An empty change while the container has no member, or when it holds everything.
    public mutating func publishBlockedDefaults(at now: DateTime) -> PresentityChange {
        var change = PresentityChange()
        guard !membership(of: .blocked).members.isEmpty else { return change }
        for (category, body) in Self.blockedDefaults {
            let id = PublicationID(category: category, container: .blocked, instance: 0)
            guard instances(of: id.pair).isEmpty else { continue }
            change.formUnion(publishByServer(id, body: body, at: now))
        }
        return change
    }

    private static let blockedDefaults: [(CategoryName, XMLFragment?)] = [
        (.state, offlineBodies[.state] ?? nil), (.legacyInterop, offlineBodies[.legacyInterop] ?? nil),
        (.services, try? XMLFragment(parsing: Array("<services xmlns=\"http://schemas.microsoft.com/2006/09/sip/service\"/>".utf8))),
        (.note, nil),
        (.calendarData, nil),
    ]

    /// The bodies of the categories that say whether a user is there, for an offline user.
    static let offlineBodies: [CategoryName: XMLFragment?] = [
        .state: try? XMLFragment(parsing: Array(offline.utf8)), .legacyInterop: LegacyInteropDocument(availability: 18_500).fragment,
    ]

    private static let offline = """
        <state xmlns="http://schemas.microsoft.com/2006/09/sip/state" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
        manual="false" xsi:type="aggregateState"><availability>18500</availability></state>
        """
}

extension WatcherView {
    /// The same, where a category that container 32000 decides about shows other instances than those in there.
    public func showingBlockedCategories(_ instances: (CategoryName) -> [CategoryInstance]) -> WatcherView {
        guard categories.contains(where: { $0.resolution.container == .blocked }) else { return self }
        return WatcherView(
            uri: uri,
            categories: categories.map { category in
                guard category.resolution.container == .blocked else { return category }
                return Category(name: category.name, resolution: category.resolution, instances: instances(category.name))
            })
    }
}
