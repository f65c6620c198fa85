import PresenceDocuments
import XMLCore

/// Who subscribed to a user, as far as the user has to be told (MS-PRES 1.3.1.4, 3.6.1 SubscriberSet).
///
/// ```
/// category subscription with a context --> listed, not acknowledged --setSubscribers--> gone
/// MSRTC or PIDF subscription ------------> listed, not acknowledged --setSubscribers--> listed, acknowledged
/// ```
public struct SubscriberList: Hashable, Sendable {
    /// What brings a subscriber onto the list.
    public enum Subscription: Hashable, Sendable {
        /// A category subscription whose resource has a context element, with the content of that element if there is any.
        case category(context: XMLFragment?)
        /// An MSRTC or PIDF subscription, which cannot carry a context: its entry stays, or the user would be told about it every
        /// time (MS-PRES 3.6.5.1, 3.7.5.3).
        case withoutContext
    }

    /// One subscriber (MS-PRES 3.6.1 SubscriberEntry).
    public struct Entry: Hashable, Sendable {
        public let address: PresenceAddress
        public var displayName: String
        public var isAcknowledged: Bool
        public var type: SubscriberType?
        /// Content of the context of the subscription.
        public var context: XMLFragment?
        /// Whether acknowledging leaves the entry in place.
        public var isKept: Bool
    }

    private var byAddress: [PresenceAddress: Entry] = [:]
    private var order: [PresenceAddress] = []
    /// Bytes of all contexts together.
    public private(set) var contextBytes = 0

    public init() {}

    public var count: Int { order.count }
    public var isEmpty: Bool { order.isEmpty }

    /// In the order in which they subscribed.
    public var entries: [Entry] { order.compactMap { byAddress[$0] } }

    public subscript(address: PresenceAddress) -> Entry? { byAddress[address] }

    /// What self dialogs see: always everybody (MS-PRES 1.3.1.4, 3.6.5.2).
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

// MARK: for a store

extension SubscriberList {
    private static let kept = XMLName("kept", in: XMLNamespace("urn:isthmus:xml:ns:subscribers"))

    /// ``document`` with what a store must not forget and a client need not know: which entries outlive their acknowledgement.
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

    /// The list as it was when ``storedDocument`` was made of it. An acknowledged entry that is still there was one to be kept.
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
