// MS-PRES 2.2.2.2.3 and 2.2.2.10.4: the body of a 409 answer.

import XMLCore

/// One stale operation of a refused request (MS-PRES 2.2.2.2.3).
public struct FaultOperation: Hashable, Sendable {
    /// Position in the request, counted from 1 (MS-PRES 4.2.1).
    public var index: UInt32
    /// The version that the request named.
    public var version: UInt32
    /// The version that is stored; a retry must name it.
    public var currentVersion: UInt32
    /// The stored data of a publication.
    public var currentData: XMLFragment?

    public init(index: UInt32, version: UInt32, currentVersion: UInt32, currentData: XMLFragment? = nil) {
        self.index = index
        self.version = version
        self.currentVersion = currentVersion
        self.currentData = currentData
    }
}

/// Why a versioned request was refused (MS-PRES 2.2.2.2.3).
public struct FaultDocument: Hashable, Sendable {
    /// `Client.BadCall.WrongDelta`; the standard prints it in two forms (MS-PRES 2.2.2.2.3, 2.2.2.10.4).
    public var faultCode: String
    public var operations: [FaultOperation]

    public init(faultCode: String = FaultDocument.wrongDelta, operations: [FaultOperation]) {
        self.faultCode = faultCode
        self.operations = operations
    }

    /// The form that this gateway writes.
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
    /// In no namespace (MS-PRES 2.2.2.2.3); deployed servers write one, so that readers compare local names.
    public static let rootName = FaultNames.fault
    public static let mediaType = DocumentMediaType("application/msrtc-fault+xml")
    static let rule: StaticString = "MS-PRES 2.2.2.2.3"

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
