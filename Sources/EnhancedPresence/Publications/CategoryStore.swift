import PresenceDocuments

/// The instances of one presentity by container and category, with the indexes that quotas and resolution need.
///
/// ```
/// pair (category, container) -> instances, by instance number; pairs without instances are removed
/// category                   -> containers that hold it, highest first; bytes over all of them
/// ```
struct CategoryStore: Equatable, Sendable {
    private(set) var instances: [ContainerCategory: [CategoryInstance]] = [:]
    private var containers: [CategoryName: [ContainerID]] = [:]
    private var bytes: [CategoryName: Int] = [:]
    private(set) var count = 0
    /// Number of instances with a deadline.
    private(set) var timeBoundCount = 0

    subscript(id: PublicationID) -> CategoryInstance? {
        guard let held = instances[id.pair] else { return nil }
        let index = Self.place(of: id.instance, in: held)
        return Self.holds(id.instance, at: index, in: held) ? held[index] : nil
    }

    /// The instances of a pair by instance number.
    func instances(of pair: ContainerCategory) -> [CategoryInstance] { instances[pair] ?? [] }

    /// The containers that hold the category, highest number first (MS-PRES 3.2.5.3).
    func containers(holding category: CategoryName) -> [ContainerID] { containers[category] ?? [] }

    /// The pairs with instances, in order.
    var pairs: [ContainerCategory] { instances.keys.sorted() }

    /// Sum of the body sizes of a category over all instances and containers, in bytes (MS-PRES 3.2.5.4).
    func byteCount(of category: CategoryName) -> Int { bytes[category] ?? 0 }

    mutating func put(_ instance: CategoryInstance) {
        let pair = instance.id.pair
        if let index = instances[pair].map({ Self.place(of: instance.id.instance, in: $0) }) {
            if let old = self[instance.id] {
                discount(old)
                instances[pair]?[index] = instance
            } else {
                instances[pair]?.insert(instance, at: index)
            }
        } else {
            instances[pair] = [instance]
            var holders = containers[pair.category] ?? []
            holders.insert(pair.container, at: holders.firstIndex { $0 < pair.container } ?? holders.endIndex)
            containers[pair.category] = holders
        }
        bytes[pair.category, default: 0] += instance.bodyBytes
        count += 1
        if instance.deadline != nil { timeBoundCount += 1 }
    }

    mutating func remove(_ id: PublicationID) {
        let pair = id.pair
        guard let gone = self[id], let index = instances[pair].map({ Self.place(of: id.instance, in: $0) }) else { return }
        discount(gone)
        instances[pair]?.remove(at: index)
        if instances[pair]?.isEmpty == true { release(pair) }
    }

    /// Removes a pair that has no instances left.
    private mutating func release(_ pair: ContainerCategory) {
        instances[pair] = nil
        let left = containers[pair.category]?.filter { $0 != pair.container } ?? []
        containers[pair.category] = left.isEmpty ? nil : left
    }

    /// Removes every instance for which `isEnded` returns true.
    /// - Returns: The pairs that lost an instance.
    mutating func removeAll(where isEnded: (CategoryInstance) -> Bool) -> Set<ContainerCategory> {
        var changed: Set<ContainerCategory> = []
        for (pair, held) in instances {
            let left = held.filter { !isEnded($0) }
            guard left.count < held.count else { continue }
            for instance in held where isEnded(instance) { discount(instance) }
            changed.insert(pair)
            if left.isEmpty { release(pair) } else { instances[pair] = left }
        }
        return changed
    }

    /// The earliest deadline; nil if no instance has one.
    var nextDeadline: DateTime? {
        guard timeBoundCount > 0 else { return nil }
        return instances.values.lazy.flatMap { $0.lazy.compactMap(\.deadline) }.min()
    }

    private mutating func discount(_ instance: CategoryInstance) {
        count -= 1
        if instance.deadline != nil { timeBoundCount -= 1 }
        let left = (bytes[instance.id.category] ?? 0) - instance.bodyBytes
        bytes[instance.id.category] = left > 0 ? left : nil
    }

    /// The index of an instance, or its insertion index, by binary search.
    private static func place(of instance: UInt32, in held: [CategoryInstance]) -> Int {
        var (low, high) = (0, held.count)
        while low < high {
            let middle = (low + high) / 2
            if held[middle].id.instance < instance { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func holds(_ instance: UInt32, at index: Int, in held: [CategoryInstance]) -> Bool {
        index < held.count && held[index].id.instance == instance
    }
}
