import SIPCore
import XMLCore

/// SIMPLE watcher with its own list of presentities (RFC 5367) that reads the notifications of a resource list server (RFC 4662).
/// `presentity` is the list server.
package final class ListWatcher: ScriptedWatcher {
    /// Presence and state of one presentity of the list.
    package struct Entry: Equatable, Sendable {
        /// State of the instance: `active`, `pending` or `terminated`; nil when the resource has no instance.
        package var state: String?
        /// Reason of a terminated instance; nil when absent.
        package var reason: String?
        /// Presence of an active instance; nil otherwise.
        package var presence: ObservedPresence?
    }

    /// Presentities in the list of the next SUBSCRIBE.
    package var list: [String] = []
    /// Entries by URI, merged over all notifications of the subscription.
    package private(set) var entries: [String: Entry] = [:]
    /// URIs in each notification, in its order.
    package private(set) var reports: [[String]] = []
    private var version: UInt32?

    /// Always true.
    package override var namesSeveral: Bool { true }

    /// Returns the presence of a presentity of the list; nil when unknown.
    package override func presence(of presentity: String) -> ObservedPresence? { entries[presentity]?.presence }

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
        // A full list repairs a gap in the versions.
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
