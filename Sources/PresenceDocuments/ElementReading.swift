import XMLCore

/// Typed reading of text and attributes, with the refusals.
extension XMLElement {
    /// The text as a moment.
    func dateTime(rule: String) throws(DocumentError) -> DateTime {
        if let value = withText({ DateTime($0) }) { return value }
        throw .invalid("the time", trimmedText, in: self, rule: rule)
    }

    /// An optional attribute as a moment.
    func dateTime(_ attribute: StaticString, rule: String) throws(DocumentError) -> DateTime? {
        guard let value = withAttribute(attribute, { DateTime($0) }) else { return nil }
        if let value { return value }
        throw .invalid("attribute \(attribute)", self.attribute(attribute) ?? "", in: self, rule: rule)
    }

    /// The text as an integer within bounds.
    func integerText(_ what: String, in range: ClosedRange<Int>, rule: String) throws(DocumentError) -> Int {
        if let value = withTrimmedText({ Decimal.integer($0) }), range.contains(value) { return value }
        throw .invalid(what, trimmedText, in: self, rule: rule)
    }

    /// An optional attribute as an integer within bounds.
    func integer(_ attribute: StaticString, in range: ClosedRange<Int>, rule: String) throws(DocumentError) -> Int? {
        guard let value = withAttribute(attribute, { Decimal.integer($0) }) else { return nil }
        if let value, range.contains(value) { return value }
        throw .invalid("attribute \(attribute)", self.attribute(attribute) ?? "", in: self, rule: rule)
    }

    /// The text as xs:boolean.
    func boolean(rule: String) throws(DocumentError) -> Bool {
        if textEquals("true") || textEquals("1") { return true }
        if textEquals("false") || textEquals("0") { return false }
        throw .invalid("the boolean", trimmedText, in: self, rule: rule)
    }

    /// Required attribute, trimmed; an empty one is refused.
    func required(_ attribute: StaticString, rule: String) throws(DocumentError) -> String {
        guard let value = self.attribute(attribute) else { throw .missing("\(attribute)", in: self, rule: rule) }
        let trimmed = value.trimmed
        guard !trimmed.isEmpty else { throw .invalid("attribute \(attribute)", value, in: self, rule: rule) }
        return trimmed
    }

    /// Text with its language.
    var note: PIDFNote { PIDFNote(trimmedText, language: language) }
}

extension String {
    /// Text without XML white space at both ends.
    var trimmed: String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D }
        guard let first = utf8.first, let last = utf8.last, isSpace(first) || isSpace(last) else { return self }
        guard let low = utf8.firstIndex(where: { !isSpace($0) }), let high = utf8.lastIndex(where: { !isSpace($0) }) else { return "" }
        return String(self[low...high])
    }
}

/// Parser of decimal numbers; overflow and other text yield nil.
enum Decimal {
    /// Parses `[+-]digits`; nil for other text and for numbers out of range.
    static func integer(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var index = 0
        var negative = false
        if let first = bytes.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
            negative = first == UInt8(ascii: "-")
            index = 1
        }
        guard index < bytes.count else { return nil }
        var value = 0
        while index < bytes.count {
            let byte = bytes[index]
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            let (product, tooBig) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflow) = product.addingReportingOverflow(Int(byte - 0x30))
            guard !tooBig, !overflow else { return nil }
            value = sum
            index += 1
        }
        return negative ? -value : value
    }

    /// Parses a priority of 0 to 1 with at most three decimals, in thousandths (RFC 3863 4.1.5); nil otherwise.
    static func thousandths(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let first = bytes.first, first == UInt8(ascii: "0") || first == UInt8(ascii: "1"), bytes.count <= 5 else { return nil }
        var value = first == UInt8(ascii: "1") ? 1_000 : 0
        guard bytes.count > 1 else { return value }
        guard bytes[1] == UInt8(ascii: ".") else { return nil }
        var scale = 100
        for byte in bytes.dropFirst(2) {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            value += Int(byte - 0x30) * scale
            scale /= 10
        }
        return value <= 1_000 ? value : nil
    }

    /// Shortest text of a number of thousandths, limited to 0...1000.
    static func text(thousandths value: Int) -> String {
        let value = min(max(value, 0), 1_000)
        if value % 1_000 == 0 { return value == 0 ? "0" : "1" }
        let digits = [value / 100, value / 10 % 10, value % 10]
        let last = digits.lastIndex { $0 != 0 } ?? 0
        return "0." + digits[...last].map(String.init).joined()
    }
}
