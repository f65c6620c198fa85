import PresenceDocuments
import XMLCore

/// Reduction of presence documents to the content that a watcher wants (RFC 4661 3.5).
///
/// Two filters are equal if they give the same content of each document by the same selections, so it serves as the key of views.
public struct ContentFilter: Hashable, Sendable {
    /// Selected part of a document.
    enum Selector: Hashable, Sendable {
        /// Elements with their descendants, or attributes.
        case expression(FilterExpression)
        /// Elements and attributes of a namespace.
        case namespace(String)
    }

    /// Parts to keep; empty for all.
    let includes: Set<Selector>
    /// Exceptions from the parts to keep.
    let excludes: Set<Selector>

    /// Filter that keeps whole documents.
    public static let everything = ContentFilter(includes: [], excludes: [])

    /// Whether documents are kept whole.
    public var isEverything: Bool { includes.isEmpty && excludes.isEmpty }

    init(includes: Set<Selector>, excludes: Set<Selector>) {
        self.includes = includes
        self.excludes = excludes
    }

    /// Content of a PIDF document: the selected parts, their ancestors and the mandatory parts; nil if nothing is selected.
    ///
    /// - Throws: ``PresenceDocuments/DocumentError`` if the octets are no presence document.
    public func content(of octets: [UInt8]) throws(DocumentError) -> [UInt8]? {
        if isEverything { return octets }
        return FilteredContent(try FilterNodes(octets), self).octets
    }
}

/// One reduction of a document.
private struct FilteredContent {
    private typealias Name = FilterExpression.Name

    private let nodes: FilterNodes
    /// Elements that are selected with all their attributes.
    private var isChosen: [Bool]
    /// Attributes that are selected by themselves.
    private var chosenAttributes: [Int: Set<Name>] = [:]
    private var isExcluded: [Bool]
    private var excludedAttributes: [Int: Set<Name>] = [:]
    /// Elements to write: chosen ones, their ancestors, and mandatory ones.
    private var isKept: [Bool]
    /// Elements that are written as they are in the document, with all descendants.
    private var isWhole: [Bool]

    init(_ nodes: FilterNodes, _ filter: ContentFilter) {
        self.nodes = nodes
        let none = [Bool](repeating: false, count: nodes.count)
        (isChosen, isExcluded, isKept, isWhole) = (none, none, none, none)
        if filter.includes.isEmpty { isChosen = none.map { !$0 } }
        for selector in filter.includes { choose(selector) }
        for selector in filter.excludes { exclude(selector) }
        for index in 1..<max(nodes.count, 1) where isExcluded[nodes.parents[index]] { isExcluded[index] = true }
        keep()
    }

    /// Reduced document; nil if nothing is selected.
    var octets: [UInt8]? {
        let isSelected = (0..<nodes.count).contains { index in
            !isExcluded[index] && (isChosen[index] || !remaining(chosenAttributes[index], at: index).isEmpty)
        }
        guard isSelected else { return nil }
        var writer = XMLWriter(declaration: true)
        write(0, to: &writer)
        return writer.finish()
    }

    // MARK: selections

    private mutating func choose(_ selector: ContentFilter.Selector) {
        switch selector {
        case .expression(let expression):
            let selected = nodes.select(expression)
            if let attribute = expression.attribute {
                for index in 0..<nodes.count where selected[index] { chosenAttributes[index, default: []].insert(attribute.name) }
            } else {
                let below = nodes.descendants(of: selected)
                for index in 0..<nodes.count where selected[index] || below[index] { isChosen[index] = true }
            }
        case .namespace(let namespace):
            for index in 0..<nodes.count {
                if nodes.name(of: index).namespace == namespace { isChosen[index] = true }
                for name in attributes(of: index, in: namespace) { chosenAttributes[index, default: []].insert(name) }
            }
        }
    }

    /// Excludes what is not mandatory: an exclusion that makes the document invalid has no effect (RFC 4661 3.5.2).
    private mutating func exclude(_ selector: ContentFilter.Selector) {
        switch selector {
        case .expression(let expression):
            let selected = nodes.select(expression)
            for index in 0..<nodes.count where selected[index] {
                if let attribute = expression.attribute { exclude(attribute.name, at: index) } else { exclude(index) }
            }
        case .namespace(let namespace):
            for index in 0..<nodes.count {
                if nodes.name(of: index).namespace == namespace { exclude(index) }
                for name in attributes(of: index, in: namespace) { exclude(name, at: index) }
            }
        }
    }

    private mutating func exclude(_ index: Int) {
        if !isMandatory(index) { isExcluded[index] = true }
    }

    private mutating func exclude(_ attribute: Name, at index: Int) {
        guard !MandatoryParts.hasMandatory(attribute, nodes.name(of: index)) else { return }
        excludedAttributes[index, default: []].insert(attribute)
    }

    private func isMandatory(_ index: Int) -> Bool {
        index == 0 || MandatoryParts.child(of: nodes.name(of: nodes.parents[index])) == nodes.name(of: index)
    }

    private func attributes(of index: Int, in namespace: String) -> [Name] {
        guard nodes.elements[index].attributeCount > 0 else { return [] }
        return nodes.elements[index].attributes.filter { $0.namespace == namespace }.map {
            Name(namespace: $0.namespace, localName: $0.localName)
        }
    }

    private func remaining(_ attributes: Set<Name>?, at index: Int) -> Set<Name> {
        (attributes ?? []).subtracting(excludedAttributes[index] ?? [])
    }

    // MARK: the reduced document

    /// Finds the elements to write, from the last to the first, so that descendants come before their ancestors.
    private mutating func keep() {
        var isChanged = [Bool](repeating: false, count: nodes.count)
        for index in (0..<nodes.count).reversed() {
            if isExcluded[index] {
                if index > 0 { isChanged[nodes.parents[index]] = true }
                continue
            }
            if isChosen[index] || !remaining(chosenAttributes[index], at: index).isEmpty { isKept[index] = true }
            isWhole[index] = isChosen[index] && !isChanged[index] && excludedAttributes[index] == nil
            guard index > 0 else { continue }
            if isKept[index] { isKept[nodes.parents[index]] = true }
            if !isWhole[index] { isChanged[nodes.parents[index]] = true }
        }
        isKept[0] = true
        for index in 1..<max(nodes.count, 1) where isKept[nodes.parents[index]] && isMandatory(index) { isKept[index] = true }
    }

    private func write(_ index: Int, to writer: inout XMLWriter) {
        let element = nodes.elements[index]
        if isWhole[index] { return writer.raw(element.sourceBytes) }
        writer.start(element.qualifiedName)
        for declaration in element.ownDeclarations { writer.namespace(declaration.prefix, declaration.uri) }
        for attribute in element.attributes where keeps(attribute, at: index) {
            writer.attribute(attribute.prefix.isEmpty ? attribute.localName : "\(attribute.prefix):\(attribute.localName)", attribute.value)
        }
        if isChosen[index] || nodes.ends[index] == index + 1, !nodes.text(of: index).isEmpty { writer.text(element.text) }
        // No deeper than the parser allows.
        for child in nodes.children(of: index) where isKept[child] { write(child, to: &writer) }
        writer.end()
    }

    private func keeps(_ attribute: XMLAttribute, at index: Int) -> Bool {
        let name = Name(namespace: attribute.namespace, localName: attribute.localName)
        let element = nodes.name(of: index)
        if MandatoryParts.hasMandatory(name, element) { return true }
        if excludedAttributes[index]?.contains(name) == true { return false }
        if isChosen[index] || chosenAttributes[index]?.contains(name) == true { return true }
        // The language of notes may be declared above them. Attributes of other elements say what their children mean.
        return name.namespace == XMLNamespace.xml.uri || !MandatoryParts.hasOptionalAttributes(element)
    }
}

/// Parts without which a presence document is invalid (RFC 3863 4.4, RFC 4479 3.7, RFC 4481 3, RFC 5196 4).
private enum MandatoryParts {
    private typealias Name = FilterExpression.Name

    private static let presence = Name(namespace: XMLNamespace.pidf.uri, localName: "presence")
    private static let tuple = Name(namespace: XMLNamespace.pidf.uri, localName: "tuple")
    private static let status = Name(namespace: XMLNamespace.pidf.uri, localName: "status")
    private static let person = Name(namespace: XMLNamespace.dataModel.uri, localName: "person")
    private static let device = Name(namespace: XMLNamespace.dataModel.uri, localName: "device")
    private static let deviceID = Name(namespace: XMLNamespace.dataModel.uri, localName: "deviceID")
    private static let timedStatus = Name(namespace: XMLNamespace.timedStatus.uri, localName: "timed-status")

    /// Child element that must be there.
    static func child(of element: FilterExpression.Name) -> FilterExpression.Name? {
        element == tuple ? status : element == device ? deviceID : nil
    }

    static func hasMandatory(_ attribute: FilterExpression.Name, _ element: FilterExpression.Name) -> Bool {
        guard attribute.namespace.isEmpty else { return false }
        switch element {
        case presence: return attribute.localName == "entity"
        case tuple, person, device: return attribute.localName == "id"
        case timedStatus: return attribute.localName == "from"
        default:
            // Values of capabilities and of exact presence are attributes.
            return element.namespace == XMLNamespace.capabilities.uri || element.namespace == XMLNamespace.exact.uri
        }
    }

    /// Whether the other attributes of an element that was not selected are left out.
    static func hasOptionalAttributes(_ element: FilterExpression.Name) -> Bool {
        [presence, tuple, status, person, device].contains(element)
    }
}
