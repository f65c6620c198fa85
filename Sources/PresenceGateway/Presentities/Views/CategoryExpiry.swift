import PresenceDocuments
import SIPCore

/// Expiry times of notified category instances; a notifier need not notify their end (MS-PRES 2.2.2.1).
struct CategoryExpiry {
    /// Identifies an instance.
    struct Key: Hashable {
        let name: CategoryName
        let container: ContainerID?
        let instance: UInt32

        init(_ element: CategoryElement) {
            name = element.name
            container = element.container
            instance = element.instance ?? 0
        }
    }

    private var endings: [Key: Instant] = [:]

    /// Time of the next expiry; nil: none.
    var next: Instant? { endings.values.min() }

    /// Records the expiry of a document's instances, replacing the records of every category that it names.
    /// - Returns: the elements for watchers: without lifetimes (MS-PRES 3.2.5.3) and without expired instances.
    mutating func take(_ elements: [CategoryElement], at now: Instant) -> [CategoryElement] {
        let named = Set(elements.map(\.name))
        if !endings.isEmpty { endings = endings.filter { !named.contains($0.key.name) } }
        return elements.map { element in
            guard let seconds = element.expires, element.expireType ?? .time == .time else { return element }
            // An expires of 0 means that the instance is deleted (MS-PRES 2.2.2.1).
            guard seconds > 0 else { return CategoryElement(name: element.name) }
            endings[Key(element)] = now + .seconds(Int(clamping: min(seconds, Self.longest)))
            var element = element
            element.expires = nil
            element.expireType = nil
            return element
        }
    }

    /// Removes and returns the expired instances.
    mutating func ended(at now: Instant) -> Set<Key> {
        let over = endings.filter { $0.value <= now }
        for key in over.keys { endings[key] = nil }
        return Set(over.keys)
    }

    /// Longest lifetime in seconds: ten years.
    private static let longest: Int64 = 315_360_000
}
