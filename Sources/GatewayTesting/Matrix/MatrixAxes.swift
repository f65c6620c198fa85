/// Watcher's subscription format: one row of the matrix.
package enum MatrixWatcher: String, CaseIterable, Sendable {
    case category = "single category"
    case batch = "batch category"
    case msrtc = "msrtc.pidf"
    case pidf = "PIDF"
    case partial = "partial PIDF"
    case xpidf = "xpidf"
    case list = "RLS list"

    var isEnterprise: Bool { self == .category || self == .batch || self == .msrtc }
    /// Whether one subscription names several presentities.
    var namesSeveral: Bool { self == .batch || self == .list }
}

/// Form in which the gateway subscribes at the presentity's domain: one column of the matrix.
package enum MatrixSource: String, CaseIterable, Sendable {
    case category = "single category"
    case batch = "batch category"
    case msrtc = "msrtc.pidf"
    case enterprisePIDF = "PIDF of an enterprise"
    case pidf = "PIDF"
    case partial = "partial PIDF"
    case list = "RLS list"

    var isEnterprise: Bool { self == .category || self == .batch || self == .msrtc || self == .enterprisePIDF }
}

/// Event during a subscription: one table of the matrix.
package enum MatrixEvent: String, CaseIterable, Sendable {
    case initial, refresh, change, refusal, expiry
    case lossOfPeer = "loss of peer"
    case restart = "restart of gateway"
    case resubscribe
    case conflict = "409/412"

    /// Expected result, the same for every watcher and source.
    package var expectation: String {
        switch self {
        case .initial:
            "The watcher is told the state that is there when it subscribes; whoever names several presentities, of each its own."
        case .refresh:
            "Far beyond every granted expiry both dialogs are the ones from the start, the state never disappears, and a change still arrives."
        case .change:
            "One change is one notification; of many the last state arrives, and no older one after a newer one."
        case .refusal:
            "403 and 404 of the far side arrive as rejected and noresource, asked for or in between; others in the same subscription live on."
        case .expiry:
            "A watcher that does not refresh is told the end at its expiry; the far subscription is ended, and nothing is left."
        case .lossOfPeer:
            "Without its far side the watcher sees the last state for a while, pending or nobody there, as configured, and later the newest state."
        case .restart:
            "kill -9 and a start on what was kept: nobody hears of it but of what changed, and changes before and after it arrive."
        case .resubscribe:
            "A far side that says resubscribe (in RLMI, elsewhere with terminated;reason=deactivated) is followed, unseen by the watcher."
        case .conflict:
            "A publication that crosses meets other versions (409) or an entity-tag that is forgotten (412): mended, and the watcher sees it."
        }
    }
}

/// Cell of the matrix: a conversation with its expectation, or the reason why there is none.
package struct MatrixCell: Sendable, Hashable, CustomStringConvertible {
    /// Whether a cell is played, or the reason why it is meaningless.
    package enum Standing: Sendable, Hashable {
        case conversation
        case meaningless(String)
    }

    /// Format in which the watcher subscribes.
    package var watcher: MatrixWatcher
    /// Form in which the gateway subscribes at the presentity's domain.
    package var source: MatrixSource
    /// Event that happens during the subscription.
    package var event: MatrixEvent

    /// All cells: every event with every source and every watcher.
    package static let all: [MatrixCell] = MatrixEvent.allCases.flatMap { event in
        MatrixSource.allCases.flatMap { source in
            MatrixWatcher.allCases.map { MatrixCell(watcher: $0, source: source, event: event) }
        }
    }

    /// Event, watcher and source in one line.
    package var description: String { "\(event.rawValue): \(watcher.rawValue) watches \(source.rawValue)" }

    /// Whether the cell is played; depends on the three axes only.
    package var standing: Standing {
        if watcher == .batch, source.isEnterprise, event != .initial {
            return .meaningless(
                "A batch is told at once to subscribe to users of another deployment one by one (MS-PRES 3.4.5.1.3.1), as the first table "
                    + "plays; from then on it is the single category watcher of the row above.")
        }
        if source == .list, !watcher.namesSeveral {
            return .meaningless(
                "Of one presentity no list is made: the presentity itself is asked for, as in the column of partial PIDF.")
        }
        return .conversation
    }

    /// Matrix as a Markdown document: a table of watchers and sources for each event, and the reasons of cells that are not played.
    package static var document: String {
        var text = """
            # Who watches whom, and what happens meanwhile

            Every row is a watcher's format, every column the form in which the presentity's domain is asked, every table an event. `x`: a
            conversation on the simulated network, played by `MatrixTests`; a number: meaningless, for the reason below. Written by
            `ISTHMUS_WRITE_MATRIX=1 swift test --filter MatrixTests`, and compared by every run of it.

            """
        var reasons: [String] = []
        for event in MatrixEvent.allCases {
            text += "\n## \(event.rawValue)\n\n\(event.expectation)\n\n| watcher | "
            text += MatrixSource.allCases.map(\.rawValue).joined(separator: " | ") + " |\n"
            text += "|---|" + MatrixSource.allCases.map { _ in "---|" }.joined() + "\n"
            for watcher in MatrixWatcher.allCases {
                let marks = MatrixSource.allCases.map { source in
                    switch MatrixCell(watcher: watcher, source: source, event: event).standing {
                    case .conversation: return "x"
                    case .meaningless(let reason):
                        if !reasons.contains(reason) { reasons.append(reason) }
                        return String((reasons.firstIndex(of: reason) ?? 0) + 1)
                    }
                }
                text += "| \(watcher.rawValue) | \(marks.joined(separator: " | ")) |\n"
            }
        }
        let meaningless = all.filter { $0.standing != .conversation }.count
        text += "\n## Count\n\n\(all.count) cells: \(all.count - meaningless) played, \(meaningless) meaningless.\n"
        if !reasons.isEmpty {
            text += "\n## Reasons\n\n" + reasons.enumerated().map { "\($0.offset + 1). \($0.element)\n" }.joined()
        }
        return text
    }
}
