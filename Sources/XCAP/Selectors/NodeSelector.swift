/// Node selector: the steps to one element, attribute, or the namespace bindings of an element (RFC 4825 6.3).
///
///     resource-lists/list[@name="friends"]/entry[2]      ruleset/rule[1][@id="a"]/@id      */x:note/namespace::*
public struct NodeSelector: Hashable, Sendable {
    /// Namespace of a name in a selector.
    enum Namespace: Hashable, Sendable {
        /// Default document namespace of the application usage, for element names without prefix (RFC 4825 6.4).
        case documentDefault
        /// Namespace name; empty for attribute names without prefix.
        case named(String)
    }

    struct Name: Hashable, Sendable {
        var namespace: Namespace
        /// Prefix as written; empty for none.
        var prefix: String
        var localName: String
    }

    struct AttributeTest: Hashable, Sendable {
        var name: Name
        var value: String
    }

    struct Step: Hashable, Sendable {
        /// Name of the element; nil for `*`.
        var name: Name?
        /// Position from 1 among the elements with that name.
        var position: Int?
        var attribute: AttributeTest?
        /// Step as written, percent-decoded.
        var text: String
    }

    /// Node to take of the selected element.
    enum Terminal: Hashable, Sendable {
        case element
        case attribute(Name)
        case namespaceBindings
    }

    let steps: [Step]
    let terminal: Terminal
    let bindings: NamespaceBindings
}

/// Parser of node selectors.
extension NodeSelector {
    /// Parses the part of a raw path after `~~/`. Steps are separated by slashes outside quoted values.
    init(_ raw: Substring.UTF8View, bindings: NamespaceBindings, limits: XCAPLimits) throws(XCAPURIError) {
        guard let units = PercentCoding.units(raw), String(validating: units.map(\.octet), as: UTF8.self) != nil else {
            throw .malformed("RFC 3986 2.1: the node selector has a malformed escape, or is not UTF-8")
        }
        guard !units.contains(where: { $0.octet == 0 }) else { throw .notFound("RFC 4825 6.3: a NUL in the node selector") }
        var reader = NodeSelectorReader(units: units, bindings: bindings)
        var steps: [Step] = []
        var terminal = Terminal.element
        while true {
            if let last = try reader.terminal() {
                guard !steps.isEmpty else { throw .malformed("RFC 4825 6.3: a node selector begins with the step of an element") }
                terminal = last
                guard reader.isAtEnd else { throw reader.malformed("nothing after the terminal selector") }
                break
            }
            guard steps.count < limits.steps else {
                throw .malformed("RFC 4825 6.3: the node selector has more than the \(limits.steps) steps allowed")
            }
            steps.append(try reader.step())
            if reader.isAtEnd { break }
            try reader.separator()
        }
        self.init(steps: steps, terminal: terminal, bindings: bindings)
    }
}

/// Cursor over a decoded node selector.
private struct NodeSelectorReader {
    let units: [PercentCoding.Unit]
    let bindings: NamespaceBindings
    var index = 0

    init(units: [PercentCoding.Unit], bindings: NamespaceBindings) {
        self.units = units
        self.bindings = bindings
    }

    var isAtEnd: Bool { index == units.count }

    mutating func separator() throws(XCAPURIError) {
        guard !units[index].isEscaped || units[index].octet != UInt8(ascii: "/") else {
            throw .notFound("RFC 4825 6.3: an escaped slash outside a quoted value")
        }
        guard take("/") else { throw malformed("'/'") }
    }

    /// Reads `@name` or `namespace::*`; nil when neither is here.
    mutating func terminal() throws(XCAPURIError) -> NodeSelector.Terminal? {
        if take("namespace::*") { return .namespaceBindings }
        return take("@") ? .attribute(try name(isElement: false)) : nil
    }

    mutating func step() throws(XCAPURIError) -> NodeSelector.Step {
        let start = index
        let name = take("*") ? nil : try name(isElement: true)
        var step = NodeSelector.Step(name: name, text: "")
        if take("[") {
            if !take("@") {
                step.position = try position()
                guard take("]") else { throw malformed("']'") }
                if take("[") {
                    guard take("@") else { throw malformed("'@'") }
                    step.attribute = try attributeTest()
                }
            } else {
                step.attribute = try attributeTest()
            }
        }
        step.text = text(start..<index)
        return step
    }

    private mutating func position() throws(XCAPURIError) -> Int {
        var value = 0
        let start = index
        while index < units.count, case let octet = units[index].octet, octet >= 0x30, octet <= 0x39 {
            // A position above a billion selects nothing, as a billion does.
            value = min(value * 10 + Int(octet - 0x30), 1_000_000_000)
            index += 1
        }
        guard index > start, value > 0 else { throw malformed("a position from 1") }
        return value
    }

    private mutating func attributeTest() throws(XCAPURIError) -> NodeSelector.AttributeTest {
        let name = try name(isElement: false)
        guard take("=") else { throw malformed("'='") }
        guard index < units.count, case let quote = units[index].octet, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw malformed("a quoted value")
        }
        guard let end = units[(index + 1)...].firstIndex(where: { $0.octet == quote }) else { throw malformed("a closing quote") }
        guard let value = AttributeValue.decode(units[(index + 1)..<end].map(\.octet)) else {
            throw .malformed("RFC 4825 6.3: the value of '\(name.localName)' is not an AttValue: '<', or '&' without a reference")
        }
        index = end + 1
        guard take("]") else { throw malformed("']'") }
        return NodeSelector.AttributeTest(name: name, value: value)
    }

    private mutating func name(isElement: Bool) throws(XCAPURIError) -> NodeSelector.Name {
        let first = try part()
        let hasPrefix = index < units.count && units[index].octet == UInt8(ascii: ":")
        guard hasPrefix else {
            guard isElement || first != "xmlns" else {
                throw .malformed("RFC 4825 6.3: a namespace declaration is not an attribute; namespace::* fetches all of them")
            }
            return NodeSelector.Name(namespace: isElement ? .documentDefault : .named(""), prefix: "", localName: first)
        }
        index += 1
        let local = try part()
        guard let namespace = bindings.namespace(ofPrefix: first) else {
            throw .malformed("RFC 4825 6.4: the query does not bind the prefix '\(first.prefix(60))'")
        }
        return NodeSelector.Name(namespace: .named(namespace), prefix: first, localName: local)
    }

    private mutating func part() throws(XCAPURIError) -> String {
        let start = index
        guard index < units.count, XMLNameSyntax.isStart(units[index].octet) else { throw malformed("a name") }
        while index < units.count, XMLNameSyntax.isPart(units[index].octet) { index += 1 }
        return text(start..<index)
    }

    private mutating func take(_ token: StaticString) -> Bool {
        let count = token.utf8CodeUnitCount
        guard units.count - index >= count else { return false }
        for offset in 0..<count where units[index + offset].octet != token.utf8Start[offset] { return false }
        // An escaped slash separates nothing.
        if count == 1, token.utf8Start[0] == UInt8(ascii: "/"), units[index].isEscaped { return false }
        index += count
        return true
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: units[range].map(\.octet), as: UTF8.self) }

    func malformed(_ expected: String) -> XCAPURIError {
        if index < units.count, units[index] == PercentCoding.Unit(octet: UInt8(ascii: "/"), isEscaped: true) {
            return .notFound("RFC 4825 6.3: an escaped slash outside a quoted value")
        }
        let shown = text(0..<min(units.count, 120))
        return .malformed("RFC 4825 6.3: the node selector '\(shown)' has no \(expected) at octet \(index)")
    }
}
