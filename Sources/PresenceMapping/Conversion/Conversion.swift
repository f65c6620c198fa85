import ByteCoding
import PresenceDocuments
import XMLCore

/// Options of a conversion.
public struct ConversionOptions: Sendable, Hashable {
    /// The presentity: required for documents that do not name one, and replaces the name in others.
    public var entity: String?
    /// The profile in which PIDF is written.
    public var profile: PIDFProfile
    /// The time of the conversion: selects the valid timed elements, and is the publish time of values without one. Nil takes all
    /// timed elements and writes no time.
    public var at: DateTime?
    /// Whether PIDF carries the exact values of the enhanced model in an extension.
    public var lossless: Bool
    /// How flaws of the source are treated.
    public var reading = ReadingPolicy.strict

    /// Creates options; by default profile `rpid`, no time, strict reading.
    public init(entity: String? = nil, profile: PIDFProfile = .rpid, at: DateTime? = nil, lossless: Bool = false) {
        self.entity = entity
        self.profile = profile
        self.at = at
        self.lossless = lossless
    }
}

/// A converted document with its report.
public struct Conversion: Sendable, Equatable {
    /// The document in UTF-8.
    public var bytes: [UInt8]
    /// Losses, rows and flaws of the conversion.
    public var report: ConversionReport

    /// Creates a conversion.
    public init(bytes: [UInt8], report: ConversionReport) {
        self.bytes = bytes
        self.report = report
    }
}

/// The losses of a conversion and the rows that decided it.
public struct ConversionReport: Sendable, Equatable {
    /// The format of the source.
    public var from: PresenceFormat
    /// The format of the target.
    public var to: PresenceFormat
    /// The losses in the order of their occurrence; empty if the target is written from the source document itself.
    public var losses: [MappingLoss]
    /// Ids of the rows used, each once.
    public var rowIDs: [String]
    /// Flaws of the source that a liberal reading dropped or repaired.
    public var flaws: [DocumentFlaw] = []

    /// Creates a report.
    public init(from: PresenceFormat, to: PresenceFormat, losses: [MappingLoss] = [], rowIDs: [String] = []) {
        self.from = from
        self.to = to
        self.losses = losses
        self.rowIDs = rowIDs
    }

    /// One line per flaw, `dropped: REASON` or `repaired: REASON`; one per loss, `lost FIELD "VALUE": REASON [ROW]`; the last line
    /// has the number of losses and the rows.
    public var text: String {
        var lines = flaws.map(\.description)
        lines += losses.map { "lost \($0.field) \(JSONString.quoted($0.value)): \($0.reason) [\($0.rowID)]" }
        let count = losses.isEmpty ? "nothing lost" : "\(losses.count) lost"
        lines.append("\(from) to \(to): \(count); rows \(rowIDs.isEmpty ? "none" : rowIDs.joined(separator: " "))")
        return lines.joined(separator: "\n")
    }

    /// The report as one JSON object on one line.
    public var json: String {
        let losses = losses.map { loss in
            """
            {"row":\(JSONString.quoted(loss.rowID)),"field":\(JSONString.quoted(loss.field)),\
            "value":\(JSONString.quoted(loss.value)),"reason":\(JSONString.quoted(loss.reason))}
            """
        }
        let rows = rowIDs.map { JSONString.quoted($0) }.joined(separator: ",")
        let flaws = self.flaws.map {
            "{\"treatment\":\"\($0.treatment.rawValue)\",\"reason\":\(JSONString.quoted($0.error.message))}"
        }.joined(separator: ",")
        return """
            {"from":"\(from)","to":"\(to)","losses":[\(losses.joined(separator: ","))],"rows":[\(rows)],"flaws":[\(flaws)]}
            """
    }
}

/// The reason a document was not converted: a flaw of the document, or a missing option.
public struct ConversionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The code of the ``DocumentError``; `missing-option` if an option is missing.
    public var code: String
    /// The line, from 1; 0 if no position in the document applies.
    public var line: Int
    /// The column, from 1; 0 if no position in the document applies.
    public var column: Int
    /// The error with the broken rule.
    public var message: String

    /// Creates an error; by default without a position.
    public init(code: String, line: Int = 0, column: Int = 0, message: String) {
        self.code = code
        self.line = line
        self.column = column
        self.message = message
    }

    /// Converts the error of a document.
    public init(_ error: DocumentError) {
        self.init(
            code: error.code.name, line: error.position?.line ?? 0, column: error.position?.column ?? 0, message: error.message)
    }

    /// `LINE:COLUMN: MESSAGE`, or the message alone without a position.
    public var description: String { line > 0 ? "\(line):\(column): \(message)" : message }
}
