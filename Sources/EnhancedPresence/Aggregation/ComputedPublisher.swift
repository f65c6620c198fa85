import PresenceDocuments
import XMLCore

/// Writes computed instances into the store, each only when it says something new (MS-PRES 3.8.5.1.1, 3.8.5.2.1).
struct ComputedPublisher {
    /// publishTime of what is written: that of the publication that started the computation.
    let time: DateTime
    private(set) var changed: Set<ContainerCategory> = []
    /// What was made so far: several containers get the same document, and share it.
    private var made: [[UInt8]: XMLFragment] = [:]

    init(time: DateTime) { self.time = time }

    /// - Parameter document: Nil when there is nothing to be published.
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

    /// Withdraws what was computed before; what a client published there stays.
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

    /// Whether two bodies say the same; a restored one may be written differently.
    private static func same(_ old: XMLFragment?, _ new: XMLFragment, as category: CategoryName) -> Bool {
        guard let old else { return false }
        if old == new { return true }
        guard let one = try? CategoryBody.raw(old).read(as: category), let other = try? CategoryBody.raw(new).read(as: category) else {
            return false
        }
        return one == other
    }
}
