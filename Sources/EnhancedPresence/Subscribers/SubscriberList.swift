import PresenceDocuments
import XMLCore

/// Subscribers of a user that clients list and acknowledge (MS-PRES 1.3.1.4, 3.6.1 SubscriberSet).
///
/// ```
/// category subscription with a context --> listed, not acknowledged --setSubscribers--> gone
/// MSRTC or PIDF subscription ------------> listed, not acknowledged --setSubscribers--> listed, acknowledged
/// ```
public struct SubscriberList: Hashable, Sendable {
    /// The kind of subscription that lists a subscriber.
    public enum Subscription: Hashable, Sendable {
        /// A category subscription with a context element in its resource, and the content of that element, if any.
        case category(context: XMLFragment?)
        /// An MSRTC or PIDF subscription, which has no context: the entry is kept after acknowledgement, because otherwise each new
        /// subscription would list the subscriber again (MS-PRES 3.6.5.1, 3.7.5.3).
        case withoutContext
    }

    /// One subscriber (MS-PRES 3.6.1 SubscriberEntry).
    public struct Entry: Hashable, Sendable {
        /// The address of the subscriber.
        public let address: PresenceAddress
        /// The display name, or the address if the subscription had none.
        public var displayName: String
        /// Whether the user has acknowledged the subscriber.
        public var isAcknowledged: Bool
        /// The network of the subscriber; nil if a document did not state it.
        public var type: SubscriberType?
        /// Content of the context of the subscription; nil if there was none.
        public var context: XMLFragment?
        /// Whether the entry is kept after acknowledgement.
        public var isKept: Bool
    }

    private var byAddress: [PresenceAddress: Entry] = [:]
    private var order: [PresenceAddress] = []
    /// Sum of the sizes of all contexts in bytes.
    public private(set) var contextBytes = 0

    /// Creates an empty list.
    public init() {}

    /// Number of entries.
    public var count: Int { order.count }
    /// Whether the list has no entries.
    public var isEmpty: Bool { order.isEmpty }

    /// The entries in the order in which they subscribed.
    public var entries: [Entry] { order.compactMap { byAddress[$0] } }

    /// The entry of a subscriber; nil if the address is not listed.
    public subscript(address: PresenceAddress) -> Entry? { byAddress[address] }

    /// The complete list for self dialogs (MS-PRES 1.3.1.4, 3.6.5.2).
    public var document: SubscribersDocument { SubscribersDocument(subscribers: entries.map(\.element)) }

    mutating func append(_ entry: Entry) {
        guard byAddress[entry.address] == nil else { return }
        byAddress[entry.address] = entry
        order.append(entry.address)
        contextBytes += entry.context?.source.count ?? 0
    }

    mutating func keep(_ address: PresenceAddress) { byAddress[address]?.isKept = true }

    mutating func acknowledge(_ address: PresenceAddress, removes: Bool) {
        guard let entry = byAddress[address] else { return }
        guard removes, !entry.isKept else {
            byAddress[address]?.isAcknowledged = true
            return
        }
        byAddress[address] = nil
        order.removeAll { $0 == address }
        contextBytes -= entry.context?.source.count ?? 0
    }
}

extension SubscriberList.Entry {
    var element: SubscriberElement {
        SubscriberElement(user: address.text, displayName: displayName, acknowledged: isAcknowledged, type: type, context: context)
    }
}

// MARK: Storage

extension SubscriberList {
    private static let kept = XMLName("kept", in: XMLNamespace("urn:isthmus:xml:ns:subscribers"))

    /// ``document`` with a private attribute on entries that outlive their acknowledgement.
    public var storedDocument: SubscribersDocument {
        SubscribersDocument(
            subscribers: entries.map { entry in
                var element = entry.element
                if entry.isKept {
                    element.attributes = [
                        XMLAttribute(
                            namespace: Self.kept.namespace.uri, prefix: "isthmus", localName: Self.kept.localName, value: "true")
                    ]
                }
                return element
            })
    }

    /// Creates the list of a ``storedDocument``. An acknowledged entry counts as kept, since others are removed on acknowledgement.
    public init(_ document: SubscribersDocument) {
        for element in document.subscribers {
            let isMarked = element.attributes.contains {
                $0.namespace == Self.kept.namespace.uri && $0.localName == Self.kept.localName
            }
            append(
                Entry(
                    address: PresenceAddress(element.user), displayName: element.displayName, isAcknowledged: element.acknowledged,
                    type: element.type, context: element.context, isKept: isMarked || element.acknowledged))
        }
    }
}
