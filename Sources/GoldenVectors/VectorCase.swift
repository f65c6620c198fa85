import Foundation
import PresenceMapping

/// One golden vector: a stem of `Vectors/` with its payload files. The format is in `Vectors/README.md`.
public struct VectorCase: Sendable, Hashable, CustomStringConvertible {
    /// What a reader is to make of the input.
    public enum Expectation: String, Sendable {
        case valid
        case invalid
        /// Read, though the peer is at fault; the expected file shows how.
        case tolerated
    }

    /// `suite/stem`, which is also the path of the file without `.json`.
    public var id: String
    public var suite: String
    public var comment: String
    public var spec: [String]
    public var source: String
    public var result: Expectation
    public var input: String
    public var expected: String?
    /// A fragment of the refusal, for invalid inputs.
    public var error: String?
    /// `documents`: what the input is.
    public var format: String?
    /// `mapping` and `conversion`: from and to.
    public var from: PresenceFormat?
    public var to: PresenceFormat?
    public var options: ConversionOptions
    /// Ids of the rows whose losses must be reported, each once, in any order.
    public var loss: [String]?
    /// Ids of rows that must have been used.
    public var rows: [String]
    /// Whether converting (or reading and writing) back must give the input again.
    public var roundtrip: Bool
    /// `resolution`: who asks for which category, and the decision.
    public var resolution: ResolutionQuestion?
    /// `sip`: framing as a stream, with Content-Length mandatory.
    public var isStream: Bool
    /// The directory of the files.
    public var directory: URL

    public var description: String { id }

    var inputURL: URL { directory.appendingPathComponent(input) }
    var expectedURL: URL? { expected.map { directory.appendingPathComponent($0) } }
}

/// Which container does a watcher see of a category (MS-PRES 3.2.5.3)?
public struct ResolutionQuestion: Sendable, Hashable {
    public var watcher: String
    /// sameEnterprise, federated or publicCloud.
    public var network: String
    public var category: String
    /// `container N (rule)` or `blocked (rule)`.
    public var decision: String
}

/// A vector file that is not one; the fault of its author.
public struct VectorError: Error, Sendable, Hashable, CustomStringConvertible {
    public var id: String
    public var message: String

    public var description: String { "\(id): \(message)" }
}
