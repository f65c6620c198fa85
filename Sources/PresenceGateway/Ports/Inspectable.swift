import SIPCore

/// A part of the shard that answers the reports of operators; `ShardInspection` composes the answers. An answer changes nothing.
protocol Inspectable: AnyObject {
    // MARK: metrics

    /// Number of entries by table, for tests of growth.
    var sizes: [String: Int] { get }

    /// Its tables with a limit on their total size.
    var tables: [TableSize] { get }

    /// Writes the numbers of its live entries.
    func count(in counts: inout GatewayCounts)

    // MARK: lists

    /// Offers the rows of its live subscriptions.
    /// - Parameter filter: with canonical keys.
    func offer(to rows: inout SubscriptionRows, matching filter: SubscriptionFilter, at now: Instant)

    /// Calls a function with the keys of its presentities, each once.
    func forEachPresentity(_ body: (String) -> Void)

    /// State of a presentity by its own tables; nil: the presentity is not in them. No two parts give the same state.
    func state(ofPresentity key: String) -> PresentityReport.State?

    /// Writes its numbers into the row of a presentity.
    func describe(_ key: String, in report: inout PresentityReport)

    // MARK: explain

    /// Writes its part of an explanation. Parts are asked in the order of the tables, so that one may complete what an earlier one wrote.
    func explain(_ question: ExplainQuestion, in explanation: inout Explanation, at now: Instant)
}

extension Inspectable {
    var sizes: [String: Int] { [:] }
    var tables: [TableSize] { [] }
    func count(in counts: inout GatewayCounts) {}
    func offer(to rows: inout SubscriptionRows, matching filter: SubscriptionFilter, at now: Instant) {}
    func forEachPresentity(_ body: (String) -> Void) {}
    func state(ofPresentity key: String) -> PresentityReport.State? { nil }
    func describe(_ key: String, in report: inout PresentityReport) {}
    func explain(_ question: ExplainQuestion, in explanation: inout Explanation, at now: Instant) {}
}

/// The first rows of a list of subscriptions; a row is made once it is selected.
typealias SubscriptionRows = FirstRows<SubscriptionKey, () -> SubscriptionReport>

/// A watcher and a presentity, by canonical URIs, to explain.
struct ExplainQuestion {
    var watcher: SIPURI
    var presentity: SIPURI
    /// Whether to include the documents that the watcher has.
    var includingBodies: Bool
    /// Whether the presentity is of a hosted domain and belongs to this shard.
    var isHome: Bool
    /// State of the presentity by the tables of all parts; nil: it is in none.
    var state: PresentityReport.State?
}
