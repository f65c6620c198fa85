import PresenceDocuments
import XMLCore

/// How a conversion is to be done.
public struct ConversionOptions: Sendable, Hashable {
    /// The presentity, for documents that do not name one; replaces the name in those that do.
    public var entity: String?
    /// How PIDF is written.
    public var profile: PIDFProfile
    /// The clock: decides which timed elements are valid and is the publish time of what has none. Nil takes all and writes none.
    public var at: DateTime?
    /// Whether PIDF carries the exact values of the enhanced model in an extension.
    public var lossless: Bool
    /// What a flawed part of the source does.
    public var reading = ReadingPolicy.strict

    public init(entity: String? = nil, profile: PIDFProfile = .rpid, at: DateTime? = nil, lossless: Bool = false) {
        self.entity = entity
        self.profile = profile
        self.at = at
        self.lossless = lossless
    }
}

/// A converted document and what happened on the way.
public struct Conversion: Sendable, Equatable {
    /// The document as UTF-8.
    public var bytes: [UInt8]
    public var report: ConversionReport

    public init(bytes: [UInt8], report: ConversionReport) {
        self.bytes = bytes
        self.report = report
    }
}

/// What a conversion lost and which rows decided it.
public struct ConversionReport: Sendable, Equatable {
    public var from: PresenceFormat
    public var to: PresenceFormat
    public var losses: [MappingLoss]
    /// Ids of the rows that were used, each once.
    public var rowIDs: [String]
    /// What a liberal reading of the source passed over.
    public var flaws: [DocumentFlaw] = []

    public init(from: PresenceFormat, to: PresenceFormat, losses: [MappingLoss] = [], rowIDs: [String] = []) {
        self.from = from
        self.to = to
        self.losses = losses
        self.rowIDs = rowIDs
    }

    /// One line per flaw, `dropped: REASON` or `repaired: REASON`; one per loss, `lost FIELD "VALUE": REASON [ROW]`, and a last line with the rows.
    public var text: String {
        var lines = flaws.map(\.description)
        lines += losses.map { "lost \($0.field) \(JSONValue.quoted($0.value)): \($0.reason) [\($0.rowID)]" }
        let count = losses.isEmpty ? "nothing lost" : "\(losses.count) lost"
        lines.append("\(from) to \(to): \(count); rows \(rowIDs.isEmpty ? "none" : rowIDs.joined(separator: " "))")
        return lines.joined(separator: "\n")
    }

    /// One JSON object on one line.
    public var json: String {
        let losses = losses.map { loss in
            """
            {"row":\(JSONValue.quoted(loss.rowID)),"field":\(JSONValue.quoted(loss.field)),\
            "value":\(JSONValue.quoted(loss.value)),"reason":\(JSONValue.quoted(loss.reason))}
            """
        }
        let rows = rowIDs.map { JSONValue.quoted($0) }.joined(separator: ",")
        let flaws = self.flaws.map {
            "{\"treatment\":\"\($0.treatment.rawValue)\",\"reason\":\(JSONValue.quoted($0.error.message))}"
        }.joined(separator: ",")
        return """
            {"from":"\(from)","to":"\(to)","losses":[\(losses.joined(separator: ","))],"rows":[\(rows)],"flaws":[\(flaws)]}
            """
    }
}

/// Why a document was not converted; the fault of whoever wrote it, or of the caller where an option is missing.
public struct ConversionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The code of the ``DocumentError``, or `missing-option`.
    public var code: String
    /// From 1; 0 where no place in the document applies.
    public var line: Int
    public var column: Int
    /// What is wrong, with the rule.
    public var message: String

    public init(code: String, line: Int = 0, column: Int = 0, message: String) {
        self.code = code
        self.line = line
        self.column = column
        self.message = message
    }

    public init(_ error: DocumentError) {
        self.init(
            code: error.code.name, line: error.position?.line ?? 0, column: error.position?.column ?? 0, message: error.message)
    }

    /// `LINE:COLUMN: MESSAGE`
    public var description: String { line > 0 ? "\(line):\(column): \(message)" : message }
}
