import Registration
import SIPCore

/// Reports of registrations.
extension HomeServerFlow {
    var sizes: [String: Int] { ["registrations": home.registrar.count] }

    var tables: [TableSize] {
        [TableSize(name: "registrations", entries: home.registrar.count, limit: configuration.limits.registrations)]
    }

    func count(in counts: inout GatewayCounts) { counts.registrations = home.registrar.count }

    func describe(_ key: String, in report: inout PresentityReport) { report.endpoints = home.registrar.bindings(of: key).count }

    func explain(_ question: ExplainQuestion, in explanation: inout Explanation, at now: Instant) {
        explanation.show(
            endpoints: home.registrar.bindings(of: question.presentity.aorKey).compactMap { $0.endpoint?.description })
    }
}
