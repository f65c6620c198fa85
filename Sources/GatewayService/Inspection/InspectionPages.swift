import Administration
import NIOCore
import PresenceGateway
import SIPCore
import SIPTransport

/// Pages about subscriptions and their state: each query runs on every shard's event loop, and the results are merged.
///
///     GET /explain?watcher=URI&presentity=URI[&body=true]
///     GET /ladder?watcher=URI&presentity=URI
///     GET /subscriptions[?watcher=URI][&presentity=URI][&domain=NAME][&state=STATE][&call-id=ID][&limit=N][&after=CURSOR]
///     GET /presentities[?presentity=URI][&domain=NAME][&state=STATE][&limit=N][&after=CURSOR]
///     GET /partners[?state=STATE][&limit=N][&after=NAME]
///     GET /journal?call-id=ID
///     POST /partners/close?name=NAME
struct InspectionPages: Sendable {
    let nodeName: String
    let server: SIPServer
    let partners: PartnerStatus

    static let standardLimit = 100

    func answer(_ request: AdministrationRequest) async -> AdministrationAnswer {
        do throws(QuestionError) {
            var question = try InspectionQuestion(request.parameters)
            if request.isAction {
                guard request.path == "/partners/close" else { return .problem(404, "POST is for /partners/close") }
                return try await closePartner(&question)
            }
            switch request.path {
            case "/explain": return try await explain(&question)
            case "/ladder": return try await ladder(&question)
            case "/subscriptions": return try InspectionJSON.answer(try await subscriptionPage(&question))
            case "/presentities": return try InspectionJSON.answer(try await presentityPage(&question))
            case "/partners": return try InspectionJSON.answer(try await partnerPage(&question))
            case "/journal": return try await journal(&question)
            default:
                return .problem(
                    404,
                    "there are /health, /health/live, /health/ready, /metrics, /explain, /ladder, /subscriptions, /presentities, /partners, /journal, and the console at /"
                )
            }
        } catch {
            return .problem(error.status, error.text)
        }
    }

    private func explain(_ question: inout InspectionQuestion) async throws(QuestionError) -> AdministrationAnswer {
        let includingBodies = try question.flag("body")
        return try InspectionJSON.answer(try await explanation(&question, includingBodies: includingBodies))
    }

    /// The messages of both legs that are held.
    private func ladder(_ question: inout InspectionQuestion) async throws(QuestionError) -> AdministrationAnswer {
        try InspectionJSON.answer(await ladder(of: try await explanation(&question, includingBodies: false)))
    }

    /// The messages of the dialogs of an explanation that are held.
    func ladder(of explanation: Explanation) async -> Ladder {
        let subscriptions = explanation.subscriptions.map(\.subscription)
        return Ladder(
            await passedMessages(), ofWatcher: Set(subscriptions.map(\.callID)), upstream: Set(subscriptions.compactMap(\.leg?.callID)),
            node: nodeName)
    }

    /// The messages of all loops that are held, oldest first.
    func passedMessages() async -> [PassedMessage] {
        var messages: [PassedMessage] = []
        for shard in server.shards { messages += await shard.passedMessages(after: 0) }
        return messages.sorted { ($0.at, $0.number) < ($1.at, $1.number) }
    }

    /// Why a watcher sees of a presentity what it sees.
    func explanation(
        _ question: inout InspectionQuestion, includingBodies: Bool
    ) async throws(QuestionError) -> Explanation {
        let watcher = try question.uri("watcher").needed("watcher")
        let presentity = try question.uri("presentity").needed("presentity")
        try question.end()
        let parts = try await ask { gateway, now in
            gateway.explain(watcher: watcher, presentity: presentity, includingBodies: includingBodies, at: now)
        }
        guard let explanation = Explanation.merged(parts) else { throw .stopping }
        return explanation
    }

    func subscriptionPage(_ question: inout InspectionQuestion) async throws(QuestionError) -> InspectionPage<SubscriptionReport> {
        let filter = SubscriptionFilter(
            watcher: try question.uri("watcher")?.description, presentity: try question.uri("presentity")?.description,
            domain: question.text("domain"), state: try question.choice("state"), callID: question.text("call-id"))
        return try await page(&question, merging: InspectionPage<SubscriptionReport>.merged) { gateway, limit, cursor, now in
            gateway.subscriptions(matching: filter, limit: limit, after: cursor, at: now)
        }
    }

    func presentityPage(_ question: inout InspectionQuestion) async throws(QuestionError) -> InspectionPage<PresentityReport> {
        let filter = PresentityFilter(
            presentity: try question.uri("presentity")?.description, domain: question.text("domain"), state: try question.choice("state"))
        return try await page(&question, merging: InspectionPage<PresentityReport>.merged) { gateway, limit, cursor, now in
            gateway.presentities(matching: filter, limit: limit, after: cursor, at: now)
        }
    }

    func partnerPage(_ question: inout InspectionQuestion) async throws(QuestionError) -> InspectionPage<PartnerRow> {
        let state: PartnerContact.State? = try question.choice("state")
        let limit = try question.limit()
        let cursor = question.text("after")
        try question.end()
        let rows = await partners.rows().filter { row in
            (state.map { row.state == $0 } ?? true) && (cursor.map { row.name > $0 } ?? true)
        }
        let page = Array(rows.prefix(limit))
        return InspectionPage(rows: page, next: rows.count > limit ? page.last?.name : nil)
    }

    /// Closes all connections with a partner's servers, in both directions.
    private func closePartner(_ question: inout InspectionQuestion) async throws(QuestionError) -> AdministrationAnswer {
        let name = try question.text("name").needed("name").lowercased()
        try question.end()
        guard await partners.rows().contains(where: { $0.name == name }) else {
            throw QuestionError(status: 404, text: "name: \(name) is no partner of this gateway; see `isthmus partners`")
        }
        let count = await server.closeConnections(reason: "closed by an operator") { endpoint, remote, identity, now in
            (endpoint as? Gateway)?.isServer(at: remote, proving: identity, of: name, at: now) ?? false
        }
        return try InspectionJSON.answer(ClosedConnections(partner: name, closed: count))
    }

    /// Returns one page of a list, merged from all shards.
    private func page<Row>(
        _ question: inout InspectionQuestion, merging: ([InspectionPage<Row>], Int) -> InspectionPage<Row>,
        of list: @escaping @Sendable (Gateway, Int, String?, Instant) -> InspectionPage<Row>
    ) async throws(QuestionError) -> InspectionPage<Row> {
        let limit = try question.limit()
        let cursor = question.text("after")
        try question.end()
        let pages = try await ask { gateway, now in list(gateway, limit, cursor, now) }
        return merging(pages, limit)
    }

    private func journal(_ question: inout InspectionQuestion) async throws(QuestionError) -> AdministrationAnswer {
        let callID = try question.text("call-id").needed("call-id")
        try question.end()
        let entries = try await ask { gateway, _ in gateway.journal(ofCallID: callID) }
        return try InspectionJSON.answer(entries.flatMap { $0 }.sorted { $0.at > $1.at })
    }

    /// Queries every shard in turn.
    private func ask<Value: Sendable>(
        _ body: @escaping @Sendable (Gateway, Instant) -> Value
    ) async throws(QuestionError) -> [Value] {
        var answers: [Value] = []
        for shard in server.shards {
            let answer = try? await shard.perform { endpoint, now in (endpoint as? Gateway).map { body($0, now) } }.get()
            guard let answer = answer ?? nil else { throw .stopping }
            answers.append(answer)
        }
        return answers
    }
}

/// Result of `isthmus partners --close`.
package struct ClosedConnections: Codable, Hashable {
    package var partner: String
    package var closed: Int
}

/// Error response to a query.
struct QuestionError: Error, Hashable {
    var status: Int
    var text: String

    static func bad(_ text: String) -> QuestionError { QuestionError(status: 400, text: text) }
    static let stopping = QuestionError(status: 503, text: "this node is stopping")
}

/// Parameters of a query; each is read at most once.
struct InspectionQuestion {
    private var values: [String: String] = [:]
    private var known: [String] = []

    init(_ parameters: [AdministrationRequest.Parameter]) throws(QuestionError) {
        for parameter in parameters {
            guard values.updateValue(parameter.value, forKey: parameter.name) == nil else {
                throw .bad("\(parameter.name): is given more than once")
            }
        }
    }

    /// The value of a parameter that is read later; empty without one.
    func peek(_ name: String) -> String { values[name] ?? "" }

    mutating func text(_ name: String) -> String? {
        known.append(name)
        return values.removeValue(forKey: name)
    }

    /// Reads a SIP, pres or tel URI, or an address without its scheme.
    mutating func uri(_ name: String) throws(QuestionError) -> SIPURI? {
        guard let text = text(name) else { return nil }
        guard let uri = SIPURI(operatorText: text) else {
            throw .bad("\(name): \"\(text)\" is no address of a user, as in sip:alice@example.org (RFC 3261 19.1)")
        }
        return uri
    }

    mutating func flag(_ name: String) throws(QuestionError) -> Bool {
        switch text(name) {
        case nil, "false": return false
        case "true": return true
        case let other?: throw .bad("\(name): must be true or false, not \"\(other)\"")
        }
    }

    mutating func choice<Value: RawRepresentable & CaseIterable>(_ name: String) throws(QuestionError) -> Value?
    where Value.RawValue == String {
        guard let text = text(name) else { return nil }
        guard let value = Value(rawValue: text) else {
            throw .bad("\(name): must be one of \(Value.allCases.map(\.rawValue).joined(separator: ", ")), not \"\(text)\"")
        }
        return value
    }

    mutating func limit() throws(QuestionError) -> Int {
        guard let text = text("limit") else { return InspectionPages.standardLimit }
        guard let value = Int(text), (1...inspectionPageLimit).contains(value) else {
            throw .bad("limit: must be a whole number from 1 to \(inspectionPageLimit), not \"\(text)\"")
        }
        return value
    }

    /// Refuses unknown parameters.
    func end() throws(QuestionError) {
        guard let name = values.keys.min() else { return }
        throw .bad("\(name): unknown parameter; known here: \(known.joined(separator: ", "))")
    }
}

extension Optional {
    func needed(_ name: String) throws(QuestionError) -> Wrapped {
        guard let self else { throw .bad("\(name): is missing") }
        return self
    }
}

extension SIPURI {
    /// Parses a URI with an optional scheme; nil when it has no user.
    init?(operatorText text: String) {
        guard let uri = SIPURI(text.contains(":") ? text : "sip:" + text), uri.user?.isEmpty == false || uri.scheme == .tel else {
            return nil
        }
        self = uri
    }
}
