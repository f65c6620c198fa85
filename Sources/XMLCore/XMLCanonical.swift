/// Comparison of documents by meaning, for tests and golden vectors.
///
/// Prefixes, attribute order, comments and white space between elements are ignored; namespaces, names, element order, texts and
/// attribute values are compared. `xsi:type` is compared as an expanded name. In the expected document, `{{any}}` in a text or
/// attribute value matches any characters.
public struct XMLCanonical: Sendable {
    /// Whether white space at both ends of texts is ignored.
    public var trimsText: Bool
    /// Text in expected values that matches any characters.
    public var wildcard: String

    /// Creates a comparison; by default texts are trimmed and `{{any}}` is the wildcard.
    public init(trimsText: Bool = true, wildcard: String = "{{any}}") {
        self.trimsText = trimsText
        self.wildcard = wildcard
    }

    /// Compares two documents.
    ///
    /// - Returns: The first difference with path and both values, or the error of a document that cannot be parsed; nil when equal.
    public func difference(expected: [UInt8], actual: [UInt8], limits: XMLLimits = .skippingDoctype) -> String? {
        let expectedTree: XMLTree
        let actualTree: XMLTree
        do throws(XMLError) { expectedTree = try XMLTree.parse(expected, limits: limits) } catch { return "expected document: \(error)" }
        do throws(XMLError) { actualTree = try XMLTree.parse(actual, limits: limits) } catch { return "actual document: \(error)" }
        return difference(expected: expectedTree.root, actual: actualTree.root)
    }

    /// Compares two elements; returns the first difference, nil when equal.
    public func difference(expected: XMLElement, actual: XMLElement) -> String? {
        difference(expected, actual, path: "")
    }

    /// Formats an element as indented text in canonical form, for people and diff tools.
    public func text(of element: XMLElement) -> String {
        var result = ""
        describe(element, indent: 0, into: &result)
        return result
    }

    // MARK: comparing

    private enum Item {
        case element(XMLElement)
        case text(String)
    }

    private func difference(_ expected: XMLElement, _ actual: XMLElement, path: String) -> String? {
        let path = path + "/" + expected.localName
        let place = "(actual line \(actual.position.line))"
        guard expected.localName == actual.localName, expected.namespace == actual.namespace else {
            return "\(path): expected element \(Self.name(expected)), found \(Self.name(actual)) \(place)"
        }
        if let found = differentAttributes(expected, actual) { return "\(path)\(found) \(place)" }
        let wanted = items(expected)
        let got = items(actual)
        for (index, item) in wanted.enumerated() {
            guard index < got.count else {
                return "\(path): missing \(Self.describe(item)) \(place)"
            }
            switch (item, got[index]) {
            case (.element(let one), .element(let two)):
                if let found = difference(one, two, path: path) { return found }
            case (.text(let one), .text(let two)):
                if !matches(one, two) { return "\(path): expected text '\(one)', found '\(two)' \(place)" }
            case (.text(let one), .element) where one == wildcard:
                return "\(path): expected text, found \(Self.describe(got[index])) \(place)"
            default:
                return "\(path): expected \(Self.describe(item)), found \(Self.describe(got[index])) \(place)"
            }
        }
        if got.count > wanted.count { return "\(path): unexpected \(Self.describe(got[wanted.count])) \(place)" }
        return nil
    }

    private func differentAttributes(_ expected: XMLElement, _ actual: XMLElement) -> String? {
        let wanted = attributes(expected)
        let got = attributes(actual)
        for (name, value) in wanted {
            guard let other = got.first(where: { $0.name == name })?.value else { return "/@\(name): missing, expected '\(value)'" }
            if !matches(value, other) { return "/@\(name): expected '\(value)', found '\(other)'" }
        }
        for (name, value) in got where !wanted.contains(where: { $0.name == name }) { return "/@\(name): unexpected, found '\(value)'" }
        return nil
    }

    /// Attributes sorted by expanded name.
    private func attributes(_ element: XMLElement) -> [(name: String, value: String)] {
        element.attributes.map { attribute in
            let name = attribute.namespace.isEmpty ? attribute.localName : "{\(attribute.namespace)}\(attribute.localName)"
            guard attribute.namespace == XMLNamespace.xsi.uri, attribute.localName == "type",
                let type = element.resolve(qualifiedName: attribute.value)
            else { return (name, attribute.value) }
            return (name, type.namespace.isEmpty ? type.localName : "{\(type.namespace)}\(type.localName)")
        }
        .sorted { $0.name < $1.name }
    }

    private func items(_ element: XMLElement) -> [Item] {
        var items: [Item] = []
        var hasElements = false
        var next = element.node.pointee.firstChild
        while next >= 0 {
            let child = element.tree.nodes[Int(next)]
            if child.name == XMLTree.textNode {
                let piece = element.tree.string(child.start, child.end)
                if case .text(let before)? = items.last {
                    items[items.count - 1] = .text(before + piece)
                } else {
                    items.append(.text(piece))
                }
            } else {
                hasElements = true
                items.append(.element(XMLElement(tree: element.tree, index: next)))
            }
            next = child.next
        }
        return items.compactMap { item in
            guard case .text(let text) = item else { return item }
            let trimmed = Self.trim(text)
            if trimmed.isEmpty, hasElements || trimsText { return nil }
            return .text(trimsText ? trimmed : text)
        }
    }

    private static func trim(_ text: String) -> String {
        let utf8 = text.utf8
        guard let low = utf8.firstIndex(where: { !XMLBytes.isSpace($0) }), let high = utf8.lastIndex(where: { !XMLBytes.isSpace($0) })
        else {
            return ""
        }
        return String(text[low...high])
    }

    /// Whether `actual` matches `expected`, in which each wildcard matches any characters.
    private func matches(_ expected: String, _ actual: String) -> Bool {
        let parts = Self.split(Array(expected.utf8), by: Array(wildcard.utf8))
        var rest = Array(actual.utf8)[...]
        guard parts.count > 1, let first = parts.first, let last = parts.last else { return expected == actual }
        guard rest.starts(with: first) else { return false }
        rest = rest.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.indices.first(where: { rest[$0...].starts(with: part) }) else { return false }
            rest = rest[(found + part.count)...]
        }
        return rest.count >= last.count && rest.suffix(last.count).elementsEqual(last)
    }

    private static func split(_ text: [UInt8], by separator: [UInt8]) -> [ArraySlice<UInt8>] {
        guard !separator.isEmpty else { return [text[...]] }
        var parts: [ArraySlice<UInt8>] = []
        var start = 0
        var index = 0
        while index + separator.count <= text.count {
            if text[index...].starts(with: separator) {
                parts.append(text[start..<index])
                index += separator.count
                start = index
            } else {
                index += 1
            }
        }
        parts.append(text[start...])
        return parts
    }

    // MARK: formatting

    private static func name(_ element: XMLElement) -> String {
        let namespace = element.namespace
        return namespace.isEmpty ? element.localName : "{\(namespace)}\(element.localName)"
    }

    private static func describe(_ item: Item) -> String {
        switch item {
        case .element(let element): "element \(name(element))"
        case .text(let text): "text '\(text)'"
        }
    }

    private func describe(_ element: XMLElement, indent: Int, into result: inout String) {
        let margin = String(repeating: "  ", count: indent)
        result += margin + Self.name(element)
        for (name, value) in attributes(element) { result += " \(name)='\(value)'" }
        result += "\n"
        for item in items(element) {
            switch item {
            case .element(let child): describe(child, indent: indent + 1, into: &result)
            case .text(let text): result += margin + "  '\(text)'\n"
            }
        }
    }
}
