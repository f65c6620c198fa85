import EnhancedPresence
import PresenceDocuments

/// Key of an instance in store records.
extension PublicationID {
    /// `CONTAINER/INSTANCE/CATEGORY`.
    var stored: String { "\(container)/\(instance)/\(category.rawValue)" }

    init?(stored: String) {
        let parts = stored.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let container = Int(parts[0]).flatMap({ ContainerID($0) }), let instance = UInt32(parts[1]) else {
            return nil
        }
        self.init(category: CategoryName(rawValue: String(parts[2])), container: container, instance: instance)
    }
}
