import XMLCore

/// Replacement of one range of a document's octets; all others stay as they are.
struct OctetEdit {
    var range: Range<Int>
    var replacement: [UInt8]
    /// Range of the put node, or of the put value, in the resulting document; empty for a removal.
    var nodeRange: Range<Int>

    func applied(to octets: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(octets.count - range.count + replacement.count)
        result += octets[..<range.lowerBound]
        result += replacement
        result += octets[range.upperBound...]
        return result
    }

    /// Removes a range.
    init(removing range: Range<Int>) {
        self.range = range
        replacement = []
        nodeRange = range.lowerBound..<range.lowerBound
    }

    /// Puts an element in place of another one.
    init(replacing element: XMLElement, with body: [UInt8]) {
        range = element.sourceRange
        replacement = body
        nodeRange = range.lowerBound..<range.lowerBound + body.count
    }

    /// Inserts an element at an offset.
    init(inserting body: [UInt8], at offset: Int) {
        range = offset..<offset
        replacement = body
        nodeRange = offset..<offset + body.count
    }

    /// Inserts an element as the last child; an empty-element tag becomes start tag and end tag.
    init(appending body: [UInt8], to parent: XMLElement) {
        if let content = parent.contentRange {
            range = content.upperBound..<content.upperBound
            replacement = body
            nodeRange = content.upperBound..<content.upperBound + body.count
        } else {
            let end = parent.sourceRange.upperBound
            range = end - 2..<end
            replacement = [UInt8(ascii: ">")] + body + Array("</\(parent.qualifiedName)>".utf8)
            nodeRange = end - 1..<end - 1 + body.count
        }
    }

    /// Puts the value of an attribute that is there; the quotes change only where the value holds them.
    init?(replacing ranges: XMLElement.AttributeRanges, in octets: [UInt8], with value: [UInt8]) {
        guard let quote = Self.quote(for: value, preferred: octets[ranges.value.upperBound]) else { return nil }
        if quote == octets[ranges.value.upperBound] {
            range = ranges.value
            replacement = value
        } else {
            range = ranges.value.lowerBound - 1..<ranges.value.upperBound + 1
            replacement = [quote] + value + [quote]
        }
        nodeRange = ranges.value.lowerBound..<ranges.value.lowerBound + value.count
    }

    /// Inserts an attribute after the last one of a start tag, with a namespace declaration where no prefix in scope fits.
    init?(adding name: NodeSelector.Name, value: [UInt8], to element: XMLElement, in octets: [UInt8]) {
        guard let quote = Self.quote(for: value, preferred: UInt8(ascii: "\"")), case .named(let namespace) = name.namespace else {
            return nil
        }
        let (prefix, declaration) = Self.prefix(for: namespace, preferred: name.prefix, in: element)
        let tag = element.startTagRange
        var offset = tag.upperBound - (element.contentRange == nil ? 2 : 1)
        while [0x20, 0x09, 0x0A, 0x0D].contains(octets[offset - 1]) { offset -= 1 }
        let head = Array(declaration.utf8) + Array(" \(prefix)\(name.localName)=".utf8) + [quote]
        range = offset..<offset
        replacement = head + value + [quote]
        nodeRange = offset + head.count..<offset + head.count + value.count
    }

    /// Quote that the value does not hold; nil when it holds both (XML 1.0, production AttValue).
    private static func quote(for value: [UInt8], preferred: UInt8) -> UInt8? {
        let other = preferred == UInt8(ascii: "\"") ? UInt8(ascii: "'") : UInt8(ascii: "\"")
        return [preferred, other].first { !value.contains($0) }
    }

    /// Prefix with a colon that names the namespace at an element, and the declaration that this takes; both empty for no namespace.
    private static func prefix(
        for namespace: String, preferred: String, in element: XMLElement
    ) -> (prefix: String, declaration: String) {
        if namespace.isEmpty { return ("", "") }
        if preferred == "xml" { return ("xml:", "") }
        let scope = element.declarationsInScope
        let bound = scope.filter { !$0.prefix.isEmpty && $0.uri == namespace }.map(\.prefix)
        if let known = bound.first(where: { $0 == preferred }) ?? bound.first { return (known + ":", "") }
        var prefix = preferred
        while scope.contains(where: { $0.prefix == prefix }) { prefix += "_" }
        return (prefix + ":", " xmlns:\(prefix)=\"\(escaped(namespace))\"")
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
