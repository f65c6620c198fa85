import SIPCore
import XMLCore

/// A watcher of the SIMPLE family that brings its own list of presentities along (RFC 5367) and reads what a resource list server says
/// of them (RFC 4662). `presentity` is the list server.
public final class ListWatcher: ScriptedWatcher {
    /// What is known of one presentity of the list.
    public struct Entry: Equatable, Sendable {
        /// `active`, `pending`, `terminated`; nil: listed without instance.
        public var state: String?
        public var reason: String?
        public var presence: ObservedPresence?
    }

    /// The presentities to ask for.
    public var list: [String] = []
    /// By URI, all notifications of the subscription merged.
    public private(set) var entries: [String: Entry] = [:]
    /// Which presentities each notification spoke of, in its order.
    public private(set) var reports: [[String]] = []
    private var version: UInt32?

    public override var namesSeveral: Bool { true }

    public override func presence(of presentity: String) -> ObservedPresence? { entries[presentity]?.presence }

    override func dress(_ request: inout SIPRequest) {
        request.headers.append(.accept, "application/pidf+xml, application/rlmi+xml, multipart/related")
        request.headers.append(.supported, "eventlist")
        guard request.headers.toTag == nil else { return }
        (version, entries) = (nil, [:])
        request.headers.append(.require, "recipient-list-subscribe")
        request.headers.append(.contentType, "application/resource-lists+xml")
        request.headers.append("Content-Disposition", "recipient-list")
        request.body = Array(
            ("<resource-lists xmlns=\"urn:ietf:params:xml:ns:resource-lists\"><list>"
                + list.map { "<entry uri=\"\($0)\"/>" }.joined() + "</list></resource-lists>").utf8)
    }

    override func read(_ body: [UInt8], _ contentType: MediaType?) -> ObservedPresence? {
        guard let contentType, let multipart = try? MIMEMultipart(body, contentType: contentType), let root = multipart.root,
            root.contentType?.essence == "application/rlmi+xml", let list = try? XMLTree.parse(root.body).root
        else {
            fault("a list notification without resource list meta-information (RFC 4662 5.1)")
            return nil
        }
        let number = list.attribute("version").flatMap { UInt32($0) } ?? 0
        let isFull = list.attribute("fullState") == "true"
        // What is whole mends what was lost on the way.
        if let version, isFull ? number <= version : number != version + 1 {
            fault("\(isFull ? "whole" : "partial") list, version \(number) after \(version) (RFC 4662 5.2)")
        }
        if version == nil, !isFull { fault("the first list is not whole (RFC 4662 5.2)") }
        version = number
        if isFull { entries = [:] }
        var report: [String] = []
        for resource in list.children {
            let uri = resource.attribute("uri") ?? ""
            report.append(uri)
            entries[uri] = entry(resource, of: multipart, known: entries[uri])
        }
        reports.append(report)
        return nil
    }

    private func entry(_ resource: XMLElement, of multipart: MIMEMultipart, known: Entry?) -> Entry {
        var instances = resource.children.makeIterator()
        guard let instance = instances.next() else { return Entry() }
        var entry = Entry(state: instance.attribute("state"), reason: instance.attribute("reason"), presence: nil)
        switch entry.state {
        case "active":
            guard let part = instance.attribute("cid").flatMap({ multipart.part(contentID: $0) }) else {
                fault("an active instance without its part (RFC 4662 5.5)")
                return entry
            }
            entry.presence = super.read(part.body, part.contentType)
        case "terminated":
            if entry.reason == nil { fault("a terminated instance without reason (RFC 4662 5.5)") }
        default: break
        }
        return entry
    }
}
