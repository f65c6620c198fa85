import Foundation
import PresenceMapping

/// One golden vector: a JSON file of `Vectors/` with its payload files. `Vectors/README.md` describes the format.
package struct VectorCase: Sendable, Hashable, CustomStringConvertible {
    /// The expected result of parsing or converting the input.
    package enum Expectation: String, Sendable {
        case valid
        case invalid
        /// Accepted although the peer violates the standard; the expected file shows the result.
        case tolerated
    }

    /// `suite/stem`: the path of the file without `.json`.
    package var id: String
    /// The first folder of ``id``; one of ``VectorLoader/suites``.
    package var suite: String
    /// A sentence about the case.
    package var comment: String
    /// Sections of the standards that the case tests; at least one.
    package var spec: [String]
    /// Origin of the input: `handwritten`, a section, or a client with its version.
    package var source: String
    /// The expected result.
    package var result: Expectation
    /// File name of the input, relative to ``directory``.
    package var input: String
    /// File name of the expected output; nil: the suite decides, for example by comparing with the input.
    package var expected: String?
    /// A part of the expected error message; required for invalid cases.
    package var error: String?
    /// `documents`: the format of the input, a key of ``DocumentFormats/codecs``.
    package var format: String?
    /// `mapping` and `conversion`: the source format.
    package var from: PresenceFormat?
    /// `mapping` and `conversion`: the target format.
    package var to: PresenceFormat?
    /// Options of the conversion; `aggregation` uses only the time.
    package var options: ConversionOptions
    /// Ids of the rows with reported losses, in any order; nil: none for `mapping`, unchecked for other suites.
    package var loss: [String]?
    /// Ids of rows that the conversion must use.
    package var rows: [String]
    /// Whether converting (or parsing and encoding) the output back must return the input.
    package var roundtrip: Bool
    /// `resolution`: watcher, category and expected decision.
    package var resolution: ResolutionQuestion?
    /// `sip`: whether the message is framed as on a stream, with mandatory Content-Length.
    package var isStream: Bool
    /// The folder of the case.
    package var directory: URL

    /// The ``id``.
    package var description: String { id }

    var inputURL: URL { directory.appendingPathComponent(input) }
    var expectedURL: URL? { expected.map { directory.appendingPathComponent($0) } }
}

/// A test of the container resolution of MS-PRES 3.2.5.3: which container a watcher sees for a category.
package struct ResolutionQuestion: Sendable, Hashable {
    /// URI of the watcher.
    package var watcher: String
    /// `sameEnterprise`, `federated` or `publicCloud`.
    package var network: String
    /// Name of the category.
    package var category: String
    /// The expected result: `container N (rule)` or `blocked (rule)`.
    package var decision: String
}

/// A malformed vector file.
package struct VectorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The id of the case, or `known-gaps`.
    package var id: String
    /// The error, with the line where it is known.
    package var message: String

    /// `ID: MESSAGE`.
    package var description: String { "\(id): \(message)" }
}
