import PresenceDocuments
import XMLCore

/// A category instance that the server publishes for a user (MS-PRES 3.2.6.2), with expireType static.
package struct ServerPublication: Hashable, Sendable {
    /// The category, such as `contactCard`.
    package var category: CategoryName
    /// The container that holds the instance.
    package var container: ContainerID
    /// The instance number; 0 by default.
    package var instance: UInt32
    /// The content of the instance.
    package var body: XMLFragment

    /// Creates a publication.
    package init(category: CategoryName, container: ContainerID, instance: UInt32 = 0, body: XMLFragment) {
        self.category = category
        self.container = container
        self.instance = instance
        self.body = body
    }
}

extension DirectoryUser {
    /// The category instances that the server publishes for the user, by the table of MS-PRES 3.2.6.2.
    ///
    /// The contact card is the same in every container, the one for blocked watchers included, so that a watcher cannot
    /// tell from it which container applies.
    package var serverPublications: [ServerPublication] {
        var publications: [ServerPublication] = []
        if let card = card.fragment {
            publications += Self.cardContainers.map { ServerPublication(category: .contactCard, container: $0, body: card) }
        }
        if let offline = LegacyInteropDocument(availability: 18_500).fragment {
            publications.append(ServerPublication(category: .legacyInterop, container: .blocked, body: offline))
        }
        if let properties = properties.fragment {
            publications.append(ServerPublication(category: .userProperties, container: .publisherOnly, body: properties))
        }
        return publications
    }

    private static let cardContainers: [ContainerID] = [0, 100, 200, 300, 400].compactMap { ContainerID($0) } + [.blocked]

    private var card: ContactCardDocument {
        ContactCardDocument(
            identities: [
                ContactIdentity(displayNames: [LocalizedText(displayName)], emails: email.map { [ContactURI($0)] } ?? [])
            ])
    }

    private var properties: UserPropertiesDocument {
        UserPropertiesDocument(
            lines: self[.lineURI].map { [UserPropertiesDocument.Line($0, type: "Uc")] } ?? [],
            telephonyMode: self[.lineURI] == nil ? nil : "Uc", facsimileTelephoneNumber: self[.fax], streetAddress: self[.street],
            city: self[.city], state: self[.state], countryCode: self[.country], postalCode: self[.postalCode],
            webPage: self[.webPage])
    }
}

extension ContainerID {
    /// Container of blocked watchers (MS-PRES 4.4.2).
    fileprivate static let blocked = ContainerID(32_000) ?? .default
    /// Container that only the user's own endpoints see (MS-PRES 4.4.2).
    fileprivate static let publisherOnly = ContainerID(1) ?? .default
}
