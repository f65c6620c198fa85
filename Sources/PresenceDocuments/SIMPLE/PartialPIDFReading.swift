import XMLCore

/// Why a partial document is of no use; always the sender's fault, or a sign that the two copies differ.
public enum PartialPIDFError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The document itself cannot be read, or what it makes is no PIDF.
    case document(DocumentError)
    /// One of its operations cannot be done (RFC 5261 5).
    case patch(XMLPatchError)

    public var description: String {
        switch self {
        case .document(let error): error.description
        case .patch(let error): error.description
        }
    }
}

/// A document of type `application/pidf-diff+xml` as it came (RFC 5262): whole, or operations on the document before.
///
/// ``PartialPIDF`` writes them.
public struct PartialPIDFDocument: Sendable {
    public enum Content: Sendable {
        /// `pidf-full`, as a PIDF document.
        case full([UInt8])
        /// `pidf-diff`
        case difference(XMLPatch)
    }

    public var content: Content
    /// In notifications always there (RFC 5263 4.4), in publications of no meaning (RFC 5264 4).
    public var version: UInt32?

    static let full = XMLName("pidf-full", in: .pidfDiff)
    private static let difference = XMLName("pidf-diff", in: .pidfDiff)
    /// Selectors call the root by its name in a PIDF document or in the first partial one (RFC 5262 3.2).
    private static let dialect = XMLPatch.Dialect(rootAliases: [PIDFName.presence, full], identifier: "id")

    public init(_ bytes: [UInt8], limits: XMLPatch.Limits = XMLPatch.Limits()) throws(PartialPIDFError) {
        let root: XMLElement
        do throws(XMLError) { root = try XMLTree.parse(bytes, limits: limits.document).root } catch {
            throw .document(DocumentError(error))
        }
        do throws(DocumentError) {
            version = try root.integer("version", in: 0...Int(UInt32.max), rule: "RFC 5262 3.1").map { UInt32(truncatingIfNeeded: $0) }
            if root.is(Self.full) {
                _ = try root.required("entity", rule: "RFC 5262 3.1")
            } else if !root.is(Self.difference) {
                throw DocumentError.wrongRoot(root, expected: Self.difference, rule: "RFC 5262 3")
            }
        } catch { throw .document(error) }
        if root.is(Self.full) {
            content = .full(root.document(as: PIDFName.presence, without: ["version"]))
            return
        }
        do throws(XMLPatchError) {
            content = .difference(try XMLPatch(root, namespace: .pidfDiff, limits: limits))
        } catch { throw .patch(error) }
    }

    /// The PIDF document that this one makes.
    /// - Parameters:
    ///   - before: The PIDF document that a difference is applied to; not looked at when this one is whole.
    ///   - limits: Of that document; must keep space, so that no text is lost.
    public func document(after before: [UInt8], limits: XMLLimits = .keepingSpace) throws(PartialPIDFError) -> [UInt8] {
        guard case .difference(let patch) = content else {
            if case .full(let bytes) = content { return bytes }
            return before
        }
        let root: XMLElement
        do throws(XMLError) { root = try XMLTree.parse(before, limits: limits).root } catch {
            throw .document(DocumentError(error))
        }
        do throws(XMLPatchError) { return try patch.applied(to: root, dialect: Self.dialect) } catch { throw .patch(error) }
    }
}

/// A subscriber's copy of a presence document that partial notifications keep up to date (RFC 5262, RFC 5263 4.4).
///
///     nothing --pidf-full--> version n --pidf-diff n+1--> version n+1
///                               |
///                               +--- older or the same: outdated; any other, or one that fails: the full state is to be fetched
///
/// Versions are of one subscription and survive its refreshes; after 4294967295 comes 0.
public struct PartialPIDFCopy: Hashable, Sendable {
    public enum Outcome: Hashable, Sendable {
        /// The presence as it is now.
        case document(PIDFDocument)
        /// Nothing new: of a version that was seen.
        case outdated
        /// Something was lost in between; a refresh brings the full state.
        case gap
    }

    /// Of the last document taken over; nil before the first.
    public private(set) var version: UInt32?
    private var bytes: [UInt8] = []

    public init() {}

    /// As ``receive(_:limits:reader:)``, strictly.
    public mutating func receive(
        _ document: [UInt8], limits: XMLPatch.Limits = XMLPatch.Limits()
    ) throws(PartialPIDFError) -> Outcome {
        var reader = DocumentReader(.strict)
        return try receive(document, limits: limits, reader: &reader)
    }

    /// Takes a notified document over.
    /// - Parameter reader: Reads the document that results; a difference itself is applied as it is, or not at all (RFC 5261 5).
    /// - Throws: When it cannot be read or applied; the copy is then as before, and the full state is to be fetched.
    public mutating func receive(
        _ document: [UInt8], limits: XMLPatch.Limits = XMLPatch.Limits(), reader: inout DocumentReader
    ) throws(PartialPIDFError) -> Outcome {
        let partial = try PartialPIDFDocument(document, limits: limits)
        guard let next = partial.version else {
            throw .document(DocumentError(code: .missing, message: "RFC 5263 4.4: a notified partial document without version"))
        }
        if case .difference = partial.content {
            guard let version else { return .gap }
            let distance = next &- version
            if distance == 0 || distance > UInt32.max / 2 { return .outdated }
            guard distance == 1 else { return .gap }
        }
        let changed = try partial.document(after: bytes, limits: limits.document)
        let result: PIDFDocument
        do throws(DocumentError) {
            result = try reader.readPIDF(changed, using: XMLParser(limits: PIDFDocument.limits))
        } catch { throw .document(error) }
        bytes = changed
        version = next
        return .document(result)
    }
}
