import PresenceDocuments
import XMLCore

extension ContainerID {
    /// Container 32000, which holds blocked watchers as members (product convention, MS-PRES 4.4.2).
    public static let blocked = ContainerID(32_000) ?? .default
}

extension ContainerResolver {
    /// The container that the memberships assign to a watcher, independent of published categories: the highest container of the
    /// first matching rule (MS-PRES 3.2.5.3). Nil if only the default container applies.
    public func place(of watcher: WatcherIdentity) -> ContainerResolution? {
        for rule in ResolutionRule.inOrder {
            let highest = memberships.keys.lazy.filter { matches(rule, $0, watcher) }.max()
            if let highest { return ContainerResolution(container: highest, rule: rule) }
        }
        return nil
    }

    /// Whether a watcher is blocked: the memberships assign container 32000 (MS-PRES 4.4.2).
    public func isBlocked(_ watcher: WatcherIdentity) -> Bool {
        // Fast path: most users block no watcher.
        guard let blocked = memberships[.blocked], !blocked.members.isEmpty else { return false }
        return place(of: watcher)?.container == .blocked
    }
}

extension EnhancedPresentity {
    /// The candidate containers for a category, highest number first: those that hold it (MS-PRES 3.2.5.3), and container 32000 if it
    /// has a member.
    ///
    /// Without container 32000, a block would cover only categories that the client has published there, and a blocked watcher would
    /// receive, for example, the contact card for colleagues.
    func candidates(for category: CategoryName) -> [ContainerID] {
        var holders = store.containers(holding: category)
        guard memberships[.blocked]?.members.isEmpty == false, !holders.contains(.blocked) else { return holders }
        holders.insert(.blocked, at: holders.firstIndex { $0 < .blocked } ?? holders.endIndex)
        return holders
    }
}

extension EnhancedPresentity {
    /// Publishes the values of an offline user to container 32000, for each category that the client has not published there (MS-PRES
    /// 4.4.2).
    ///
    /// Clients fill the container at the first sign-in and look for it in their own data. Watchers do not see these values: a blocked
    /// watcher sees the result of ``signedOff(at:)`` and publications for all users.
    /// - Returns: An empty change if the container has no member or already holds every category.
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

    /// Bodies of an offline user for the categories that express availability.
    static let offlineBodies: [CategoryName: XMLFragment?] = [
        .state: try? XMLFragment(parsing: Array(offline.utf8)), .legacyInterop: LegacyInteropDocument(availability: 18_500).fragment,
    ]

    private static let offline = """
        <state xmlns="http://schemas.microsoft.com/2006/09/sip/state" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
        manual="false" xsi:type="aggregateState"><availability>18500</availability></state>
        """
}

extension WatcherView {
    /// Replaces the instances of categories that are resolved to container 32000.
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
