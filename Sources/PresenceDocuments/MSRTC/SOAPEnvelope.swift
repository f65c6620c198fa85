// SOAP 1.1 as SERVICE requests use it (MS-PRES 2.2.1, MS-SIP 2.2.4.2).

import XMLCore

/// SOAP envelope around one operation.
///
/// Accepts SOAP 1.1 with or without the slash at the end of its namespace (MS-PRES prints both, 2.2.1 and 8), and SOAP 1.2.
public struct SOAPEnvelope: Sendable {
    /// First child of Body.
    public var operation: XMLElement
    /// Other children of Body, such as the arrays that an operation refers to.
    public var others: [XMLElement]

    /// Media type `application/SOAP+xml`, compared ignoring case.
    public static let mediaType = DocumentMediaType("application/soap+xml")

    /// Reads the envelope.
    /// - Throws: ``DocumentError`` if the root is not an envelope, or its Body is missing or empty.
    public init(reading root: XMLElement) throws(DocumentError) {
        guard Self.isSOAP(root, "Envelope") else {
            throw DocumentError.wrongRoot(root, expected: Names.envelope, rule: "SOAP 1.1 4")
        }
        guard let body = root.children.first(where: { Self.isSOAP($0, "Body") }) else {
            throw root.missing(element: "Body", rule: "SOAP 1.1 4.3")
        }
        var children = body.children.makeIterator()
        guard let operation = children.next() else { throw body.missing(element: "operation", rule: "SOAP 1.1 4.3") }
        self.operation = operation
        others = []
        while let other = children.next() { others.append(other) }
    }

    /// Parses and reads an envelope.
    public init(parsing bytes: [UInt8], limits: XMLLimits = .standard) throws(DocumentError) {
        let tree: XMLTree
        do { tree = try XMLTree.parse(bytes, limits: limits) } catch { throw DocumentError(error) }
        try self.init(reading: tree.root)
    }

    /// Encodes an envelope with the Body that `body` writes; the prefix `m` is bound to the namespace of the operations.
    public static func encode(_ body: (inout XMLWriter) -> Void) -> [UInt8] {
        var writer = XMLWriter(declaration: false, capacity: 512)
        write(to: &writer, body)
        return writer.finish()
    }

    /// Same, into a writer.
    static func write(to writer: inout XMLWriter, _ body: (inout XMLWriter) -> Void) {
        writer.start("SOAP-ENV:Envelope")
        writer.namespace("SOAP-ENV", .soapEnvelope)
        writer.namespace("m", .msSIPOperations)
        writer.start("SOAP-ENV:Body")
        body(&writer)
        writer.end()
        writer.end()
    }

    private enum Names {
        static let envelope = XMLName("Envelope", in: .soapEnvelope)
    }

    private static func isSOAP(_ element: XMLElement, _ name: String) -> Bool {
        guard element.localNameEquals(name) else { return false }
        let namespace = element.namespace
        return namespace == XMLNamespace.soapEnvelope.uri || namespace + "/" == XMLNamespace.soapEnvelope.uri
            || namespace == "http://www.w3.org/2003/05/soap-envelope"
    }
}

/// Refusal of an operation, as the body of the answer (MS-PRES 4.1.2).
public struct SOAPFault: Hashable, Sendable {
    /// Code, such as `Client.BadCall` or `Server.UnknownError`.
    public var code: String
    /// Current version of the changed object, if the fault is about versions.
    public var currentDeltaNum: UInt32?

    public init(code: String, currentDeltaNum: UInt32? = nil) {
        self.code = code
        self.currentDeltaNum = currentDeltaNum
    }

    /// The request cannot be carried out as it is.
    public static let badCall = SOAPFault(code: "Client.BadCall")

    /// The request named another version than the current one; the code is that of MS-PRES 2.2.2.10.4 for the same fault.
    public static func wrongDelta(current: UInt32) -> SOAPFault {
        SOAPFault(code: "Client.BadCall.WrongDelta", currentDeltaNum: current)
    }

    /// Fault as a SOAP envelope.
    public func encoded() -> [UInt8] {
        SOAPEnvelope.encode { writer in
            writer.start("SOAP-ENV:Fault")
            writer.element("Faultcode", code)
            if let currentDeltaNum {
                writer.start("details")
                writer.element("m:deltaNum", String(currentDeltaNum))
                writer.end()
            }
            writer.end()
        }
    }
}

extension XMLNamespace {
    /// SOAP 1.1 envelope.
    public static let soapEnvelope = XMLNamespace("http://schemas.xmlsoap.org/soap/envelope/")
    /// Operations in SOAP bodies: directory search, contacts, access control (MS-PRES 2.2.1, MS-SIP 4.6).
    public static let msSIPOperations = XMLNamespace("http://schemas.microsoft.com/winrtc/2002/11/sip")
}

/// Reader of the child elements of an operation by local name: clients differ in prefixes and in the case of `URI`.
struct OperationReader {
    let element: XMLElement
    let rule: StaticString

    init(_ element: XMLElement, rule: StaticString) {
        self.element = element
        self.rule = rule
    }

    /// First child with that name, ignoring case.
    func child(_ name: StaticString) -> XMLElement? {
        element.children.first { child in
            let local = child.localName.utf8
            let wanted = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
            return local.count == wanted.count && zip(local, wanted).allSatisfy { $0 | 0x20 == $1 | 0x20 }
        }
    }

    func string(_ name: StaticString) -> String? { child(name)?.trimmedText }

    /// Text of a required child; an empty one is refused.
    func requiredString(_ name: StaticString) throws(DocumentError) -> String {
        guard let child = child(name) else { throw element.missing(element: name, rule: rule) }
        let text = child.trimmedText
        guard !text.isEmpty else { throw child.invalid(child.localName, value: "", expected: "a text", rule: rule) }
        return text
    }

    func unsigned(_ name: StaticString) throws(DocumentError) -> UInt32? {
        guard let child = child(name) else { return nil }
        return try child.unsignedText(rule: rule)
    }

    func requiredUnsigned(_ name: StaticString) throws(DocumentError) -> UInt32 {
        guard let value = try unsigned(name) else { throw element.missing(element: name, rule: rule) }
        return value
    }

    func boolean(_ name: StaticString) throws(DocumentError) -> Bool? {
        guard let child = child(name), !child.trimmedText.isEmpty else { return nil }
        return try child.booleanText(rule: rule)
    }
}
