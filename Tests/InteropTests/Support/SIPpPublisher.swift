import Foundation

/// States of the interop conversations, as PIDF.
enum PublishedState: String, CustomStringConvertible {
    case open, busy, onThePhone, away, closed

    var description: String { rawValue }

    func pidf(of presentity: String) -> String {
        let activity =
            switch self {
            case .open, .closed: ""
            case .busy: "<rpid:busy/>"
            case .onThePhone: "<rpid:on-the-phone/>"
            case .away: "<rpid:away/>"
            }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:dm="urn:ietf:params:xml:ns:pidf:data-model"
                xmlns:rpid="urn:ietf:params:xml:ns:pidf:rpid" entity="\(presentity)">
              <tuple id="t1"><status><basic>\(self == .closed ? "closed" : "open")</basic></status></tuple>
              <dm:person id="p1"><rpid:activities>\(activity)</rpid:activities><dm:note>\(self) now</dm:note></dm:person>
            </presence>
            """
    }
}

/// PIDF publisher that publishes successive states, each with the entity-tag of the previous one.
final class SIPpPublisher {
    let presentity: String
    private let port: Int
    private let transport: String
    private let scratch: ScratchDirectory
    private let name: String
    private var entityTag: String?
    private var count = 0

    init(presentity: String, port: Int, transport: String, scratch: ScratchDirectory, named name: String = "publish") {
        (self.presentity, self.port, self.transport, self.scratch, self.name) = (presentity, port, transport, scratch, name)
    }

    func publish(_ state: PublishedState) async throws {
        try await publish(state.pidf(of: presentity), type: "application/pidf+xml")
    }

    /// Publishes a document.
    func publish(_ content: String, type: String) async throws {
        count += 1
        let name = "\(self.name)-\(count)"
        let document = try scratch.write(content, to: "\(name).xml")
        let run = try SIPp(
            "publish", name: name, to: port, transport: transport,
            keys: [
                "presentity": presentity, "document": document.path, "type": type,
                "condition": entityTag.map { "SIP-If-Match: \($0)" } ?? "Subject: first",
            ], in: scratch)
        guard await run.succeeds(within: 15) else { throw PeerError(description: "PUBLISH failed: \(run.account)") }
        entityTag = run.log.split(separator: "\n").last { $0.hasPrefix("entity-tag ") }
            .map { $0.dropFirst("entity-tag ".count).trimmingCharacters(in: .whitespacesAndNewlines) }
    }
}
