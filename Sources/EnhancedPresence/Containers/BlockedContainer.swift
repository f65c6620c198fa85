import PresenceDocuments
import XMLCore

extension ContainerID {
    /// Where a user puts those whom he blocks (product convention, MS-PRES 4.4.2). To the server it is a container like any other.
    public static let blocked = ContainerID(32_000) ?? .default
}

extension EnhancedPresentity {
    /// Publishes what a blocked watcher is to see, where the user's client has published nothing: somebody who is not there (MS-PRES 4.4.2).
    ///
    /// A watcher is only kept out of a category by a container that holds it (MS-PRES 3.2.5.3). Clients are meant to fill the
    /// container for blocked watchers when they sign in for the first time; not all of them do, and then a block would have no effect.
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
        (.state, try? XMLFragment(parsing: Array(offline.utf8))),
        (.legacyInterop, LegacyInteropDocument(availability: 18_500).fragment),
        (.services, try? XMLFragment(parsing: Array("<services xmlns=\"http://schemas.microsoft.com/2006/09/sip/service\"/>".utf8))),
        (.note, nil),
        (.calendarData, nil),
    ]

    private static let offline = """
        <state xmlns="http://schemas.microsoft.com/2006/09/sip/state" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
        manual="false" xsi:type="aggregateState"><availability>18500</availability></state>
        """
}
