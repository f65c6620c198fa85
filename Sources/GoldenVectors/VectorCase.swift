import Foundation
import PresenceMapping

/// One golden vector: a JSON file of `Vectors/` with its payload files. `Vectors/README.md` describes the format.
public struct VectorCase: Sendable, Hashable, CustomStringConvertible {
    /// The expected result of parsing or converting the input.
    public enum Expectation: String, Sendable {
        case valid
        case invalid
        /// Accepted although the peer violates the standard; the expected file shows the result.
        case tolerated
    }

    /// `suite/stem`: the path of the file without `.json`.
    public var id: String
    /// The first folder of ``id``; one of ``VectorLoader/suites``.
    public var suite: String
    /// A sentence about the case.
    public var comment: String
    /// Sections of the standards that the case tests; at least one.
    public var spec: [String]
    /// Origin of the input: `handwritten`, a section, or a client with its version.
    public var source: String
    /// The expected result.
    public var result: Expectation
    /// File name of the input, relative to ``directory``.
    public var input: String
    /// File name of the expected output; nil: the suite decides, for example by comparing with the input.
    public var expected: String?
    /// A part of the expected error message; required for invalid cases.
    public var error: String?
    /// `documents`: the format of the input, a key of ``DocumentFormats/codecs``.
    public var format: String?
    /// `mapping` and `conversion`: the source format.
    public var from: PresenceFormat?
    /// `mapping` and `conversion`: the target format.
    public var to: PresenceFormat?
    /// Options of the conversion; `aggregation` uses only the time.
    public var options: ConversionOptions
    /// Ids of the rows with reported losses, in any order; nil: none for `mapping`, unchecked for other suites.
    public var loss: [String]?
    /// Ids of rows that the conversion must use.
    public var rows: [String]
    /// Whether converting (or parsing and encoding) the output back must return the input.
    public var roundtrip: Bool
    /// `resolution`: watcher, category and expected decision.
    public var resolution: ResolutionQuestion?
    /// `sip`: whether the message is framed as on a stream, with mandatory Content-Length.
    public var isStream: Bool
    /// The folder of the case.
    public var directory: URL

    /// The ``id``.
    public var description: String { id }

    var inputURL: URL { directory.appendingPathComponent(input) }
    var expectedURL: URL? { expected.map { directory.appendingPathComponent($0) } }
}

/// A test of the container resolution of MS-PRES 3.2.5.3: which container a watcher sees for a category.
public struct ResolutionQuestion: Sendable, Hashable {
    /// URI of the watcher.
    public var watcher: String
    /// `sameEnterprise`, `federated` or `publicCloud`.
    public var network: String
    /// Name of the category.
    public var category: String
    /// The expected result: `container N (rule)` or `blocked (rule)`.
    public var decision: String
}

/// A malformed vector file.
public struct VectorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The id of the case, or `known-gaps`.
    public var id: String
    /// The error, with the line where it is known.
    public var message: String

    /// `ID: MESSAGE`.
    public var description: String { "\(id): \(message)" }
}
