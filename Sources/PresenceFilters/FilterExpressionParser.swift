import PresenceDocuments
import XMLCore

/// Parser of one expression (RFC 4661 5); reads each octet a bounded number of times and does not recurse.
struct FilterExpressionParser {
    private let bytes: [UInt8]
    private let bindings: [String: String]
    private let limit: Int
    private var index = 0
    private var steps = 0

    init(_ text: String, bindings: [String: String], limit: Int) {
        bytes = Array(text.utf8)
        self.bindings = bindings
        self.limit = limit
    }

    mutating func expression() throws(FilterError) -> FilterExpression {
        var result: [FilterExpression.Step] = []
        var attribute: FilterExpression.AttributeStep?
        while attribute == nil, !isAtEnd {
            guard take("/") else { throw expected(result.isEmpty ? "'/'" : "'/', '[' or the end") }
            let axis: FilterExpression.Axis = takeNext("/") ? .descendant : .child
            try countStep()
            if take("@") {
                guard !result.isEmpty || axis == .descendant else { throw expected("an element") }
                if result.isEmpty { result.append(FilterExpression.Step(axis: .descendant, test: .any, predicates: [])) }
                attribute = FilterExpression.AttributeStep(axis: axis, name: try name(isElement: false))
            } else {
                let test = try test()
                var predicates: [FilterExpression.Predicate] = []
                while take("[") { predicates.append(try predicate()) }
                result.append(FilterExpression.Step(axis: axis, test: test, predicates: predicates))
            }
        }
        guard isAtEnd else { throw expected("the end") }
        guard !result.isEmpty else { throw expected("'/'") }
        return FilterExpression(steps: result, attribute: attribute)
    }

    /// Reads a predicate after its `[`; `and` binds stronger than `or` (XPath 1.0, 3.4).
    private mutating func predicate() throws(FilterError) -> FilterExpression.Predicate {
        var alternatives: [[FilterExpression.Comparison]] = [[]]
        while true {
            alternatives[alternatives.count - 1].append(try comparison())
            if take("]") { return FilterExpression.Predicate(alternatives: alternatives) }
            if takeWord("or") { alternatives.append([]) } else if !takeWord("and") { throw expected("'and', 'or' or ']'") }
        }
    }

    private mutating func comparison() throws(FilterError) -> FilterExpression.Comparison {
        let operand = try operand()
        let relation: FilterExpression.Relation
        if take("=") {
            relation = .equal
        } else if take("<") {
            relation = .less
        } else if take(">") {
            relation = .greater
        } else {
            throw expected("'=', '<' or '>'")
        }
        if let literal = try quoted() {
            return FilterExpression.Comparison(operand: operand, relation: relation, literal: literal, isNumber: false)
        }
        return FilterExpression.Comparison(operand: operand, relation: relation, literal: try number(), isNumber: true)
    }

    private mutating func operand() throws(FilterError) -> FilterExpression.Operand {
        var result = FilterExpression.Operand()
        try countStep()
        if take(".") {
            result.isParent = takeNext(".")
            return result
        }
        while true {
            if take("@") {
                result.attribute = try name(isElement: false)
                return result
            }
            result.path.append(try test())
            guard take("/") else { return result }
            try countStep()
        }
    }

    private mutating func test() throws(FilterError) -> FilterExpression.Test {
        take("*") ? .any : .named(try name(isElement: true))
    }

    private mutating func name(isElement: Bool) throws(FilterError) -> FilterExpression.Name {
        skipSpace()
        let start = index
        let first = try part()
        guard takeNext(":") else {
            // The default namespace does not apply to attributes (Namespaces in XML 1.0, 6.2).
            let namespace = isElement ? bindings[""] ?? XMLNamespace.pidf.uri : ""
            return FilterExpression.Name(namespace: namespace, localName: first)
        }
        guard let namespace = first == "xml" ? XMLNamespace.xml.uri : bindings[first] else {
            index = start
            throw expected("a prefix of 'ns-bindings' (RFC 4661 3.3)")
        }
        return FilterExpression.Name(namespace: namespace, localName: try part())
    }

    // MARK: tokens

    /// Counts a location step or comparison.
    private mutating func countStep() throws(FilterError) {
        steps += 1
        guard steps <= limit else {
            throw FilterError(.limit, "RFC 4661 5: the expression \(shown) has more than the \(limit) steps and comparisons allowed")
        }
    }

    /// Reads a name without colon, by the octets that XML 1.0 allows in it.
    private mutating func part() throws(FilterError) -> String {
        let start = index
        while index < bytes.count, Self.isName(bytes[index]) { index += 1 }
        guard index > start, Self.canBeginName(bytes[start]) else {
            index = start
            throw expected("a name")
        }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// Reads a literal in quotes; nil when there is no quote.
    private mutating func quoted() throws(FilterError) -> String? {
        skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: "'") || bytes[index] == UInt8(ascii: "\"") else { return nil }
        let start = index + 1
        guard let end = bytes[start...].firstIndex(of: bytes[index]) else { throw expected("a value with a closing quote") }
        index = end + 1
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    private mutating func number() throws(FilterError) -> String {
        skipSpace()
        let start = index
        while index < bytes.count, Self.isDigit(bytes[index]) || "+-.".utf8.contains(bytes[index]) { index += 1 }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        guard FilterDecimal(text) != nil else {
            index = start
            throw expected("a value in quotes or a number")
        }
        return text
    }

    private var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return index == bytes.count
        }
    }

    private mutating func skipSpace() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
    }

    private mutating func take(_ token: Character) -> Bool {
        skipSpace()
        return takeNext(token)
    }

    /// Takes a character that follows without white space.
    private mutating func takeNext(_ token: Character) -> Bool {
        guard index < bytes.count, bytes[index] == token.asciiValue else { return false }
        index += 1
        return true
    }

    private mutating func takeWord(_ word: String) -> Bool {
        skipSpace()
        let end = index + word.utf8.count
        guard end <= bytes.count, bytes[index..<end].elementsEqual(word.utf8), end == bytes.count || !Self.isName(bytes[end]) else {
            return false
        }
        index = end
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    private static func canBeginName(_ byte: UInt8) -> Bool {
        byte >= 0x80 || byte == UInt8(ascii: "_") || (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z"))
    }

    private static func isName(_ byte: UInt8) -> Bool {
        canBeginName(byte) || isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }

    private var shown: String {
        bytes.count > 120 ? "'\(String(decoding: bytes.prefix(120), as: UTF8.self))…'" : "'\(String(decoding: bytes, as: UTF8.self))'"
    }

    private func expected(_ token: String) -> FilterError {
        FilterError(.expression, "RFC 4661 5: the expression \(shown) has no \(token) at octet \(index)")
    }
}
