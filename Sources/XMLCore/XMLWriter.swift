/// Writer of a document as UTF-8, with prefixes chosen by the caller.
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
/// Names are written unchecked; in values, characters that XML 1.0 does not allow become U+FFFD.
public struct XMLWriter: ~Copyable {
    /// Open element: position of its name in the output, and number of declarations in scope outside it.
    private struct Open {
        var nameStart: Int
        var nameCount: Int
        var scopes: Int
    }

    private var output: OutputBuffer
    private var open: [Open] = []
    private var scopes: [XMLFragment.Declaration] = []
    private var tagIsOpen = false

    /// Creates a writer.
    /// - Parameter declaration: Whether to begin with `<?xml version="1.0" encoding="UTF-8"?>`.
    public init(declaration: Bool = true, capacity: Int = 4_096) {
        output = OutputBuffer(capacity: capacity)
        open.reserveCapacity(16)
        if declaration { output.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n") }
    }

    /// Opens an element; `name` is written unchanged, including its prefix.
    public mutating func start(_ name: String) {
        closeTag()
        output.append(UInt8(ascii: "<"))
        let start = output.count
        output.append(text: name)
        open.append(Open(nameStart: start, nameCount: output.count - start, scopes: scopes.count))
        tagIsOpen = true
    }

    /// Opens an element by its expanded name, with those of the wanted declarations that are not in scope.
    ///
    /// The prefix is a preference: if it is bound otherwise on this element, another one is chosen.
    mutating func start(_ localName: String, prefix: String, namespace: String, declaring wanted: [XMLFragment.Declaration]) {
        var declared: [XMLFragment.Declaration] = []
        for declaration in wanted where !declared.contains(where: { $0.prefix == declaration.prefix }) {
            // XML cannot declare a default namespace on an element that is in none.
            if declaration.prefix.isEmpty, namespace.isEmpty, !declaration.uri.isEmpty { continue }
            if (inScope(declaration.prefix) ?? (declaration.prefix.isEmpty ? "" : nil)) != declaration.uri { declared.append(declaration) }
        }
        var prefix = namespace.isEmpty ? "" : namespace == XMLNamespace.xml.uri ? "xml" : prefix
        if prefix != "xml" {
            func meaning(_ prefix: String) -> String? {
                declared.first { $0.prefix == prefix }?.uri ?? inScope(prefix) ?? (prefix.isEmpty ? "" : nil)
            }
            if meaning(prefix) != namespace {
                while declared.contains(where: { $0.prefix == prefix }) { prefix += prefix.isEmpty ? "n" : "_" }
                if meaning(prefix) != namespace { declared.append(XMLFragment.Declaration(prefix: prefix, uri: namespace)) }
            }
        }
        start(prefix.isEmpty ? localName : prefix + ":" + localName)
        for declaration in declared { self.namespace(declaration.prefix, declaration.uri) }
    }

    /// Declares a namespace on the element just opened; an empty prefix is the default namespace.
    public mutating func namespace(_ prefix: String, _ uri: String) {
        output.append(" xmlns")
        if !prefix.isEmpty {
            output.append(UInt8(ascii: ":"))
            output.append(text: prefix)
        }
        output.append("=\"")
        output.append(escaped: uri, attribute: true)
        output.append(UInt8(ascii: "\""))
        scopes.append(XMLFragment.Declaration(prefix: prefix, uri: uri))
    }

    /// Same as ``namespace(_:_:)-(String,String)``.
    public mutating func namespace(_ prefix: String, _ namespace: XMLNamespace) { self.namespace(prefix, namespace.uri) }

    /// Writes an attribute of the element just opened; `name` is written unchanged.
    public mutating func attribute(_ name: String, _ value: String) {
        output.append(UInt8(ascii: " "))
        output.append(text: name)
        output.append("=\"")
        output.append(escaped: value, attribute: true)
        output.append(UInt8(ascii: "\""))
    }

    /// Writes an attribute unless the value is nil.
    public mutating func attribute(_ name: String, ifPresent value: String?) {
        if let value { attribute(name, value) }
    }

    /// Writes an attribute read elsewhere; declares its namespace unless a prefix in scope is bound to it.
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

    /// Writes character data, escaped.
    public mutating func text(_ text: String) {
        closeTag()
        output.append(escaped: text, attribute: false)
    }

    /// Writes an element that contains only text.
    public mutating func element(_ name: String, _ text: String) {
        start(name)
        if !text.isEmpty { self.text(text) }
        end()
    }

    /// Writes an empty element.
    public mutating func element(_ name: String) {
        start(name)
        end()
    }

    /// Writes a kept element byte for byte, with the declarations it needs that are not in scope.
    public mutating func fragment(_ fragment: XMLFragment) {
        closeTag()
        if fragment.inherited.isEmpty {
            output.append(bytes: fragment.source)
        } else {
            let missing = fragment.inherited.filter { (inScope($0.prefix) ?? ($0.prefix.isEmpty ? "" : nil)) != $0.uri }
            output.append(bytes: fragment.bytes(adding: missing))
        }
    }

    /// Writes bytes that must already be well-formed content at this point.
    public mutating func raw(_ bytes: some Sequence<UInt8>) {
        closeTag()
        output.append(bytes: Array(bytes))
    }

    /// Closes the innermost open element; does nothing when none is open.
    public mutating func end() {
        guard let last = open.popLast() else { return }
        if scopes.count > last.scopes { scopes.removeLast(scopes.count - last.scopes) }
        if tagIsOpen {
            tagIsOpen = false
            output.append("/>")
            return
        }
        output.append("</")
        output.repeat(from: last.nameStart, count: last.nameCount)
        output.append(UInt8(ascii: ">"))
    }

    /// Closes all open elements and returns the document.
    public consuming func finish() -> [UInt8] {
        while !open.isEmpty { end() }
        return output.bytes
    }

    // MARK: implementation

    private mutating func closeTag() {
        if tagIsOpen {
            output.append(UInt8(ascii: ">"))
            tagIsOpen = false
        }
    }

    private func inScope(_ prefix: String) -> String? {
        scopes.last { $0.prefix == prefix }?.uri
    }

    static func append(_ declaration: XMLFragment.Declaration, to output: inout [UInt8]) {
        var buffer = OutputBuffer(capacity: 128)
        buffer.append(" xmlns")
        if !declaration.prefix.isEmpty {
            buffer.append(UInt8(ascii: ":"))
            buffer.append(text: declaration.prefix)
        }
        buffer.append("=\"")
        buffer.append(escaped: declaration.uri, attribute: true)
        buffer.append(UInt8(ascii: "\""))
        output.append(contentsOf: buffer.bytes)
    }
}
