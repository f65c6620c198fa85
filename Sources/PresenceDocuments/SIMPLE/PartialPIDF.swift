import XMLCore

/// Partial presence (RFC 5262): documents that a notifier sends in place of whole PIDF documents (RFC 5263 4.4).
///
/// A difference replaces, adds or removes whole components (tuples, persons, devices, notes, extensions) by XML patch operations
/// (RFC 5261). Selectors begin with `*`, so that they apply to a copy with the root `presence` or `pidf-full`. The version belongs
/// to a subscription and is added last, so that one value serves all watchers of a presentity.
public struct PartialPIDF: Sendable {
    private enum Content: Sendable {
        case full([XMLFragment])
        case difference([Operation])
    }

    private var attributes: [XMLAttribute]
    private var prefixes = Prefixes()
    private var content: Content

    /// Creates a full document from a PIDF document; its root is `pidf-full`.
    public init(full document: XMLElement) {
        let parts = document.children.map { $0.fragment() }
        attributes = document.attributes
        prefixes.note(parts)
        content = .full(parts)
    }

    /// Creates the operations that turn one PIDF document into another; the root is `pidf-diff`.
    ///
    /// nil if operations cannot express it (another entity, reordered or ambiguous components) or are not shorter than the new
    /// document; send ``init(full:)`` then.
    public init?(from old: XMLElement, to new: XMLElement) {
        guard old.attributes == new.attributes, let before = Self.components(of: old), let after = Self.components(of: new) else {
            return nil
        }
        attributes = new.attributes.filter { $0.namespace.isEmpty && $0.localName == "entity" }
        prefixes.note(after.map(\.fragment))
        content = .difference([])
        guard let operations = operations(from: before, to: after) else { return nil }
        content = .difference(operations)
        guard encoded(version: .max).count < new.sourceBytes.count else { return nil }
    }

    /// Encodes the document.
    /// - Parameter version: From 1, incremented with every partial document of a subscription (RFC 5263 4.4).
    public func encoded(version: UInt32) -> [UInt8] {
        var writer = XMLWriter(declaration: true)
        switch content {
        case .full: writer.start("p:pidf-full")
        case .difference: writer.start("p:pidf-diff")
        }
        prefixes.declare(in: &writer)
        for attribute in attributes { writer.attribute(attribute) }
        writer.attribute("version", String(version))
        switch content {
        case .full(let parts):
            for part in parts { writer.fragment(part) }
        case .difference(let operations):
            for operation in operations {
                writer.start("p:" + operation.name)
                writer.attribute("sel", operation.selector)
                writer.attribute("pos", ifPresent: operation.position)
                if let content = operation.content { writer.fragment(content) }
                writer.end()
            }
        }
        return writer.finish()
    }

    private mutating func operations(from before: [Component], to after: [Component]) -> [Operation]? {
        let known = Set(before.map(\.key))
        let kept = Set(after.map(\.key)).intersection(known)
        guard before.map(\.key).filter(kept.contains) == after.map(\.key).filter(kept.contains) else { return nil }
        var operations: [Operation] = []
        // From the end, so that the positions of earlier elements do not change.
        for component in before.reversed() where !kept.contains(component.key) {
            guard let selector = prefixes.selector(component.key) else { return nil }
            operations.append(Operation(name: "remove", selector: selector))
        }
        let contents = [Key: XMLFragment](uniqueKeysWithValues: before.map { ($0.key, $0.fragment) })
        var previous: Key?
        for component in after {
            defer { previous = component.key }
            guard let selector = prefixes.selector(component.key) else { return nil }
            if let content = contents[component.key] {
                guard content.bytes != component.fragment.bytes else { continue }
                operations.append(Operation(name: "replace", selector: selector, content: component.fragment))
            } else if let previous {
                guard let place = prefixes.selector(previous) else { return nil }
                operations.append(Operation(name: "add", selector: place, position: "after", content: component.fragment))
            } else {
                operations.append(Operation(name: "add", selector: "*", position: "prepend", content: component.fragment))
            }
        }
        return operations
    }

    // MARK: components

    /// Identity of a component for selectors: its `id`, or its position among elements with the same name.
    private struct Key: Hashable {
        var namespace: String
        var localName: String
        var id: String?
        var place = 0
    }

    private struct Component {
        var key: Key
        var fragment: XMLFragment
    }

    private struct Operation: Sendable {
        var name: String
        var selector: String
        var position: String?
        var content: XMLFragment?
    }

    /// Children of a document; nil if two have the same key, or if there is text between them.
    private static func components(of document: XMLElement) -> [Component]? {
        guard document.trimmedText.isEmpty else { return nil }
        var places: [Key: Int] = [:]
        var result: [Component] = []
        var seen: Set<Key> = []
        for child in document.children {
            var key = Key(namespace: child.namespace, localName: child.localName, id: child.attribute("id"))
            if key.id == nil {
                let like = key
                places[like, default: 0] += 1
                key.place = places[like] ?? 1
            }
            guard seen.insert(key).inserted else { return nil }
            result.append(Component(key: key, fragment: child.fragment()))
        }
        // A position counts all elements with that name, so elements with and without ids do not mix.
        let byID = Set(result.filter { $0.key.id != nil }.map { $0.key.namespace + " " + $0.key.localName })
        guard !result.contains(where: { $0.key.id == nil && byID.contains($0.key.namespace + " " + $0.key.localName) }) else { return nil }
        return result
    }

    /// Prefixes declared on the root; selectors and components share them (RFC 5261 4.2).
    private struct Prefixes: Sendable {
        private var declared: [XMLFragment.Declaration] = [
            .init(prefix: "", uri: XMLNamespace.pidf.uri), .init(prefix: "p", uri: XMLNamespace.pidfDiff.uri),
        ]

        /// Adds the prefixes of the components, unless they are declared otherwise.
        mutating func note(_ fragments: [XMLFragment]) {
            for declaration in fragments.flatMap(\.inherited) where !declared.contains(where: { $0.prefix == declaration.prefix }) {
                declared.append(declaration)
            }
        }

        func declare(in writer: inout XMLWriter) {
            for declaration in declared { writer.namespace(declaration.prefix, declaration.uri) }
        }

        /// Selector of a component; nil if its id contains both kinds of quotes, or if it is in no namespace.
        mutating func selector(_ key: Key) -> String? {
            guard !key.namespace.isEmpty else { return nil }
            var name = key.localName
            if key.namespace != XMLNamespace.pidf.uri {
                if let known = declared.first(where: { !$0.prefix.isEmpty && $0.uri == key.namespace }) {
                    name = known.prefix + ":" + name
                } else {
                    var prefix = "n1"
                    while declared.contains(where: { $0.prefix == prefix }) { prefix += "_" }
                    declared.append(.init(prefix: prefix, uri: key.namespace))
                    name = prefix + ":" + name
                }
            }
            guard let id = key.id else { return "*/\(name)[\(key.place)]" }
            if !id.contains("'") { return "*/\(name)[@id='\(id)']" }
            return id.contains("\"") ? nil : "*/\(name)[@id=\"\(id)\"]"
        }
    }
}
