import Foundation

/// Measures every construct, prints a line for each, and writes the report that `scripts/test` counts.
///
///     growth [REPORT.xml] [NAME...]     only constructs whose names contain one of these words
@main
struct Program {
    static let constructs =
        Construct.documents + Construct.xml + Construct.headers + Construct.messages + Construct.enhancedTables + Construct.otherTables
        + Construct.gatewayTables

    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let report = arguments.first { $0.hasSuffix(".xml") }
        let words = arguments.filter { !$0.hasSuffix(".xml") }
        var cases: [(name: String, fault: String?)] = []
        for construct in Construct.planted {
            // The test of the test: what is quadratic is found, what is linear is not.
            let fault = Growth(of: construct).fault
            let isRight = (fault == "beyond linear") == construct.name.contains("quadratic")
            cases.append((construct.name, isRight ? nil : "planted, and measured as \(fault ?? "linear")"))
        }
        for construct in Self.constructs where words.isEmpty || words.contains(where: { construct.name.contains($0) }) {
            let growth = Growth(of: construct)
            cases.append((construct.name, growth.fault))
            let factors = growth.factors.map { String(format: "%5.2f", $0) }.joined(separator: " ")
            let numbers = zip(growth.sizes, growth.operations).map { "\($0): \($1)" }.joined(separator: "  ")
            print("\(factors)  \(construct.name)  \(numbers)\(growth.fault.map { "  FAILED: \($0)" } ?? "")")
        }
        let failed = cases.filter { $0.fault != nil }
        for (name, fault) in failed { print("failed: \(name): \(fault ?? "")") }
        print("growth: \(cases.count - failed.count) constructs linear, \(failed.count) not")
        if let report { try write(cases, failures: failed.count, to: report) }
        exit(failed.isEmpty ? 0 : 1)
    }

    private static func write(_ cases: [(name: String, fault: String?)], failures: Int, to file: String) throws {
        func escaped(_ text: String) -> String {
            text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
        }
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
        text += "<testsuite name=\"Growth\" errors=\"0\" tests=\"\(cases.count)\" failures=\"\(failures)\" skipped=\"0\">\n"
        for (name, fault) in cases {
            text += "<testcase classname=\"Growth\" name=\"\(escaped(name))\""
            text += fault.map { "><failure message=\"\(escaped($0))\"/></testcase>\n" } ?? "/>\n"
        }
        text += "</testsuite>\n</testsuites>\n"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
    }
}

extension Construct {
    /// Constructs whose growth is known.
    static let planted = [
        Construct("planted: quadratic, each compared with each", from: 100) { size in
            let names = (0..<size).map { "sip:user\($0)@example.com" }
            return {
                var distinct: [String] = []
                for name in names where !distinct.contains(name) { distinct.append(name) }
                return distinct.count == size
            }
        },
        Construct("planted: quadratic, the first removed until none is left", from: 4_000) { size in
            var numbers = Array(0..<size)
            return {
                while numbers.count > size / 2 { numbers.removeFirst() }
                return true
            }
        },
        Construct("planted: linear, a set of all", from: 100) { size in
            let names = (0..<size).map { "sip:user\($0)@example.com" }
            return {
                var distinct: Set<String> = []
                for name in names { distinct.insert(name) }
                return distinct.count == size
            }
        },
    ]
}
