// MS-PRES 2.2.2.2.3 and 2.2.2.10.4: the body of a 409 answer.

import XMLCore

/// Stale operation of a refused request (MS-PRES 2.2.2.2.3).
public struct FaultOperation: Hashable, Sendable {
    /// Position in the request, counted from 1 (MS-PRES 4.2.1).
    public var index: UInt32
    /// Version in the request.
    public var version: UInt32
    /// Stored version, which a retry must name.
    public var currentVersion: UInt32
    /// Stored data of a publication; nil when absent.
    public var currentData: XMLFragment?

    public init(index: UInt32, version: UInt32, currentVersion: UInt32, currentData: XMLFragment? = nil) {
        self.index = index
        self.version = version
        self.currentVersion = currentVersion
        self.currentData = currentData
    }
}

/// Refusal of a versioned request (MS-PRES 2.2.2.2.3).
public struct FaultDocument: Hashable, Sendable {
    /// Fault code `Client.BadCall.WrongDelta`; the standard prints it in two forms (MS-PRES 2.2.2.2.3, 2.2.2.10.4).
    public var faultCode: String
    /// Stale operations in document order.
    public var operations: [FaultOperation]

    /// Creates a refusal; by default with ``wrongDelta``.
    public init(faultCode: String = FaultDocument.wrongDelta, operations: [FaultOperation]) {
        self.faultCode = faultCode
        self.operations = operations
    }

    /// Fault code that this gateway writes.
    public static let wrongDelta = "Client.BadCall.WrongDelta"

    /// Whether the fault is about versions, in either printed form.
    public var isWrongDelta: Bool { faultCode.hasSuffix("BadCall.WrongDelta") }
}

// MARK: elements

private enum FaultNames {
    static let fault = XMLName("Fault")
}

// MARK: decode

extension FaultDocument: MSRTCDocument {
    /// Root element `Fault`, in no namespace (MS-PRES 2.2.2.2.3); deployed servers write one, so readers compare local names only.
    public static let rootName = FaultNames.fault
    /// Media type `application/msrtc-fault+xml`.
    public static let mediaType = DocumentMediaType("application/msrtc-fault+xml")
    static let rule: StaticString = "MS-PRES 2.2.2.2.3"

    /// Reads `Fault` in any namespace; requires `Faultcode`, details are optional.
    public init(reading element: XMLElement) throws(DocumentError) {
        guard element.localNameEquals("Fault") else {
            throw DocumentError.wrongRoot(element, expected: Self.rootName, rule: "\(Self.rule)")
        }
        guard let code = element.children.first(where: { $0.localNameEquals("Faultcode") }) else {
            throw element.missing(element: "Faultcode", rule: Self.rule)
        }
        self.init(faultCode: code.trimmedText, operations: [])
        let details = element.children.first { $0.localNameEquals("details") }
        for operation in details?.children.filter({ $0.localNameEquals("operation") }) ?? [] {
            var attributes = AttributeReader(operation, rule: Self.rule)
            var children = operation.children.makeIterator()
            operations.append(
                FaultOperation(
                    index: try attributes.requiredUnsigned("index"), version: try attributes.requiredUnsigned("version"),
                    currentVersion: try attributes.requiredUnsigned("curVersion"), currentData: children.next()?.fragment()))
        }
    }
}

// MARK: encode

extension FaultDocument {
    /// Writes the `Fault` element, in no namespace.
    public func write(to writer: inout XMLWriter) {
        writer.start("Fault")
        writer.element("Faultcode", faultCode)
        writer.start("details")
        for operation in operations {
            writer.start("operation")
            writer.attribute("index", String(operation.index))
            writer.attribute("version", String(operation.version))
            writer.attribute("curVersion", String(operation.currentVersion))
            if let data = operation.currentData { writer.fragment(data) }
            writer.end()
        }
        writer.end()
        writer.end()
    }
}
