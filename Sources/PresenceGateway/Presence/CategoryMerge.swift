import PresenceDocuments

/// The instances of one presentity by category, as one watcher sees them.
///
/// A notification has all instances of each changed category (MS-PRES 3.2.5.3), so what it names replaces what was there.
struct CategoryMerge: Equatable {
    private(set) var names: [CategoryName] = []
    private(set) var instances: [CategoryName: [CategoryElement]] = [:]

    init() {}

    init(_ elements: [CategoryElement]) {
        apply(elements)
    }

    var isEmpty: Bool { names.isEmpty }

    /// Every category that was ever named has its place; one without instance is an empty list.
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

    /// Takes instances away; their categories keep their places.
    mutating func remove(_ ended: Set<CategoryExpiry.Key>) {
        for name in Set(ended.map(\.name)) { instances[name]?.removeAll { ended.contains(CategoryExpiry.Key($0)) } }
    }

    /// All instances of these categories, each category at least by its empty marker (MS-PRES 4.5).
    func elements(of requested: [CategoryName]) -> [CategoryElement] {
        var result: [CategoryElement] = []
        for name in requested {
            let present = instances[name] ?? []
            if present.isEmpty { result.append(CategoryElement(name: name)) } else { result += present }
        }
        return result
    }

    /// The same, with another's instances in the categories that are empty here.
    func filled(from other: CategoryMerge) -> CategoryMerge {
        var result = self
        for name in other.names where result.instances[name]?.isEmpty ?? true {
            if result.instances[name] == nil { result.names.append(name) }
            result.instances[name] = other.instances[name]
        }
        return result
    }

    /// All instances of all categories, without markers.
    var all: [CategoryElement] { names.flatMap { instances[$0] ?? [] } }

    /// The categories among `requested` whose instances differ; the moment of publication alone is no difference.
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
