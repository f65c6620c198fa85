import PresenceDocuments
import XMLCore

/// Elements of a document in document order, for the evaluation of expressions.
final class FilterNodes {
    /// Elements in document order; the root is first.
    let elements: [XMLElement]
    /// Index of the parent; -1 for the root.
    let parents: [Int]
    /// Index after the last descendant.
    let ends: [Int]
    /// Number of the name in ``names``.
    let nameNumbers: [Int]
    /// Expanded names of the document.
    let names: [FilterExpression.Name]
    private let numbers: [FilterExpression.Name: Int]
    private var texts: [String?]

    var count: Int { elements.count }

    init(_ root: XMLElement) {
        var elements: [XMLElement] = []
        var parents: [Int] = []
        var ends: [Int] = []
        var nameNumbers: [Int] = []
        var names: [FilterExpression.Name] = []
        var numbers: [FilterExpression.Name: Int] = [:]
        func append(_ element: XMLElement, parent: Int) {
            let name = FilterExpression.Name(namespace: element.namespace, localName: element.localName)
            let number = numbers[name] ?? names.count
            if number == names.count {
                names.append(name)
                numbers[name] = number
            }
            elements.append(element)
            parents.append(parent)
            ends.append(elements.count)
            nameNumbers.append(number)
        }
        append(root, parent: -1)
        var open = [(index: 0, children: root.children.makeIterator())]
        while !open.isEmpty {
            if let child = open[open.count - 1].children.next() {
                append(child, parent: open[open.count - 1].index)
                open.append((elements.count - 1, child.children.makeIterator()))
            } else {
                ends[open.removeLast().index] = elements.count
            }
        }
        self.elements = elements
        self.parents = parents
        self.ends = ends
        self.nameNumbers = nameNumbers
        self.names = names
        self.numbers = numbers
        texts = Array(repeating: nil, count: elements.count)
    }

    /// Parses a presence document (RFC 3863 4.1.1).
    convenience init(_ octets: [UInt8]) throws(DocumentError) {
        let tree: XMLTree
        do throws(XMLError) { tree = try XMLTree.parse(octets, limits: PIDFDocument.limits) } catch { throw DocumentError(error) }
        guard tree.root.is(Self.presence) else { throw .wrongRoot(tree.root, expected: Self.presence, rule: "RFC 3863 4.1.1") }
        self.init(tree.root)
    }

    private static let presence = XMLName("presence", in: .pidf)

    func name(of index: Int) -> FilterExpression.Name { names[nameNumbers[index]] }

    /// Text of an element without that of its children and without white space at both ends.
    func text(of index: Int) -> String {
        if let known = texts[index] { return known }
        let text = elements[index].trimmedText
        texts[index] = text
        return text
    }

    func children(of index: Int) -> [Int] {
        var result: [Int] = []
        var child = index + 1
        while child < ends[index] {
            result.append(child)
            child = ends[child]
        }
        return result
    }

    /// Whether each element has an ancestor in the set.
    func descendants(of set: [Bool]) -> [Bool] {
        var result = [Bool](repeating: false, count: count)
        for index in 1..<max(count, 1) { result[index] = set[parents[index]] || result[parents[index]] }
        return result
    }

    // MARK: expressions

    /// Elements that the steps of an expression select: those that have the attribute, if it selects attributes.
    func select(_ expression: FilterExpression) -> [Bool] {
        var current: [Bool]?
        for step in expression.steps {
            let isCandidate = candidates(after: current, step.axis)
            let number = number(of: step.test)
            var next = [Bool](repeating: false, count: count)
            for index in 0..<count where isCandidate[index] && (number == nil || number == nameNumbers[index]) {
                next[index] = step.predicates.allSatisfy { holds($0, at: index) }
            }
            current = next
        }
        var result = current ?? []
        guard let attribute = expression.attribute else { return result }
        if attribute.axis == .descendant {
            let below = descendants(of: result)
            for index in 0..<count where below[index] { result[index] = true }
        }
        for index in 0..<count where result[index] { result[index] = value(of: attribute.name, at: index) != nil }
        return result
    }

    /// Elements to test in a step; `nil` is the document above the root.
    private func candidates(after set: [Bool]?, _ axis: FilterExpression.Axis) -> [Bool] {
        switch (set, axis) {
        case (nil, .child): (0..<count).map { $0 == 0 }
        case (nil, .descendant): Array(repeating: true, count: count)
        case (let set?, .child): parents.map { $0 >= 0 && set[$0] }
        case (let set?, .descendant): descendants(of: set)
        }
    }

    /// Number of the name that a test wants: nil for any, -1 if the document does not have the name.
    private func number(of test: FilterExpression.Test) -> Int? {
        guard case .named(let name) = test else { return nil }
        return numbers[name] ?? -1
    }

    func value(of attribute: FilterExpression.Name, at index: Int) -> String? {
        guard elements[index].attributeCount > 0 else { return nil }
        return elements[index].value(ofAttribute: attribute.localName, in: attribute.namespace)
    }

    private func holds(_ predicate: FilterExpression.Predicate, at index: Int) -> Bool {
        predicate.alternatives.contains { $0.allSatisfy { holds($0, at: index) } }
    }

    /// Whether a value of the operand satisfies the comparison (XPath 1.0, 3.4).
    private func holds(_ comparison: FilterExpression.Comparison, at index: Int) -> Bool {
        let operand = comparison.operand
        var found = operand.isParent ? parents[index] < 0 ? [] : [parents[index]] : [index]
        for test in operand.path {
            let number = number(of: test)
            found = found.flatMap { children(of: $0) }.filter { number == nil || number == nameNumbers[$0] }
        }
        return found.contains { element in
            if let attribute = operand.attribute { return value(of: attribute, at: element).map { comparison.holds(for: $0) } ?? false }
            return comparison.holds(for: text(of: element))
        }
    }
}

extension FilterExpression.Comparison {
    func holds(for value: String) -> Bool {
        if relation == .equal, !isNumber { return value == literal }
        guard let left = FilterDecimal(value), let right = FilterDecimal(literal) else { return false }
        switch relation {
        case .equal: return left == right
        case .less: return left < right
        case .greater: return left > right
        }
    }
}

extension FilterExpression {
    /// Number of elements or attributes that the expression selects in a PIDF document.
    ///
    /// - Throws: ``PresenceDocuments/DocumentError`` if the octets are no presence document.
    public func count(in octets: [UInt8]) throws(DocumentError) -> Int {
        try FilterNodes(octets).select(self).reduce(0) { $0 + ($1 ? 1 : 0) }
    }
}
