import PresenceDocuments

/// The category instances of one presentity for one watcher.
///
/// A notification has all instances of each changed category (MS-PRES 3.2.5.3), so it replaces the categories that it names.
struct CategoryMerge: Equatable {
    private(set) var names: [CategoryName] = []
    private(set) var instances: [CategoryName: [CategoryElement]] = [:]

    init() {}

    init(_ elements: [CategoryElement]) {
        apply(elements)
    }

    var isEmpty: Bool { names.isEmpty }

    /// Replaces the named categories. Their order is that of the first naming; a category without instances stays as an empty list.
    mutating func apply(_ elements: [CategoryElement]) {
        var fresh: [CategoryName: [CategoryElement]] = [:]
        for element in elements {
            if fresh[element.name] == nil {
                fresh[element.name] = []
                if instances[element.name] == nil { names.append(element.name) }
            }
            if !element.isEmptyMarker { fresh[element.name, default: []].append(element) }
        }
        instances.merge(fresh) { $1 }
    }

    /// Removes instances; their categories stay in the order.
    mutating func remove(_ ended: Set<CategoryExpiry.Key>) {
        for name in Set(ended.map(\.name)) { instances[name]?.removeAll { ended.contains(CategoryExpiry.Key($0)) } }
    }

    /// All instances of the requested categories; an empty marker for a category without instances (MS-PRES 4.5).
    func elements(of requested: [CategoryName]) -> [CategoryElement] {
        var result: [CategoryElement] = []
        for name in requested {
            let present = instances[name] ?? []
            if present.isEmpty { result.append(CategoryElement(name: name)) } else { result += present }
        }
        return result
    }

    /// A copy with the empty categories filled from `other`.
    func filled(from other: CategoryMerge) -> CategoryMerge {
        var result = self
        for name in other.names where result.instances[name]?.isEmpty ?? true {
            if result.instances[name] == nil { result.names.append(name) }
            result.instances[name] = other.instances[name]
        }
        return result
    }

    /// All instances of all categories, without empty markers.
    var all: [CategoryElement] { names.flatMap { instances[$0] ?? [] } }

    /// The categories among `requested` that differ in more than the publish time.
    func changes(since previous: CategoryMerge, among requested: [CategoryName]) -> [CategoryName] {
        requested.filter { name in
            let now = instances[name] ?? []
            let then = previous.instances[name] ?? []
            if now.count != then.count { return true }
            return !zip(now, then).allSatisfy { Self.sameValue($0, $1) }
        }
    }

    private static func sameValue(_ one: CategoryElement, _ other: CategoryElement) -> Bool {
        var one = one
        one.publishTime = other.publishTime
        return one == other
    }
}
