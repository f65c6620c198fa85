import Foundation
import PresenceMapping

/// The result of one case.
package struct VectorResult: Sendable, Hashable {
    /// The outcome of a case.
    package enum Outcome: Sendable, Hashable {
        case passed
        case failed(String)
        /// A case that fails and is listed in `known-gaps.json`, with the reason given there.
        case skipped(String)
    }

    /// The id of the case; `known-gaps` or the folder for errors that belong to no case.
    package var id: String
    /// The outcome.
    package var outcome: Outcome
}

/// The result of a run.
package struct VectorReport: Sendable {
    /// One result per case, in the order of the ids, and errors that belong to no case.
    package var results: [VectorResult]
    /// Ids of the mapping rows that the cases used.
    package var hitRows: Set<String>

    /// Number of cases that passed.
    package var passed: Int { results.count { $0.outcome == .passed } }
    /// Number of failures, including errors that belong to no case.
    package var failed: Int { results.count { if case .failed = $0.outcome { true } else { false } } }
    /// Number of known gaps that still fail.
    package var skipped: Int { results.count { if case .skipped = $0.outcome { true } else { false } } }

    /// Whether the run succeeded: at least one result and no failure.
    package var isGood: Bool { failed == 0 && !results.isEmpty }

    /// One line per failed or skipped case, then ``summary``.
    package var text: String {
        var lines: [String] = []
        for result in results {
            switch result.outcome {
            case .passed: continue
            case .failed(let message): lines.append("failed  \(result.id): \(message)")
            case .skipped(let reason): lines.append("skipped \(result.id): \(reason)")
            }
        }
        lines.append(summary)
        return lines.joined(separator: "\n")
    }

    /// `N passed, N failed, N skipped`
    package var summary: String { "\(passed) passed, \(failed) failed, \(skipped) skipped" }
}

/// Runs the golden vectors of a folder (`isthmus verify`).
package enum VectorRunner {
    /// Runs the cases that match `only`, or all of them.
    ///
    /// A case listed in `known-gaps.json` is skipped while it fails. The run fails if such a case passes, or if a pattern
    /// matches no case.
    package static func run(_ directory: String, only: String? = nil, tables: MappingTables = .embedded) -> VectorReport {
        let root = URL(fileURLWithPath: directory, isDirectory: true)
        let verifier = VectorVerifier(tables: tables)
        var results: [VectorResult] = []
        var gaps: [(pattern: String, reason: String)] = []
        do throws(VectorError) {
            gaps = try VectorLoader.knownGaps(in: root)
        } catch {
            results.append(VectorResult(id: error.id, outcome: .failed(error.message)))
        }
        let all = VectorLoader.ids(in: root)
        for id in all where only.map({ VectorLoader.matches(id, $0) }) ?? true {
            let fault: String?
            do throws(VectorError) {
                fault = verifier.fault(of: try VectorLoader.load(id, in: root))
            } catch {
                fault = error.message
            }
            let gap = gaps.first { VectorLoader.matches(id, $0.pattern) }
            switch (fault, gap) {
            case (nil, nil): results.append(VectorResult(id: id, outcome: .passed))
            case (let fault?, nil): results.append(VectorResult(id: id, outcome: .failed(fault)))
            case (_?, let gap?): results.append(VectorResult(id: id, outcome: .skipped(gap.reason)))
            case (nil, let gap?):
                results.append(VectorResult(id: id, outcome: .failed("known gap \(gap.pattern) passes: take it out of known-gaps.json")))
            }
        }
        for gap in gaps where only == nil && !all.contains(where: { VectorLoader.matches($0, gap.pattern) }) {
            results.append(VectorResult(id: "known-gaps", outcome: .failed("\(gap.pattern) fits no case")))
        }
        if results.isEmpty { results.append(VectorResult(id: directory, outcome: .failed("no vectors found"))) }
        return VectorReport(results: results, hitRows: verifier.hitRows)
    }

    /// Overwrites the expected file of a case with its present output.
    ///
    /// The caller counts a recorded case as a failure and prints the returned text.
    /// - Returns: the name of the written file and the failure before writing.
    /// - Throws: ``VectorError`` if the case has no expected file or no output, or the file cannot be written.
    package static func bless(_ id: String, in directory: String, tables: MappingTables = .embedded) throws(VectorError) -> String {
        let root = URL(fileURLWithPath: directory, isDirectory: true)
        let vector = try VectorLoader.load(id, in: root)
        guard let url = vector.expectedURL else { throw VectorError(id: id, message: "the case names no expected file") }
        let verifier = VectorVerifier(tables: tables)
        let before = verifier.fault(of: vector)
        guard let output = verifier.output(of: vector) else { throw VectorError(id: id, message: before ?? "no document") }
        do {
            try Data(output).write(to: url)
        } catch {
            throw VectorError(id: id, message: "\(url.lastPathComponent) cannot be written")
        }
        return "\(id): wrote \(url.lastPathComponent)" + (before.map { "; before: \($0)" } ?? "; it was the same")
    }
}
