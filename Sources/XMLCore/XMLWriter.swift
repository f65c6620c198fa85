/// Writes a document as UTF-8 bytes, with the prefixes that the caller chooses.
///
/// ```swift
/// var writer = XMLWriter(declaration: true)
/// writer.start("presence")
/// writer.namespace("", "urn:ietf:params:xml:ns:pidf")
/// writer.attribute("entity", "sip:alice@example.com")
/// writer.element("note", "in the garden")
/// writer.end()
/// let bytes = writer.finish()
/// ```
/// Names must be names; values may be anything: what XML 1.0 cannot say becomes U+FFFD.
public struct XMLWriter {
    private struct Open {
        var name: String
        var scopes: Int
    }

    private var output: [UInt8] = []
    private var open: [Open] = []
    private var scopes: [XMLFragment.Declaration] = []
    private var tagIsOpen = false

    /// - Parameter declaration: Whether to begin with `<?xml version="1.0" encoding="UTF-8"?>`.
    public init(declaration: Bool = true, capacity: Int = 2_048) {
        output.reserveCapacity(capacity)
        open.reserveCapacity(16)
        if declaration { append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n") }
    }

    /// Opens an element; `name` is written as it is, with its prefix.
    public mutating func start(_ name: String) {
        closeTag()
        output.append(UInt8(ascii: "<"))
        append(name)
        open.append(Open(name: name, scopes: scopes.count))
        tagIsOpen = true
    }

    /// Declares a namespace on the element just opened; an empty prefix is the default namespace.
    public mutating func namespace(_ prefix: String, _ uri: String) {
        let declaration = XMLFragment.Declaration(prefix: prefix, uri: uri)
        scopes.append(declaration)
        Self.append(declaration, to: &output)
    }

    /// As ``namespace(_:_:)-(String,String)``.
    public mutating func namespace(_ prefix: String, _ namespace: XMLNamespace) { self.namespace(prefix, namespace.uri) }

    /// An attribute of the element just opened; `name` is written as it is.
    public mutating func attribute(_ name: String, _ value: String) {
        output.append(UInt8(ascii: " "))
        append(name)
        output.append(UInt8(ascii: "="))
        output.append(UInt8(ascii: "\""))
        Self.appendEscaped(value, attribute: true, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    /// An attribute that is written only when there is a value.
    public mutating func attribute(_ name: String, ifPresent value: String?) {
        if let value { attribute(name, value) }
    }

    /// A foreign attribute read elsewhere; its namespace is declared here when the prefix does not already mean it.
    public mutating func attribute(_ attribute: XMLAttribute) {
        guard !attribute.namespace.isEmpty else { return self.attribute(attribute.localName, attribute.value) }
        if attribute.namespace == XMLNamespace.xml.uri { return self.attribute("xml:" + attribute.localName, attribute.value) }
        if let known = scopes.lastIndex(where: { !$0.prefix.isEmpty && $0.uri == attribute.namespace }),
            inScope(scopes[known].prefix) == attribute.namespace
        {
            return self.attribute(scopes[known].prefix + ":" + attribute.localName, attribute.value)
        }
        var prefix = attribute.prefix.isEmpty ? "a" : attribute.prefix
        while inScope(prefix) != nil { prefix += "_" }
        namespace(prefix, attribute.namespace)
        self.attribute(prefix + ":" + attribute.localName, attribute.value)
    }

    /// Character data.
    public mutating func text(_ text: String) {
        closeTag()
        Self.appendEscaped(text, attribute: false, to: &output)
    }

    /// An element with text only.
    public mutating func element(_ name: String, _ text: String) {
        start(name)
        if !text.isEmpty { self.text(text) }
        end()
    }

    /// An element without content.
    public mutating func element(_ name: String) {
        start(name)
        end()
    }

    /// A kept element: its source byte for byte, plus the declarations it needs that are not in scope here.
    public mutating func fragment(_ fragment: XMLFragment) {
        closeTag()
        if fragment.inherited.isEmpty {
            output.append(contentsOf: fragment.source)
        } else {
            let missing = fragment.inherited.filter { (inScope($0.prefix) ?? ($0.prefix.isEmpty ? "" : nil)) != $0.uri }
            output.append(contentsOf: fragment.bytes(adding: missing))
        }
    }

    /// Bytes that are already well-formed content here.
    public mutating func raw(_ bytes: some Sequence<UInt8>) {
        closeTag()
        output.append(contentsOf: bytes)
    }

    /// Closes the innermost open element.
    public mutating func end() {
        guard let last = open.popLast() else { return }
        if scopes.count > last.scopes { scopes.removeLast(scopes.count - last.scopes) }
        if tagIsOpen {
            tagIsOpen = false
            append("/>")
            return
        }
        append("</")
        append(last.name)
        output.append(UInt8(ascii: ">"))
    }

    /// Closes every open element and returns the document.
    public consuming func finish() -> [UInt8] {
        while !open.isEmpty { end() }
        return output
    }

    // MARK: inside

    private mutating func closeTag() {
        if tagIsOpen {
            output.append(UInt8(ascii: ">"))
            tagIsOpen = false
        }
    }

    private func inScope(_ prefix: String) -> String? {
        scopes.last { $0.prefix == prefix }?.uri
    }

    @inline(__always)
    private mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { output.append(contentsOf: $0) }
    }

    static func append(_ declaration: XMLFragment.Declaration, to output: inout [UInt8]) {
        output.append(contentsOf: " xmlns".utf8)
        if !declaration.prefix.isEmpty {
            output.append(UInt8(ascii: ":"))
            output.append(contentsOf: declaration.prefix.utf8)
        }
        output.append(contentsOf: "=\"".utf8)
        appendEscaped(declaration.uri, attribute: true, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    private static func appendEscaped(_ text: String, attribute: Bool, to output: inout [UInt8]) {
        var text = text
        text.withUTF8 { bytes in
            var start = 0
            var index = 0
            while index < bytes.count {
                let byte = bytes[index]
                guard let replacement = escape(byte, attribute: attribute, bytes, index) else {
                    index += 1
                    continue
                }
                output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start..<index]))
                output.append(contentsOf: UnsafeBufferPointer(start: replacement.utf8Start, count: replacement.utf8CodeUnitCount))
                index += byte == 0xEF ? 3 : 1
                start = index
            }
            output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start...]))
        }
    }

    /// What stands for a byte, nil when it may stay (XML 1.0 2.2, 2.4, 2.11, 3.3.3).
    @inline(__always)
    private static func escape(_ byte: UInt8, attribute: Bool, _ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> StaticString? {
        if byte > UInt8(ascii: ">"), byte < 0xEF { return nil }
        switch byte {
        case UInt8(ascii: "&"): return "&amp;"
        case UInt8(ascii: "<"): return "&lt;"
        case UInt8(ascii: ">"): return "&gt;"
        case UInt8(ascii: "\""): return attribute ? "&quot;" : nil
        case 0x09: return attribute ? "&#9;" : nil
        case 0x0A: return attribute ? "&#10;" : nil
        case 0x0D: return "&#13;"
        case 0x00..<0x20: return "\u{FFFD}"
        case 0xEF where bytes[index + 1] == 0xBF && bytes[index + 2] >= 0xBE: return "\u{FFFD}"
        default: return nil
        }
    }
}
