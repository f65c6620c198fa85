import PresenceDocuments
import PresenceGateway
import PresenceRules
import SIPCore
import Testing

/// Presence rules of users, as documents.
enum Rules {
    static let namespaces =
        "xmlns='urn:ietf:params:xml:ns:common-policy' xmlns:pr='urn:ietf:params:xml:ns:pres-rules' "
        + "xmlns:ocp='urn:oma:xml:xdm:common-policy' xmlns:op='urn:oma:xml:prs:pres-rules'"

    static let everything =
        "<pr:provide-services><pr:all-services/></pr:provide-services><pr:provide-persons><pr:all-persons/></pr:provide-persons>"
        + "<pr:provide-devices><pr:all-devices/></pr:provide-devices><pr:provide-all-attributes/>"
    static let services = "<pr:provide-services><pr:all-services/></pr:provide-services>"
    static let activities =
        services + "<pr:provide-persons><pr:all-persons/></pr:provide-persons><pr:provide-activities>true</pr:provide-activities>"

    /// A rule as XML.
    static func rule(_ id: String, _ conditions: String = "", _ handling: String = "allow", _ transformations: String = "") -> String {
        "<rule id='\(id)'>" + (conditions.isEmpty ? "" : "<conditions>\(conditions)</conditions>")
            + "<actions><pr:sub-handling>\(handling)</pr:sub-handling></actions>"
            + (transformations.isEmpty ? "" : "<transformations>\(transformations)</transformations>") + "</rule>"
    }

    static func one(_ user: String) -> String { "<identity><one id='sip:\(user)'/></identity>" }

    /// A condition on a list of the user itself.
    static func list(_ name: String, of user: String) -> String {
        "<ocp:external-list><ocp:entry anc='https://xcap.example.com/root/resource-lists/users/sip:\(user)/index/~~/resource-lists/"
            + "list%5b@name=%22\(name)%22%5d'/></ocp:external-list>"
    }

    static func documents(_ rules: [String], lists: [String: [String]] = [:], of user: String) throws -> UserDocuments {
        var documents = UserDocuments(
            rules: try PresenceRulesDocument.decode(Array("<ruleset \(namespaces)>\(rules.joined())</ruleset>".utf8)))
        guard !lists.isEmpty else { return documents }
        let content = lists.sorted { $0.key < $1.key }.map { name, users in
            "<list name='\(name)'>" + users.map { "<entry uri='sip:\($0)'/>" }.joined() + "</list>"
        }
        let text = "<resource-lists xmlns='urn:ietf:params:xml:ns:resource-lists'>\(content.joined())</resource-lists>"
        documents.lists.add(
            try ResourceListsDocument.decode(Array(text.utf8)), at: "resource-lists/users/sip:\(user)/index")
        return documents
    }
}

extension Bench {
    /// Gives the shards the documents of a user.
    func use(_ rules: String..., lists: [String: [String]] = [:], of user: String) throws {
        use(try Rules.documents(rules, lists: lists, of: user), of: user)
    }

    /// Gives the shards the documents of a user; nil: it has none any more.
    func use(_ documents: UserDocuments?, of user: String) {
        for gateway in gateways { gateway.use(documents, of: "sip:\(user)", at: now) }
        sort()
    }
}
