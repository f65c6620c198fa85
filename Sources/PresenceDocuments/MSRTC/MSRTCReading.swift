import XMLCore

/// Reader of the attributes of one element; counts those found, so that unknown ones are searched only if there are any.
struct AttributeReader {
    let element: XMLElement
    /// Section of the standard that error messages cite.
    let rule: StaticString
    private var found = 0

    init(_ element: XMLElement, rule: StaticString) {
        self.element = element
        self.rule = rule
    }

    mutating func string(_ name: StaticString) -> String? {
        guard let value = element.attribute(name) else { return nil }
        found += 1
        return value
    }

    mutating func requiredString(_ name: StaticString) throws(DocumentError) -> String {
        guard let value = string(name) else { throw element.missing(attribute: name, rule: rule) }
        return value
    }

    mutating func token<Token: RawRepresentable<String>>(_ name: StaticString) -> Token? {
        guard let value = element.withAttribute(name, { String(decoding: $0, as: UTF8.self) }) else { return nil }
        found += 1
        return Token(rawValue: value)
    }

    mutating func requiredToken<Token: RawRepresentable<String>>(_ name: StaticString) throws(DocumentError) -> Token {
        guard let value: Token = token(name) else { throw element.missing(attribute: name, rule: rule) }
        return value
    }

    mutating func unsigned(_ name: StaticString) throws(DocumentError) -> UInt32? {
        guard let value = element.withAttribute(name, { Lexical.unsigned($0) }) else { return nil }
        guard let value else { throw invalid(name, Lexical.unsignedRule) }
        found += 1
        return value
    }

    mutating func requiredUnsigned(_ name: StaticString) throws(DocumentError) -> UInt32 {
        guard let value = try unsigned(name) else { throw element.missing(attribute: name, rule: rule) }
        return value
    }

    mutating func integer(_ name: StaticString) throws(DocumentError) -> Int64? {
        guard let value = element.withAttribute(name, { Lexical.integer($0) }) else { return nil }
        guard let value else { throw invalid(name, "a whole number") }
        found += 1
        return value
    }

    mutating func boolean(_ name: StaticString) throws(DocumentError) -> Bool? {
        guard let value = element.withAttribute(name, { Lexical.boolean($0) }) else { return nil }
        guard let value else { throw invalid(name, "true or false") }
        found += 1
        return value
    }

    mutating func requiredBoolean(_ name: StaticString) throws(DocumentError) -> Bool {
        guard let value = try boolean(name) else { throw element.missing(attribute: name, rule: rule) }
        return value
    }

    mutating func dateTime(_ name: StaticString) throws(DocumentError) -> DateTime? {
        guard let value = element.withAttribute(name, { DateTime($0) }) else { return nil }
        guard let value else { throw invalid(name, "a date and time") }
        found += 1
        return value
    }

    mutating func container(_ name: StaticString) throws(DocumentError) -> ContainerID? {
        guard let value = element.withAttribute(name, { Lexical.unsigned($0) }) else { return nil }
        guard let value, let id = ContainerID(Int(value)) else { throw invalid(name, "a container number from 0 to 32767") }
        found += 1
        return id
    }

    mutating func qualified(_ name: XMLName) -> String? {
        guard let value = element.attribute(name) else { return nil }
        found += 1
        return value
    }

    /// Attributes that were not read.
    func others(besides known: @autoclosure () -> Set<String>, _ qualified: XMLName? = nil) -> [XMLAttribute] {
        guard element.attributeCount > found else { return [] }
        let known = known()
        return element.attributes.filter { attribute in
            if attribute.namespace.isEmpty { return !known.contains(attribute.localName) }
            return !(qualified?.localName == attribute.localName && qualified?.namespace.uri == attribute.namespace)
        }
    }

    private func invalid(_ name: StaticString, _ expected: String) -> DocumentError {
        element.invalid("\(name)", value: element.attribute(name) ?? "", expected: expected, rule: rule)
    }
}

/// Collector of elements without a field, by generation (MS-PRES 7.1).
struct ExtensionReader {
    private(set) var block = ExtensionBlock()
    private var delimiters = 0

    /// Whether a delimiter was read, after which names of this schema may have a new meaning.
    var isOpen: Bool { delimiters > 0 }

    mutating func take(_ child: XMLElement) {
        if child.is(CommonTypeNames.delimiter) {
            delimiters += 1
        } else if child.is(CommonTypeNames.end) {
            return
        } else if child.is(CommonTypeNames.extension), block.extension == nil {
            block.extension = child.fragment()
        } else if delimiters == 0 {
            block.strays.append(child.fragment())
        } else {
            while block.generations.count < delimiters { block.generations.append([]) }
            block.generations[delimiters - 1].append(child.fragment())
        }
    }
}

enum CommonTypeNames {
    static let delimiter = XMLName("delimiter", in: .msCommonTypes)
    static let end = XMLName("end", in: .msCommonTypes)
    static let `extension` = XMLName("extension", in: .msCommonTypes)
}

/// Lexical forms of XML Schema in the documents, parsed from trimmed bytes without a String.
enum Lexical {
    static let unsignedRule = "a whole number from 0 to 4294967295"

    static func unsigned(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt32? {
        guard !bytes.isEmpty else { return nil }
        var value: UInt32 = 0
        for byte in bytes {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt32(byte - 0x30))
            if overflow || carry { return nil }
            value = sum
        }
        return value
    }

    static func integer(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard let first = bytes.first else { return nil }
        let isNegative = first == UInt8(ascii: "-")
        let digits = isNegative || first == UInt8(ascii: "+") ? bytes.dropFirst() : bytes[...]
        guard !digits.isEmpty else { return nil }
        var value: Int64 = 0
        for byte in digits {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            let digit = Int64(byte - 0x30)
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            if overflow || carry { return nil }
            value = sum
        }
        return value
    }

    static func boolean(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool? {
        if bytes.elementsEqual("true".utf8) || bytes.elementsEqual("1".utf8) { return true }
        if bytes.elementsEqual("false".utf8) || bytes.elementsEqual("0".utf8) { return false }
        return nil
    }
}

extension XMLElement {
    /// The text as an unsigned number.
    func unsignedText(rule: StaticString) throws(DocumentError) -> UInt32 {
        guard let value = withTrimmedText({ Lexical.unsigned($0) }) else {
            throw invalid(localName, value: trimmedText, expected: Lexical.unsignedRule, rule: rule)
        }
        return value
    }

    /// The text as a signed number.
    func integerText(rule: StaticString) throws(DocumentError) -> Int64 {
        guard let value = withTrimmedText({ Lexical.integer($0) }) else {
            throw invalid(localName, value: trimmedText, expected: "a whole number", rule: rule)
        }
        return value
    }

    /// The text as true or false.
    func booleanText(rule: StaticString) throws(DocumentError) -> Bool {
        guard let value = withTrimmedText({ Lexical.boolean($0) }) else {
            throw invalid(localName, value: trimmedText, expected: "true or false", rule: rule)
        }
        return value
    }

    /// The text as a token of an open vocabulary.
    func tokenText<Token: RawRepresentable<String>>() -> Token? { Token(rawValue: trimmedText) }

    func missing(attribute: StaticString, rule: StaticString) -> DocumentError {
        DocumentError.missing("\(attribute)", in: self, rule: "\(rule)")
    }

    func missing(element name: StaticString, rule: StaticString) -> DocumentError {
        DocumentError.missing("\(name)", in: self, rule: "\(rule)")
    }

    /// Invalid value: `RULE: NAME in 'ELEMENT' is 'VALUE', not EXPECTED`, with the value cut to 60 characters.
    func invalid(_ name: String, value: String, expected: String, rule: StaticString) -> DocumentError {
        let shown = value.count > 60 ? String(value.prefix(60)) + "…" : value
        let place = name == localName ? name : "\(name) in '\(localName)'"
        return DocumentError(
            code: .invalidValue, message: "\(rule): \(place) is '\(shown)', not \(expected)", position: position,
            place: DocumentError.place(of: self, attribute: name == localName ? nil : name))
    }
}
