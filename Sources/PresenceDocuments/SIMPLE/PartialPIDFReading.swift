import XMLCore

/// Refusal of a partial document: the sender is at fault, or the two copies differ.
public enum PartialPIDFError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The document cannot be read, or its result is not PIDF.
    case document(DocumentError)
    /// An operation cannot be applied (RFC 5261 5).
    case patch(XMLPatchError)

    public var description: String {
        switch self {
        case .document(let error): error.description
        case .patch(let error): error.description
        }
    }
}

/// Received document of type `application/pidf-diff+xml` (RFC 5262): the whole state, or operations on the previous document.
///
/// ``PartialPIDF`` writes them.
public struct PartialPIDFDocument: Sendable {
    /// Content of the document.
    public enum Content: Sendable {
        /// Whole state, as a PIDF document; root `pidf-full`.
        case full([UInt8])
        /// Operations on the previous document; root `pidf-diff`.
        case difference(XMLPatch)
    }

    /// Whole state or operations.
    public var content: Content
    /// Version; required in notifications (RFC 5263 4.4), without meaning in publications (RFC 5264 4).
    public var version: UInt32?

    static let full = XMLName("pidf-full", in: .pidfDiff)
    private static let difference = XMLName("pidf-diff", in: .pidfDiff)
    /// Selectors name the root as in a PIDF document or as in the first partial one (RFC 5262 3.2).
    private static let dialect = XMLPatch.Dialect(rootAliases: [PIDFName.presence, full], identifier: "id")

    /// Parses a document; throws ``PartialPIDFError`` if it is malformed, beyond the limits, or neither `pidf-full` nor
    /// `pidf-diff`.
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

    /// PIDF document that results from this one.
    /// - Parameters:
    ///   - before: PIDF document to which a difference is applied; ignored for a whole state.
    ///   - limits: Limits of that document; must keep space, so that no text is lost.
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

/// Subscriber's copy of a presence document, updated by partial notifications (RFC 5262, RFC 5263 4.4).
///
///     nothing --pidf-full--> version n --pidf-diff n+1--> version n+1
///                               |
///                               +--- older or the same: outdated; any other, or one that fails: the full state is to be fetched
///
/// Versions belong to one subscription and continue across its refreshes; 0 follows 4294967295.
public struct PartialPIDFCopy: Hashable, Sendable {
    /// Result of a notified document.
    public enum Outcome: Hashable, Sendable {
        /// Current presence.
        case document(PIDFDocument)
        /// Nothing new: the version was received before, or is older.
        case outdated
        /// A document was lost; a refresh requests the full state.
        case gap
    }

    /// Version of the last document applied; nil before the first.
    public private(set) var version: UInt32?
    private var bytes: [UInt8] = []

    public init() {}

    /// Same as ``receive(_:limits:reader:)``, with a strict reader.
    public mutating func receive(
        _ document: [UInt8], limits: XMLPatch.Limits = XMLPatch.Limits()
    ) throws(PartialPIDFError) -> Outcome {
        var reader = DocumentReader(.strict)
        return try receive(document, limits: limits, reader: &reader)
    }

    /// Applies a notified document.
    /// - Parameter reader: Reads the resulting document; a difference is applied as a whole or not at all (RFC 5261 5).
    /// - Throws: ``PartialPIDFError`` if it cannot be read or applied; the copy is unchanged then, and the full state must be
    ///   requested.
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
