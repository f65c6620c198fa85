import Glibc
import Measurement
import PresenceLoad

/// Compares the program, in memory and with its SQLite store, with Kamailio under the same load, in turn, over TCP on loopback.
///
/// Measures the processor time of all processes of the measured side, including the kernel's, but not of the load.
@main
struct KamailioBenchmark {
    static let usage = """
        usage: kamailio-benchmark PATH-OF-ISTHMUS [--quick] [--rounds N] [--rows LIST] [--label TEXT] [--write FILE] [--check FILE] | --growth
          --rows    only these groups, separated by commas: \(RowGroup.allCases.map(\.rawValue).joined(separator: ", "))
          --label   version of the program, for the table that is written
          --write   writes the table as a file
          --check   compares with such a file; exits with 1 when something became worse by more than 10 %
        """

    static func main() {
        let arguments = Arguments()
        var rest = arguments.rest[...]
        var values: [String: String] = [:]
        var program: String?
        var isGrowth = false
        while let word = rest.popFirst() {
            if word == "--growth" {
                isGrowth = true
            } else if ["--rounds", "--rows", "--label", "--write", "--check"].contains(word), let value = rest.popFirst() {
                values[word] = value
            } else if !word.hasPrefix("--"), program == nil {
                program = word
            } else {
                refuse(usage)
            }
        }
        let groups = values["--rows"].map { $0.split(separator: ",").map { RowGroup(rawValue: String($0)) } } ?? RowGroup.allCases
        let rounds = values["--rounds"].map { Int($0) } ?? (arguments.isQuick ? 3 : 9)
        guard let program, let rounds, rounds > 0, !groups.contains(nil) else { refuse(usage) }
        if isGrowth {
            Growth(isthmus: program, isQuick: arguments.isQuick).run()
            return
        }
        guard access(KamailioPeer.program, X_OK) == 0 else {
            print("kamailio-benchmark: the Debian packages kamailio and kamailio-presence-modules are not installed")
            exit(1)
        }
        var committed: CommittedTable?
        if let path = values["--check"] {
            committed = CommittedTable(reading: path)
            if committed == nil { exit(2) }
        }
        let suite = RowSuite(comparison: Comparison(isthmus: program, rounds: rounds), isQuick: arguments.isQuick)
        let rows = suite.run(groups.compactMap { $0 })
        let circumstances = [
            "date \(today())", "version \(values["--label"] ?? "unknown")", KamailioPeer.version,
            "\(rounds) rounds\(arguments.isQuick ? ", quick" : "")", "\(sysconf(Int32(_SC_NPROCESSORS_ONLN))) processors",
        ]
        print("\n" + circumstances.joined(separator: "; "))
        let table = CommittedTable(rows, circumstances: circumstances)
        if let path = values["--write"] {
            guard table.write(to: path) else {
                print("kamailio-benchmark: cannot write \(path)")
                exit(1)
            }
        }
        if let committed {
            let isWhole = values["--rows"] == nil && !arguments.isQuick
            exit(isGood(table, against: committed, suite, isWhole: isWhole) ? 0 : 1)
        }
    }

    /// Compares a run with the committed table; what became worse is measured once more, and counts when it is worse again.
    /// - Parameter isWhole: Whether the run measured every row, so that a missing one is a failure.
    private static func isGood(_ run: CommittedTable, against committed: CommittedTable, _ suite: RowSuite, isWhole: Bool) -> Bool {
        print("\nCommitted table: " + committed.circumstances.joined(separator: "; "))
        var run = run
        var moves = committed.moves(to: run)
        if !moves.worse.isEmpty {
            moves.show()
            print("\nOnce more: \(moves.worse.sorted().joined(separator: ", "))")
            run.replace(moves.worse, by: CommittedTable(suite.run(RowGroup.measuring(moves.worse)), circumstances: []))
            moves = committed.moves(to: run)
        }
        moves.show()
        let worse = moves.worse.sorted()
        print(worse.isEmpty ? "Nothing became worse." : "Worse: \(worse.joined(separator: ", ")).")
        return worse.isEmpty && moves.compared > 0 && (moves.missing == 0 || !isWhole)
    }

    private static func refuse(_ text: String) -> Never {
        print(text)
        exit(2)
    }

    private static func today() -> String {
        var now = time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(parts.tm_year + 1_900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
    }
}
