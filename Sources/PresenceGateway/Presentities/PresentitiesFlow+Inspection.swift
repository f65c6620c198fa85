import SIPCore

/// Reports of hosted presentities.
extension PresentitiesFlow {
    var sizes: [String: Int] {
        ["presentities": table.count].merging(endpoints.sizes) { $1 }.merging(remoteWatchers.sizes) { $1 }
            .merging(authorization.sizes) { $1 }
    }

    var tables: [TableSize] {
        let limits = configuration.limits
        return [
            TableSize(name: "presentities", entries: publishedCounts.presentities, limit: limits.presentities),
            TableSize(name: "shown_watchers", entries: blocking.memory.watcherCount, limit: limits.shownWatchers),
            TableSize(name: "sign_offs", entries: blocking.memory.signOffCount, limit: limits.signOffs),
        ]
    }

    func count(in counts: inout GatewayCounts) { (counts.presentities, counts.publications) = publishedCounts }

    func forEachPresentity(_ body: (String) -> Void) {
        for record in table.all where record.look == nil { body(record.key) }
    }

    func state(ofPresentity key: String) -> PresentityReport.State? {
        table[key].map { $0.publicationCount > 0 ? .published : .silent }
    }

    func describe(_ key: String, in report: inout PresentityReport) {
        if let record = table[key] { report.publications = record.publicationCount }
    }

    func explain(_ question: ExplainQuestion, in explanation: inout Explanation, at now: Instant) {
        explainer.explain(question, in: &explanation, at: now)
    }
}
