import Foundation

/// Measures every construct, prints one line for each, and writes the report that `scripts/test` counts.
///
///     growth [REPORT.xml] [NAME...]     only constructs with one of these words in their names
@main
struct Program {
    static let constructs =
        Construct.documents + Construct.xml + Construct.headers + Construct.messages + Construct.enhancedTables + Construct.otherTables
        + Construct.gatewayTables + Construct.registrations + Construct.filters + Construct.decisions
        + Construct.bounds

    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let report = arguments.first { $0.hasSuffix(".xml") }
        let words = arguments.filter { !$0.hasSuffix(".xml") }
        var cases: [(name: String, fault: String?)] = []
        for (construct, expected) in Construct.planted {
            // Self-test: quadratic or unbounded work is found, linear or bounded work is not.
            let fault = Growth(of: construct).fault
            cases.append((construct.name, fault == expected ? nil : "planted, and measured as \(fault ?? "right")"))
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
        print("growth: \(cases.count - failed.count) constructs linear or bounded, \(failed.count) not")
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
    /// Constructs with known growth, each with the fault that must be found.
    static let planted: [(Construct, String?)] = [
        (
            Construct("planted: quadratic, each compared with each", from: 100) { size in
                let names = (0..<size).map { "sip:user\($0)@example.com" }
                return { distinct(names, limit: .max) }
            }, "beyond linear"
        ),
        (
            Construct("planted: quadratic, the first removed until none is left", from: 4_000) { size in
                var numbers = Array(0..<size)
                return {
                    while numbers.count > size / 2 { numbers.removeFirst() }
                    return true
                }
            }, "beyond linear"
        ),
        (
            Construct("planted: linear, a set of all", from: 100) { size in
                let names = (0..<size).map { "sip:user\($0)@example.com" }
                return {
                    var distinct: Set<String> = []
                    for name in names { distinct.insert(name) }
                    return distinct.count == size
                }
            }, nil
        ),
        (
            .bounded("planted: quadratic, but bounded", by: "150 names", from: 100) { size in
                let names = (0..<size).map { "sip:user\($0)@example.com" }
                return { distinct(names, limit: 150) }
            }, nil
        ),
        (
            .bounded("planted: a limit that is not applied", by: "150 names", from: 100) { size in
                let names = (0..<size).map { "sip:user\($0)@example.com" }
                return { distinct(names, limit: .max) }
            }, "taken at 400, 800, beyond 150 names"
        ),
        (
            .bounded("planted: a limit that is applied after the work", by: "150 names", from: 100) { size in
                let names = (0..<size).map { "sip:user\($0)@example.com" }
                return { distinct(names, limit: .max) && size <= 150 }
            }, "work goes on beyond 150 names"
        ),
    ]

    /// Compares all pairs of names; returns false when there are more than the limit.
    private static func distinct(_ names: [String], limit: Int) -> Bool {
        var distinct: [String] = []
        for name in names where !distinct.contains(name) {
            guard distinct.count < limit else { return false }
            distinct.append(name)
        }
        return distinct.count == names.count
    }
}
