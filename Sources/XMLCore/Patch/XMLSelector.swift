/// Selector of one node: the subset of XPath 1.0 that RFC 5261 4.1 allows, with prefixes resolved.
///
///     presence/tuple[@id='a']/status/basic/text()      */dm:person[2]      id('a')/contact/@priority      */namespace::rpid
struct XMLSelector {
    /// Expanded name; nil matches any.
    struct NameTest {
        var namespace: String?
        var localName: String?
    }

    enum Predicate {
        case position(Int)
        case attribute(NameTest, equals: String)
        case child(NameTest, equals: String)
        /// `[.='v']`
        case text(equals: String)
    }

    struct Step {
        var test: NameTest
        var predicates: [Predicate] = []
    }

    /// Node to take, relative to the element that the steps select.
    enum Target {
        case element
        case attribute(NameTest)
        /// Position from 1; nil when the text must be the only one.
        case text(Int?)
        /// Comment or processing instruction.
        case unkept
        case declaration(prefix: String)
    }

    /// Value of an initial `id('x')`.
    private(set) var identifier: String?
    private(set) var steps: [Step] = []
    private(set) var target = Target.element

    /// Parses a selector.
    /// - Parameter context: Operation with the namespace declarations for the selector; element names without prefix are in its
    ///   default namespace (RFC 5261 4.2.1).
    /// - Throws: `invalid-attribute-value` or `invalid-namespace-prefix`.
    init(_ text: String, in context: XMLElement) throws(XMLPatchError) {
        var reader = XMLSelectorReader(text, in: context)
        self = try reader.selector()
    }

    init(identifier: String?, steps: [Step], target: Target) {
        self.identifier = identifier
        self.steps = steps
        self.target = target
    }
}

/// Parser of one selector.
struct XMLSelectorReader {
    private let bytes: [UInt8]
    private let context: XMLElement
    private var index = 0

    init(_ text: String, in context: XMLElement) {
        bytes = Array(text.utf8)
        self.context = context
    }

    mutating func selector() throws(XMLPatchError) -> XMLSelector {
        var identifier: String?
        var steps: [XMLSelector.Step] = []
        var target = XMLSelector.Target.element
        _ = take("/")
        if takeCall("id") {
            identifier = try quoted()
            try expect(")")
            if isAtEnd { return XMLSelector(identifier: identifier, steps: [], target: .element) }
            try expect("/")
        }
        while true {
            if let last = try leaf() {
                guard !steps.isEmpty || identifier != nil else { throw wrong("a path that leads to an element") }
                target = last
                break
            }
            steps.append(XMLSelector.Step(test: try nameTest(isElement: true), predicates: try predicates()))
            if isAtEnd { break }
            try expect("/")
        }
        guard isAtEnd else { throw wrong("the end") }
        return XMLSelector(identifier: identifier, steps: steps, target: target)
    }

    /// Reads the last step if it selects no element; nil otherwise.
    private mutating func leaf() throws(XMLPatchError) -> XMLSelector.Target? {
        if take("@") { return .attribute(try nameTest(isElement: false)) }
        if take("namespace::") { return .declaration(prefix: try name()) }
        if takeCall("text") {
            try expect(")")
            return .text(try position())
        }
        if takeCall("comment") {
            try expect(")")
            _ = try position()
            return .unkept
        }
        guard takeCall("processing-instruction") else { return nil }
        if !take(")") {
            _ = try quoted()
            try expect(")")
        }
        _ = try position()
        return .unkept
    }

    private mutating func position() throws(XMLPatchError) -> Int? {
        guard take("[") else { return nil }
        guard let number = number() else { throw wrong("a position") }
        try expect("]")
        return number
    }

    private mutating func predicates() throws(XMLPatchError) -> [XMLSelector.Predicate] {
        var result: [XMLSelector.Predicate] = []
        while take("[") {
            if let number = number() {
                result.append(.position(number))
            } else if take("@") {
                let test = try nameTest(isElement: false)
                try expect("=")
                result.append(.attribute(test, equals: try quoted()))
            } else if take(".") {
                try expect("=")
                result.append(.text(equals: try quoted()))
            } else {
                let test = try nameTest(isElement: true)
                try expect("=")
                result.append(.child(test, equals: try quoted()))
            }
            try expect("]")
        }
        return result
    }

    private mutating func nameTest(isElement: Bool) throws(XMLPatchError) -> XMLSelector.NameTest {
        if isElement, take("*") { return XMLSelector.NameTest() }
        let text = try name()
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            // The default namespace does not apply to attributes (Namespaces in XML 1.0, 6.2).
            return XMLSelector.NameTest(namespace: isElement ? context.namespace(ofPrefix: "") ?? "" : "", localName: text)
        }
        guard let namespace = context.namespace(ofPrefix: String(text[..<colon])) else {
            throw XMLPatchError(
                .invalidNamespacePrefix, "RFC 5261 4.2.1: the prefix of '\(text.prefix(60))' is not declared", position: context.position)
        }
        let local = String(text[text.index(after: colon)...])
        guard !local.isEmpty, !local.utf8.contains(UInt8(ascii: ":")) else { throw wrong("a name") }
        return XMLSelector.NameTest(namespace: namespace, localName: local)
    }

    // MARK: tokens

    private var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return index == bytes.count
        }
    }

    private mutating func skipSpace() {
        while index < bytes.count, XMLBytes.isSpace(bytes[index]) { index += 1 }
    }

    private mutating func take(_ token: StaticString) -> Bool {
        skipSpace()
        let count = token.utf8CodeUnitCount
        guard bytes.count - index >= count else { return false }
        for offset in 0..<count where bytes[index + offset] != token.utf8Start[offset] { return false }
        index += count
        return true
    }

    /// Reads `name(`.
    private mutating func takeCall(_ name: StaticString) -> Bool {
        let start = index
        if take(name), take("(") { return true }
        index = start
        return false
    }

    private mutating func expect(_ token: StaticString) throws(XMLPatchError) {
        guard take(token) else { throw wrong("'\(token)'") }
    }

    private mutating func name() throws(XMLPatchError) -> String {
        skipSpace()
        let start = index
        while index < bytes.count, XMLBytes.isName(bytes[index]) || bytes[index] == UInt8(ascii: ":") { index += 1 }
        guard index > start, !isDigit(bytes[start]), bytes[start] != UInt8(ascii: ".") else { throw wrong("a name") }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// Reads a positive number; nil when there is none.
    private mutating func number() -> Int? {
        skipSpace()
        let start = index
        while index < bytes.count, isDigit(bytes[index]) { index += 1 }
        guard index > start, let number = Int(String(decoding: bytes[start..<index], as: UTF8.self)), number > 0 else {
            index = start
            return nil
        }
        return number
    }

    private func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    private mutating func quoted() throws(XMLPatchError) -> String {
        skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: "'") || bytes[index] == UInt8(ascii: "\"") else {
            throw wrong("a quoted value")
        }
        let start = index + 1
        guard let end = bytes[start...].firstIndex(of: bytes[index]) else { throw wrong("a closing quote") }
        index = end + 1
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    private func wrong(_ expected: String) -> XMLPatchError {
        let text = String(decoding: bytes.prefix(120), as: UTF8.self)
        return XMLPatchError(
            .invalidAttributeValue, "RFC 5261 4.1: the selector '\(text)' has no \(expected) at octet \(index)", position: context.position)
    }
}
