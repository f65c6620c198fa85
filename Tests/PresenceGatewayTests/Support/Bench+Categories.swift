import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// What enhanced presence clients write, and how their tests read the answers.
extension Bench {
    /// Where users of the hosted domain publish from.
    static let endpoint = TransportAddress(.udp, "192.0.2.30", 5060)
    static let categoryTypes = "application/msrtc-event-categories+xml, application/rlmi+xml, multipart/related"

    struct Action {
        var name = "subscribe"
        var resources: [String]
        var categories = ["state", "note"]

        var text: String {
            "<action name=\"\(name)\" id=\"99\"><adhocList>"
                + resources.map { $0.hasPrefix("<") ? $0 : "<resource uri=\"sip:\($0)\"/>" }.joined()
                + "</adhocList><categoryList xmlns=\"http://schemas.microsoft.com/2006/09/sip/categorylist\">"
                + categories.map { "<category name=\"\($0)\"/>" }.joined() + "</categoryList></action>"
        }

        static func subscribe(_ resources: String..., to categories: [String] = ["state", "note"]) -> Action {
            Action(resources: resources, categories: categories)
        }

        static func unsubscribe(_ resources: String..., from categories: [String] = ["state", "note"]) -> Action {
            Action(name: "unsubscribe", resources: resources, categories: categories)
        }
    }

    static func batchBody(_ actions: [Action]) -> String {
        "<batchSub xmlns=\"http://schemas.microsoft.com/2006/01/sip/batch-subscribe\" uri=\"sip:nobody@example.org\" name=\"no name\">"
            + actions.map(\.text).joined() + "</batchSub>"
    }

    /// A batch category SUBSCRIBE outside a dialog (MS-PRES 3.4.5.1.1).
    func batch(
        _ watcher: String, _ actions: Action..., to: String? = nil, accept: String = Bench.categoryTypes, expires: Int = 3_600,
        piggyback: Bool = true, extra: String = "", body: String? = nil, via peer: TransportAddress = Bench.enterprise
    ) -> String {
        subscribe(
            watcher, to: to ?? watcher, accept: accept, expires: expires,
            extra: "Require: adhoclist, categoryList\r\nSupported: eventlist\(piggyback ? ", ms-piggyback-first-notify" : "")\r\n" + extra,
            body: body ?? Self.batchBody(actions), contentType: "application/msrtc-adrl-categorylist+xml", via: peer)
    }

    /// A SUBSCRIBE in the dialog of an answer, with a category list.
    func change(
        _ answer: SIPResponse, cSeq: Int, _ actions: Action..., expires: Int = 3_600, isBatch: Bool = true, piggyback: Bool = true,
        via peer: TransportAddress = Bench.enterprise
    ) -> String {
        inDialog(
            answer, cSeq: cSeq, expires: expires,
            extra: (isBatch ? "Require: adhoclist, categoryList\r\n" : "")
                + "Supported: eventlist\(piggyback ? ", ms-piggyback-first-notify" : "")\r\n",
            body: Self.batchBody(actions), contentType: "application/msrtc-adrl-categorylist+xml", via: peer)
    }

    // MARK: publishing

    struct Publication {
        var name: String
        var body: String
        var container = 0
        var version = 0
        var instance = 0
        var expireType = "static"
        var expires: Int?

        static func state(_ availability: Int, in container: Int = 0, version: Int = 0) -> Publication {
            Publication(
                name: "state",
                body: "<state xmlns=\"http://schemas.microsoft.com/2006/09/sip/state\" "
                    + "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"aggregateState\"><availability>"
                    + "\(availability)</availability></state>", container: container, version: version)
        }

        static func note(_ text: String, in container: Int = 0, version: Int = 0, instance: Int = 0) -> Publication {
            Publication(
                name: "note",
                body: "<note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\"><body type=\"personal\">\(text)</body></note>",
                container: container, version: version, instance: instance)
        }

        static func legacyInterop(_ availability: Int, token: String? = nil, in container: Int = 0, version: Int = 0) -> Publication {
            Publication(
                name: "legacyInterop",
                body: "<legacyInterop xmlns=\"http://schemas.microsoft.com/2006/09/sip/categories\" availability=\"\(availability)\""
                    + (token.map { " token=\"\($0)\"" } ?? "") + "/>", container: container, version: version, instance: 1)
        }

        var text: String {
            "<publication categoryName=\"\(name)\" instance=\"\(instance)\" container=\"\(container)\" version=\"\(version)\" "
                + "expireType=\"\(expireType)\"" + (expires.map { " expires=\"\($0)\"" } ?? "") + ">\(body)</publication>"
        }
    }

    static func publishBody(_ user: String, _ publications: [Publication]) -> String {
        "<publish xmlns=\"http://schemas.microsoft.com/2006/09/sip/rich-presence\"><publications uri=\"sip:\(user)\">"
            + publications.map(\.text).joined() + "</publications></publish>"
    }

    /// Sends a SERVICE of a user about himself; the answer is for the test to read.
    func service(
        _ user: String, type: String = "application/msrtc-category-publish+xml", body: String, from: String? = nil,
        instance: String = "221ef77e-3a68-5570-86ed-6ea5bd4b7ff8", via peer: TransportAddress = Bench.endpoint,
        connection: ConnectionID? = nil
    ) {
        let id = number()
        send(
            "SERVICE sip:\(user) SIP/2.0\r\nVia: SIP/2.0/\(peer.transport.rawValue.uppercased()) \(peer.host):\(peer.port)"
                + ";branch=z9hG4bKc\(id)\r\nMax-Forwards: 70\r\n"
                + "From: <sip:\(from ?? user)>;tag=c\(id)\r\nTo: <sip:\(user)>\r\nCall-ID: c\(id)\r\nCSeq: 1 SERVICE\r\n"
                + "Contact: <sip:\(peer.host):\(peer.port)>;+sip.instance=\"<urn:uuid:\(instance)>\"\r\n"
                + (type.isEmpty ? "" : "Content-Type: \(type)\r\n") + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)", from: peer,
            connection: connection)
    }

    /// Publishes, and takes the 200.
    @discardableResult
    func publish(_ user: String, _ publications: Publication..., location: SourceLocation = #_sourceLocation) throws -> SIPResponse {
        service(user, body: Self.publishBody(user, publications))
        return try nextResponse(200, at: Self.endpoint, location)
    }

    static func membersBody(_ container: Int, version: Int, _ members: [String]) -> String {
        "<setContainerMembers xmlns=\"http://schemas.microsoft.com/2006/09/sip/container-management\">"
            + "<container id=\"\(container)\" version=\"\(version)\">\(members.joined())</container></setContainerMembers>"
    }

    /// `sameEnterprise`, or `user:alice@contoso.com`; with a minus in front it is taken out.
    static func member(_ text: String) -> String {
        let isRemoval = text.hasPrefix("-")
        let words = text.drop { $0 == "-" }.split(separator: ":", maxSplits: 1)
        return "<member action=\"\(isRemoval ? "remove" : "add")\" type=\"\(words[0])\""
            + (words.count > 1 ? " value=\"\(words[1])\"" : "") + "/>"
    }

    /// Changes a membership, and takes the 200.
    func setMembers(
        _ user: String, _ container: Int, version: Int = 0, _ members: String..., location: SourceLocation = #_sourceLocation
    ) throws {
        service(
            user, type: "application/msrtc-setcontainermembers+xml",
            body: Self.membersBody(container, version: version, members.map(Self.member)))
        _ = try nextResponse(200, at: Self.endpoint, location)
    }

    // MARK: watching

    /// Takes every NOTIFY that is there and answers it, until the peer is quiet.
    func takeNotifies(at peer: TransportAddress = Bench.enterprise) throws -> [SIPRequest] {
        var taken: [SIPRequest] = []
        while !isQuiet(at: peer) {
            let notify = try nextRequest(.notify, at: peer)
            taken.append(notify)
            answer(notify, 200, from: peer)
        }
        return taken
    }
}

/// The answer to a batch, taken apart (MS-PRES 2.2.2.4.2).
struct BatchAnswer {
    var list: RLMIDocument
    var parts: [CategoriesDocument]
    var mime: [MIMEPart]

    init(_ headers: SIPHeaders, _ body: [UInt8]) throws {
        let type = try #require(headers.contentType)
        mime = try MIMEMultipart(body, contentType: type).parts
        list = try RLMIDocument.decode(try #require(mime.first).body)
        parts = try mime.dropFirst().map { try CategoriesDocument(parsing: $0.body) }
    }

    init(_ response: SIPResponse) throws { try self.init(response.headers, response.body) }
    init(_ request: SIPRequest) throws { try self.init(request.headers, request.body) }

    /// `resource: state` of every verdict.
    var instanceStates: [String] { list.resources.map { "\($0.uri): \($0.instances.map { "\($0.state)" }.joined())" } }
    var uris: [String] { parts.map(\.uri) }
}
