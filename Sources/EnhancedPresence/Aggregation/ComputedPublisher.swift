import PresenceDocuments
import XMLCore

/// Writes computed instances into the store, each only if its content changed (MS-PRES 3.8.5.1.1, 3.8.5.2.1).
struct ComputedPublisher {
    /// publishTime of written instances: that of the publication that caused the computation.
    let time: DateTime
    private(set) var changed: Set<ContainerCategory> = []
    /// Parsed bodies by bytes, so that several containers share one document.
    private var made: [[UInt8]: XMLFragment] = [:]

    init(time: DateTime) { self.time = time }

    /// Writes a document if its content or lifetime differs from the stored instance.
    /// - Parameter document: nil removes the computed instance.
    mutating func put(_ document: (some MSRTCDocument)?, _ id: PublicationID, _ expireType: ExpireType, in store: inout CategoryStore) {
        guard let document, let body = fragment(of: document.encoded()) else {
            remove(id, from: &store)
            return
        }
        let current = store[id]
        if var current, current.expireType == expireType, Self.same(current.body, body, as: id.category) {
            guard !current.isComputed else { return }
            current.isComputed = true
            store.put(current)
            return
        }
        store.put(
            CategoryInstance(
                id: id, version: CategoryInstance.successor(of: current?.version ?? 0), publishTime: time, expireType: expireType,
                body: body, isComputed: true))
        changed.insert(id.pair)
    }

    /// Removes a computed instance; an instance published by a client is kept.
    mutating func remove(_ id: PublicationID, from store: inout CategoryStore) {
        guard store[id]?.isComputed == true else { return }
        store.remove(id)
        changed.insert(id.pair)
    }

    private mutating func fragment(of bytes: [UInt8]) -> XMLFragment? {
        if let fragment = made[bytes] { return fragment }
        let fragment = try? XMLFragment(parsing: bytes)
        made[bytes] = fragment
        return fragment
    }

    /// Whether two bodies have equal content; a restored body may be serialized differently.
    private static func same(_ old: XMLFragment?, _ new: XMLFragment, as category: CategoryName) -> Bool {
        guard let old else { return false }
        if old == new { return true }
        guard let one = try? CategoryBody.raw(old).read(as: category), let other = try? CategoryBody.raw(new).read(as: category) else {
            return false
        }
        return one == other
    }
}
