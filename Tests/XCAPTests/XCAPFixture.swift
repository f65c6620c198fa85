import XCAP
import XMLCore

/// Server of one XCAP root with its documents in memory, for requests in a row.
struct XCAPFixture {
    static let root = XCAPRoot("https://xcap.example.com/xcap-root")!
    static let lists = "/xcap-root/resource-lists/users/sip:mara@example.com/index"
    static let services = "/xcap-root/rls-services/users/sip:mara@example.com/index"
    static let rules = "/xcap-root/pres-rules/users/sip:mara@example.com/index"
    static let omaRules = "/xcap-root/org.openmobilealliance.pres-rules/users/sip:mara@example.com/pres-rules"

    static let element = "application/xcap-el+xml"
    static let attribute = "application/xcap-att+xml"

    let processor: XCAPProcessor
    var documents: [DocumentSelector: StoredDocument] = [:]
    var facts = UsageFacts()

    init(limits: XCAPLimits = XCAPLimits()) {
        processor = XCAPProcessor(root: Self.root, limits: limits)
    }

    /// Fixture with one document stored as it is, without validation.
    init(_ target: String, _ document: String, limits: XCAPLimits = XCAPLimits()) {
        self.init(limits: limits)
        guard let uri = try? XCAPURI(target: target, root: Self.root) else { return }
        documents[uri.document] = StoredDocument(
            octets: Array(document.utf8), tag: EntityTag(of: Array(document.utf8), at: uri.document, after: nil))
    }

    @discardableResult
    mutating func send(
        _ method: XCAPMethod, _ target: String, _ body: String = "", type: String? = nil, ifMatch: String? = nil,
        ifNoneMatch: String? = nil
    ) -> XCAPResponse {
        send(method, target, octets: Array(body.utf8), type: type, ifMatch: ifMatch, ifNoneMatch: ifNoneMatch)
    }

    mutating func send(
        _ method: XCAPMethod, _ target: String, octets: [UInt8], type: String? = nil, ifMatch: String? = nil, ifNoneMatch: String? = nil
    ) -> XCAPResponse {
        do throws(XCAPRefusal) {
            let (uri, usage) = try processor.resolve(method, target: target)
            let conditions = try XCAPConditions(ifMatch: ifMatch, ifNoneMatch: ifNoneMatch, limits: processor.limits)
            let kind: String
            switch target {
            case _ where !target.contains("~~"): kind = usage.mediaType
            case _ where target.hasSuffix("namespace::*"): kind = "application/xcap-ns+xml"
            case _ where target.split(separator: "?")[0].split(separator: "/").last?.hasPrefix("@") == true: kind = Self.attribute
            default: kind = Self.element
            }
            let request = XCAPRequest(
                method, uri, contentType: method == .put ? type ?? kind : nil, conditions: conditions, body: octets)
            let response = processor.perform(request, on: documents[uri.document], usage: usage, facts: facts)
            switch response.change {
            case .none: break
            case .store(let document): documents[uri.document] = document
            case .remove: documents[uri.document] = nil
            }
            return response
        } catch { return error.response }
    }

    mutating func get(_ target: String) -> String? {
        let response = send(.get, target)
        return response.status == 200 ? response.text : nil
    }
}

extension XCAPResponse {
    var text: String { String(decoding: body, as: UTF8.self) }

    /// Name of the error element of a 409; nil for other responses, and for a document that breaks its schema.
    var conflict: String? {
        guard status == 409, contentType == "application/xcap-error+xml", let root = try? XMLTree.parse(body).root,
            root.isNamed("xcap-error", in: "urn:ietf:params:xml:ns:xcap-error")
        else { return nil }
        let children = Array(root.children)
        return children.count == 1 ? children[0].localName : nil
    }

    /// First element below the error element of a 409.
    func conflictPart(_ name: String) -> XMLElement? {
        guard let error = (try? XMLTree.parse(body).root)?.children.first(where: { _ in true }) else { return nil }
        return error.children.first { $0.localName == name }
    }
}

/// Octets in a URI that clients have to escape in a node selector.
func escaped(_ selector: String) -> String {
    var result = ""
    for character in selector {
        switch character {
        case "[": result += "%5B"
        case "]": result += "%5D"
        case "\"": result += "%22"
        case " ": result += "%20"
        default: result.append(character)
        }
    }
    return result
}
