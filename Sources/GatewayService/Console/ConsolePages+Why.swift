import Administration
import PresenceDocuments
import PresenceGateway
import SIPCore
import XMLCore

/// The reasons of what a watcher sees, and the messages of both legs.
extension ConsolePages {
    func why(_ question: inout InspectionQuestion) async throws(QuestionError) -> AdministrationAnswer {
        let (watcher, presentity) = (question.peek("watcher"), question.peek("presentity"))
        let form: HTML = """
            <form>\(HTML.field("Watcher", "watcher", watcher, hint: "sip:bob@contoso.com"))\
            \(HTML.field("Presentity", "presentity", presentity, hint: "sip:alice@example.org"))\
            <button>Explain</button></form>

            """
        guard !watcher.isEmpty || !presentity.isEmpty else {
            return Self.page("Why", "\(form)<p>Which route, rule and rows of the tables decide what a watcher sees of a presentity.</p>")
        }
        let explanation = try await inspection.explanation(&question, includingBodies: true)
        let text = ExplanationText(explanation, at: .current())
        let boxes = text.sections.map { section -> HTML in
            let lines = section.lines.map { "<li>\($0)</li>" as HTML }
            return
                "<section class=\"\(Self.kind(of: section))\"><h2>\(section.label)</h2><ul>\(lines)</ul></section>\n"
        }
        let bodies = explanation.subscriptions.compactMap(\.body).map {
            "<h2>Document that the watcher has</h2><pre>\(Self.indented($0))</pre>\n" as HTML
        }
        let ladder = await inspection.ladder(of: explanation)
        return Self.page(
            "Why",
            """
            \(form)<p><b>\(text.heading)</b></p>
            <div class="chain">\(boxes)</div>
            \(bodies)\
            <h2 id="ladder">Messages</h2>
            \(Self.drawing(ladder))
            """)
    }

    private static func kind(of section: ExplanationText.Section) -> String {
        let isProblem = section.label == "verdict" || section.label == "retried" || section.label == "loss" && section.lines != ["none"]
        return "box \(section.label.replacing(" ", with: "-"))" + (isProblem ? " problem" : "")
    }

    /// Indented for people, if it can be.
    static func indented(_ document: String) -> String {
        XMLIndentation.indented(Array(document.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? document
    }

    /// The messages between watcher, this node and the remote domain; each opens its text, and the one that it was mapped to.
    static func drawing(_ ladder: Ladder) -> HTML {
        guard !ladder.steps.isEmpty else {
            return """
                <p>No message of these dialogs is held. Messages are held while this page or <a href="/console/live">Live</a> is used: \
                wait for the next one, and load this page again.</p>

                """
        }
        let rows = ladder.steps.enumerated().map { index, step -> HTML in
            let arrow: HTML = "<span class=\"arrow\">\(step.pointsRight ? "\(step.summary) \u{2192}" : "\u{2190} \(step.summary)")</span>"
            let partner = ladder.counterpart(of: index).map { other -> HTML in
                "<div><h3>Mapped: \(other.summary)</h3><pre>\(other.text)</pre></div>"
            }
            let opened: HTML = """
                <details><summary>\(arrow)</summary><div class="pair"><div><h3>\(step.summary)</h3><pre>\(step.text)</pre></div>\(partner)</div>\
                </details>
                """
            let (left, right): (HTML?, HTML?) = step.leg == .watcher ? (opened, nil) : (nil, opened)
            return "<tr><td>\(step.time)</td><td>\(left)</td><td>\(right)</td></tr>\n"
        }
        return """
            <div class="wide"><table class="ladder"><caption>Messages of both legs, the oldest first</caption>
            <thead><tr><th scope="col">Time</th><th scope="col">Watcher \u{2194} \(ladder.node)</th>\
            <th scope="col">\(ladder.node) \u{2194} remote domain</th></tr></thead>
            <tbody>\(rows)</tbody></table></div>

            """
    }
}
