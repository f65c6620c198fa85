import Foundation
import PresenceMapping

/// What became of one case.
public struct VectorResult: Sendable, Hashable {
    public enum Outcome: Sendable, Hashable {
        case passed
        case failed(String)
        /// A known gap, with its reason.
        case skipped(String)
    }

    public var id: String
    public var outcome: Outcome
}

/// What became of a run.
public struct VectorReport: Sendable {
    public var results: [VectorResult]
    /// Ids of the mapping rows that cases used.
    public var hitRows: Set<String>

    public var passed: Int { results.count { $0.outcome == .passed } }
    public var failed: Int { results.count { if case .failed = $0.outcome { true } else { false } } }
    public var skipped: Int { results.count { if case .skipped = $0.outcome { true } else { false } } }

    /// Whether the run is good: something ran and nothing failed.
    public var isGood: Bool { failed == 0 && !results.isEmpty }

    /// One line per case that did not pass, and the count as the last line.
    public var text: String {
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
    public var summary: String { "\(passed) passed, \(failed) failed, \(skipped) skipped" }
}

/// Runs all golden vectors of a directory (`isthmus verify`).
public enum VectorRunner {
    /// Runs the cases whose id fits `only`.
    ///
    /// A case that `known-gaps.json` names is skipped while it fails; when it passes, and when a pattern fits no case, the run fails.
    public static func run(_ directory: String, only: String? = nil, tables: MappingTables = .embedded) -> VectorReport {
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

    /// Writes the expected file of one case from what the case gives now.
    ///
    /// Recording is not passing: the caller counts it as a failure and shows the difference.
    /// - Returns: What was written and the difference from before.
    public static func bless(_ id: String, in directory: String, tables: MappingTables = .embedded) throws(VectorError) -> String {
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
