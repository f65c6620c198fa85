import SIPCore
import XMLCore

/// Lists of a scripted presence server: stored ones (RFC 4662) and those in a SUBSCRIBE (RFC 5367).
///
/// Writes its bodies as text, without the codecs under test.
package final class ScriptedListService {
    /// State of a member; members without one are active.
    package enum InstanceState: Sendable {
        /// Listed without an instance.
        case unknown
        case pending
        case terminated(String)
        /// An active instance with an empty part, as a server may send for polite blocking.
        case empty
        /// Omitted from the list.
        case absent
    }

    /// Members of the stored lists, by list URI.
    package var kept: [String: [String]] = [:]
    /// URI that accepts lists in a SUBSCRIBE; nil for none.
    package var adHocURI: String?
    /// States of members, by `aorKey`.
    var instanceStates: [String: InstanceState] = [:]
    /// Status with which list subscriptions are refused; nil accepts them.
    package var refusal: SIPStatus?
    /// Whether the first notification of a dialog lists the members without instances, and the next one is full.
    package var beginsWithoutInstances = false
    /// Number of list SUBSCRIBEs that opened a dialog.
    package private(set) var opened = 0
    /// Members of each opened list, in their order.
    package private(set) var requested: [[String]] = []
    /// Number of notifications with full state.
    package private(set) var fullNotifications = 0

    private struct View {
        var members: [String]
        var version: UInt32 = 0
        var isFresh = true
        var hasBegun = false
        var notified: [String: String] = [:]
    }
    private var views: [String: View] = [:]

    func isList(_ request: SIPRequest) -> Bool {
        same(request.requestURI, adHocURI) || kept.keys.contains { same($0, request.requestURI) }
    }

    private func same(_ one: String, _ other: String?) -> Bool {
        other.map { SIPURI.key(of: one) == SIPURI.key(of: $0) } ?? false
    }

    func objection(to request: SIPRequest) -> SIPStatus? {
        if let refusal { return refusal }
        guard request.headers.hasToken(.supported, "eventlist") else { return .extensionRequired }
        guard same(request.requestURI, adHocURI) else { return nil }
        let isNamed = request.headers.hasToken(.require, "recipient-list-subscribe")
        let isList = request.headers.first("Content-Disposition") == "recipient-list"
        let isType = request.headers.contentType?.essence == "application/resource-lists+xml"
        return isNamed && isList && isType && !entries(request.body).isEmpty ? nil : .badRequest
    }

    private func entries(_ body: [UInt8]) -> [String] {
        guard let root = try? XMLTree.parse(body).root else { return [] }
        return root.children.flatMap { list in list.children.compactMap { $0.localName == "entry" ? $0.attribute("uri") : nil } }
    }

    func accepted(_ dialog: ScriptedNotifier.Dialog) {
        if views[dialog.parties.localTag] != nil {
            views[dialog.parties.localTag]?.isFresh = true
        } else if isList(dialog.request) {
            let members =
                same(dialog.parties.pool, adHocURI)
                ? entries(dialog.request.body) : kept.first { same($0.key, dialog.parties.pool) }?.value ?? []
            views[dialog.parties.localTag] = View(members: members)
            opened += 1
            requested.append(members)
        }
    }

    func members(of dialog: ScriptedNotifier.Dialog) -> [String]? { views[dialog.parties.localTag]?.members }

    func body(
        for dialog: ScriptedNotifier.Dialog, documents: [String: [UInt8]], skipsVersion: Bool
    ) -> (contentType: String, bytes: [UInt8], isFull: Bool) {
        var view = views[dialog.parties.localTag] ?? View(members: [])
        defer { views[dialog.parties.localTag] = view }
        let isBeginning = beginsWithoutInstances && !view.hasBegun
        let isFull = view.isFresh || (beginsWithoutInstances && view.version == 1)
        if isFull { fullNotifications += 1 }
        if skipsVersion, !isFull { view.version += 1 }
        var resources = ""
        var parts = ""
        for (index, member) in view.members.enumerated() {
            var instance = ""
            var part = ""
            var said = "unknown"
            let cid = "m\(index).\(view.version)@rls.example.org"
            switch isBeginning ? .unknown : instanceStates[SIPURI.key(of: member)] {
            case .absent?: continue
            case .unknown?: break
            case .pending?:
                said = "pending"
                instance = "<instance id=\"i\(index)\" state=\"pending\"/>"
            case .terminated(let reason)?:
                said = "terminated \(reason)"
                instance = "<instance id=\"i\(index)\" state=\"terminated\" reason=\"\(reason)\"/>"
            case .empty?:
                instance = "<instance id=\"i\(index)\" state=\"active\" cid=\"\(cid)\"/>"
                part = " "
                said = "empty"
            case nil:
                instance = "<instance id=\"i\(index)\" state=\"active\" cid=\"\(cid)\"/>"
                part = documents[member].map { String(decoding: $0, as: UTF8.self) } ?? " "
                said = part
            }
            guard isFull || view.notified[member] != said else { continue }
            view.notified[member] = said
            resources += "<resource uri=\"\(EnhancedDocuments.escape(member))\">\(instance)</resource>"
            guard !part.isEmpty else { continue }
            let type = part == " " ? "" : "Content-Type: application/pidf+xml\r\n"
            parts += "--rls\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <\(cid)>\r\n\(type)\r\n"
            parts += "\(part == " " ? "" : part)\r\n"
        }
        let list = """
            <?xml version="1.0" encoding="UTF-8"?>
            <list xmlns="urn:ietf:params:xml:ns:rlmi" uri="\(EnhancedDocuments.escape(dialog.parties.pool))" version="\(view.version)" \
            fullState="\(isFull)">\(resources)</list>
            """
        view.version += 1
        view.isFresh = false
        view.hasBegun = true
        let root = "--rls\r\nContent-ID: <root@rls.example.org>\r\nContent-Type: application/rlmi+xml;charset=\"UTF-8\"\r\n\r\n\(list)\r\n"
        return (
            "multipart/related;type=\"application/rlmi+xml\";start=\"<root@rls.example.org>\";boundary=\"rls\"",
            Array((root + parts + "--rls--\r\n").utf8), isFull
        )
    }
}
