import Administration
import PresenceDocuments
import PresenceGateway
import SIPCore
import SIPTransport
import Synchronization

/// Messages as they pass, by Server-Sent Events.
extension ConsolePages {
    /// Pages that may follow the messages at once.
    private static let streamLimit = 8
    /// Messages of the past that a new page shows.
    private static let pastLimit = 100
    /// Messages that a page gets in one turn; further ones are counted.
    private static let turnLimit = 200

    func live(_ question: inout InspectionQuestion) async throws(QuestionError) -> AdministrationAnswer {
        let filter = MessageFilter(&question)
        try question.end()
        let past = await inspection.passedMessages().filter(filter.matches).suffix(Self.pastLimit)
        let rows = past.map { message -> [HTML] in
            let shown = MessageSummary(message.bytes)
            return [
                "\(DateTime(message.at).timeOfDay)", message.isReceived ? "from" : "to", "\(message.remote.description)",
                "<details><summary>\(shown.summary)</summary><pre>\(shown.text)</pre></details>",
            ]
        }
        return Self.page(
            "Live", script: "/console/live.js",
            """
            <form id="filter">\(HTML.field("User", "user", filter.user, hint: "alice@example.org"))\
            \(HTML.field("Partner", "partner", filter.partner, hint: "example.org"))\
            \(HTML.field("Call-ID", "call-id", filter.callID))\
            <button>Show</button>
            <button type="button" id="pause" aria-pressed="false">Pause</button>
            <button type="button" id="save">Save as text</button></form>
            <p id="state" role="status">Without script this page shows the messages held at the moment; load it again for later ones.</p>
            <div role="log" aria-label="Messages">\
            \(HTML.table("Messages, credentials masked; \(past.count) of the past", ["Time", "", "Peer", "Message"], rows))</div>
            """)
    }

    func liveEvents(_ question: inout InspectionQuestion) async throws(QuestionError) -> AdministrationAnswer {
        let filter = MessageFilter(&question)
        try question.end()
        let place = try StreamPlace(among: streams, limit: Self.streamLimit)
        let reader = PassedMessageReader(server: status.server, filter: filter, turnLimit: Self.turnLimit, place: place)
        await reader.skip()
        return AdministrationAnswer(type: "text/event-stream", stream: AsyncStream { await reader.next() })
    }
}

/// Place of a page that follows the messages, which is free again when the page is gone.
final class StreamPlace: Sendable {
    private let count: StreamCount

    /// - Throws: 503 if all places are taken.
    init(among count: StreamCount, limit: Int) throws(QuestionError) {
        self.count = count
        // Also counted if it is one too many: the place ends at once then.
        guard count.number.add(1, ordering: .relaxed).newValue <= limit else {
            throw QuestionError(status: 503, text: "\(limit) pages follow the messages already")
        }
    }

    deinit { count.number.subtract(1, ordering: .relaxed) }
}

/// Number of pages that follow the messages.
final class StreamCount: Sendable {
    let number = Atomic(0)
}

/// Selects messages; empty texts match all.
struct MessageFilter: Sendable {
    var user: String
    var partner: String
    var callID: String

    init(_ question: inout InspectionQuestion) {
        user = question.text("user") ?? ""
        partner = (question.text("partner") ?? "").lowercased()
        callID = question.text("call-id") ?? ""
    }

    func matches(_ message: PassedMessage) -> Bool {
        if user.isEmpty, partner.isEmpty, callID.isEmpty { return true }
        let shown = MessageSummary(message.bytes)
        return (callID.isEmpty || shown.callID == callID) && (user.isEmpty || shown.parties.contains { $0.contains(user) })
            && (partner.isEmpty || message.remote.host == partner
                || shown.parties.contains { SIPURI($0)?.host.description.lowercased() == partner })
    }
}

/// Reads new messages of all loops for one page, four times a second.
final class PassedMessageReader: Sendable {
    private let server: SIPServer
    private let filter: MessageFilter
    private let turnLimit: Int
    private let place: StreamPlace
    private let last: Mutex<[UInt64]>

    init(server: SIPServer, filter: MessageFilter, turnLimit: Int, place: StreamPlace) {
        self.place = place
        self.server = server
        self.filter = filter
        self.turnLimit = turnLimit
        last = Mutex([UInt64](repeating: 0, count: server.shards.count))
    }

    /// Passes over the messages held now.
    func skip() async { _ = await read() }

    private func read() async -> [PassedMessage] {
        var messages: [PassedMessage] = []
        for (index, shard) in server.shards.enumerated() {
            let before = last.withLock { $0[index] }
            let new = await shard.passedMessages(after: before)
            if let number = new.last?.number { last.withLock { $0[index] = number } }
            messages += new
        }
        return messages.sorted { ($0.at, $0.number) < ($1.at, $1.number) }
    }

    /// The events of the next turn; a comment if there are none for 15 s, which shows whether the page is still there.
    func next() async -> String? {
        for _ in 0..<60 {
            do { try await Task.sleep(for: .milliseconds(250)) } catch { return nil }
            let messages = await read().filter(filter.matches)
            if messages.isEmpty { continue }
            var events = messages.prefix(turnLimit).map { "event: message\ndata: \(Self.json($0))\n\n" }.joined()
            if messages.count > turnLimit { events += "event: skipped\ndata: \(messages.count - turnLimit)\n\n" }
            return events
        }
        return ": nothing\n\n"
    }

    private static func json(_ message: PassedMessage) -> String {
        let shown = MessageSummary(message.bytes)
        return JSONText.object([
            ("time", JSONText.string(DateTime(message.at).timeOfDay)), ("received", "\(message.isReceived)"),
            ("peer", JSONText.string(message.remote.description)), ("summary", JSONText.string(shown.summary)),
            ("text", JSONText.string(shown.text)),
        ])
    }
}
