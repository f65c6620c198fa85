import PresenceDocuments
import XMLCore

/// Filter with parsed expressions, ready to be applied to presence documents.
public struct CompiledFilter: Hashable, Sendable {
    /// Reduction of documents; equal for watchers that can share a view.
    public let content: ContentFilter
    /// Changes that cause a notification; empty for each change of the content.
    let triggers: [CompiledTrigger]

    /// Whether only some changes cause a notification.
    public var hasTriggers: Bool { !triggers.isEmpty }

    /// Parses the expressions of a filter.
    ///
    /// - Throws: ``FilterError`` that names the filter, the expression and the place in it.
    public init(
        _ filter: SimpleFilter, bindings: [SimpleFilterDocument.Binding], limits: FilterLimits = .standard
    ) throws(FilterError) {
        let namespaces = Dictionary(bindings.map { ($0.prefix, $0.namespace) }, uniquingKeysWith: { first, _ in first })
        let counts = filter.triggers.map { $0.changes.count + $0.additions.count + $0.removals.count }
        let count = counts.reduce(0, +) + (filter.what.map { $0.includes.count + $0.excludes.count } ?? 0)
        do throws(FilterError) {
            guard count <= limits.expressions else {
                throw FilterError(.limit, "RFC 4661 3.4: there are \(count) expressions, more than the \(limits.expressions) allowed")
            }
            guard !counts.contains(0) else { throw FilterError(.expression, "RFC 4661 3.6: trigger without changed, added or removed") }
            func parsed(_ selections: [FilterSelection]) throws(FilterError) -> Set<ContentFilter.Selector> {
                var result: Set<ContentFilter.Selector> = []
                for selection in selections {
                    switch selection.kind {
                    case .namespace: result.insert(.namespace(selection.text))
                    case .xpath: result.insert(.expression(try FilterExpression(selection.text, bindings: namespaces, limits: limits)))
                    }
                }
                return result
            }
            content = ContentFilter(includes: try parsed(filter.what?.includes ?? []), excludes: try parsed(filter.what?.excludes ?? []))
            var triggers: [CompiledTrigger] = []
            for trigger in filter.triggers { triggers.append(try CompiledTrigger(trigger, namespaces, limits)) }
            self.triggers = triggers
        } catch {
            throw FilterError(error.code, "filter '\(filter.id.prefix(60))': \(error.message)")
        }
    }

    /// Content of a PIDF document; nil if nothing is selected, which is notified with an empty body (RFC 4660 5.3.1).
    ///
    /// - Throws: ``PresenceDocuments/DocumentError`` if the octets are no presence document.
    public func content(of octets: [UInt8]) throws(DocumentError) -> [UInt8]? { try content.content(of: octets) }

    /// Whether the change from one PIDF document to the next is to be notified.
    ///
    /// The first document is notified in any case. Without triggers each change of the content is; documents that cannot be read are
    /// compared by their octets.
    public func isTriggered(from old: [UInt8]?, to new: [UInt8]) -> Bool {
        guard let old else { return true }
        guard old != new else { return false }
        do throws(DocumentError) {
            if triggers.isEmpty { return try content(of: old) != content(of: new) }
            let change = DocumentChange(from: try FilterNodes(old), to: try FilterNodes(new))
            return triggers.contains { $0.holds(for: change) }
        } catch {
            return true
        }
    }
}

/// Conditions that together cause a notification (RFC 4661 3.6).
struct CompiledTrigger: Hashable, Sendable {
    /// Change of a value (RFC 4661 3.6.1).
    struct Change: Hashable, Sendable {
        var expression: FilterExpression
        var from: String?
        var to: String?
        var by: String?
    }

    var changes: [Change] = []
    var additions: [FilterExpression] = []
    var removals: [FilterExpression] = []

    init(_ trigger: FilterTrigger, _ namespaces: [String: String], _ limits: FilterLimits) throws(FilterError) {
        for change in trigger.changes {
            if let by = change.by, FilterDecimal(by) == nil {
                throw FilterError(.expression, "RFC 4661 3.6.1.3: attribute by has the invalid value '\(by.prefix(60))'")
            }
            let expression = try FilterExpression(change.expression, bindings: namespaces, limits: limits)
            changes.append(Change(expression: expression, from: change.from, to: change.to, by: change.by))
        }
        for text in trigger.additions { additions.append(try FilterExpression(text, bindings: namespaces, limits: limits)) }
        for text in trigger.removals { removals.append(try FilterExpression(text, bindings: namespaces, limits: limits)) }
    }

    func holds(for change: DocumentChange) -> Bool {
        changes.allSatisfy { change.hasChange($0) }
            && additions.allSatisfy { change.hasAddition($0) }
            && removals.allSatisfy { change.hasRemoval($0) }
    }
}

/// Two documents of one presentity, with the elements that are the same in both.
struct DocumentChange {
    private let old: FilterNodes
    private let new: FilterNodes
    private let oldIdentities: [Int]
    private let newIdentities: [Int]

    /// Place of an element in its document: an element is found again by its id, or by its position among siblings of its name.
    private struct Place: Hashable {
        var parent: Int
        var name: FilterExpression.Name
        var id: String?
        /// Position among siblings of the same name and id.
        var position: Int
    }

    init(from old: FilterNodes, to new: FilterNodes) {
        self.old = old
        self.new = new
        var known: [Place: Int] = [:]
        oldIdentities = Self.identities(of: old, &known)
        newIdentities = Self.identities(of: new, &known)
    }

    private static func identities(of nodes: FilterNodes, _ known: inout [Place: Int]) -> [Int] {
        var result: [Int] = []
        var positions: [Place: Int] = [:]
        for index in 0..<nodes.count {
            let parent = nodes.parents[index]
            var place = Place(
                parent: parent < 0 ? -1 : result[parent], name: nodes.name(of: index), id: nodes.elements[index].attribute("id"),
                position: 0)
            let position = positions[place] ?? 0
            positions[place] = position + 1
            place.position = position
            let identity = known[place] ?? known.count
            known[place] = identity
            result.append(identity)
        }
        return result
    }

    /// Selected elements by identity.
    private func selected(_ expression: FilterExpression, _ nodes: FilterNodes, _ identities: [Int]) -> [Int: Int] {
        let isSelected = nodes.select(expression)
        var result: [Int: Int] = [:]
        for index in 0..<nodes.count where isSelected[index] { result[identities[index]] = index }
        return result
    }

    func hasAddition(_ expression: FilterExpression) -> Bool {
        let before = selected(expression, old, oldIdentities)
        return selected(expression, new, newIdentities).keys.contains { before[$0] == nil }
    }

    func hasRemoval(_ expression: FilterExpression) -> Bool {
        let after = selected(expression, new, newIdentities)
        return selected(expression, old, oldIdentities).keys.contains { after[$0] == nil }
    }

    /// Whether a value that is in both documents has changed as wanted.
    func hasChange(_ change: CompiledTrigger.Change) -> Bool {
        let before = selected(change.expression, old, oldIdentities)
        let attribute = change.expression.attribute?.name
        return selected(change.expression, new, newIdentities).contains { identity, newIndex in
            guard let oldIndex = before[identity] else { return false }
            if change.from == nil, change.to == nil, change.by == nil, attribute == nil {
                let canonical = XMLCanonical()
                return canonical.text(of: old.elements[oldIndex]) != canonical.text(of: new.elements[newIndex])
            }
            let oldValue = attribute.map { old.value(of: $0, at: oldIndex) ?? "" } ?? old.text(of: oldIndex)
            let newValue = attribute.map { new.value(of: $0, at: newIndex) ?? "" } ?? new.text(of: newIndex)
            guard oldValue != newValue, change.from ?? oldValue == oldValue, change.to ?? newValue == newValue else { return false }
            guard let by = change.by.flatMap({ FilterDecimal($0) }) else { return true }
            guard let low = FilterDecimal(oldValue), let high = FilterDecimal(newValue) else { return false }
            return low.distance(to: high) >= by.magnitude
        }
    }
}
