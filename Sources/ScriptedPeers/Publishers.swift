import SIPCore
import XMLCore

/// PIDF publisher for one presentity (RFC 3903 4): keeps its entity-tag, and publishes anew when the tag is unknown to the server.
package final class PIDFPublisher: SIPPeer {
    /// URI of the presentity, also used in From and To.
    package let presentity: String
    /// Entity-tag of the publication; nil before the first one and after its removal.
    package private(set) var entityTag: String?
    /// Outcome of the last request; nil before the first.
    package private(set) var lastAnswer: PeerAnswer?
    /// All entity-tags received so far, to detect reuse.
    package private(set) var entityTags: [String] = []
    /// Time at which the last unanswered PUBLISH failed; the server may hold a publication with an unknown entity-tag since then. nil when
    /// all were answered.
    package private(set) var lastUnanswered: Instant?
    /// Time of the last 503; nil without one.
    package private(set) var lastUnavailable: Instant?
    private var number: UInt32 = 0
    private var waiting: (() -> Void)?
    /// Whether a response is awaited.
    package private(set) var isBusy = false

    package init(name: String, presentity: String, address: TransportAddress, nextHop: TransportAddress, seed: UInt64) {
        self.presentity = presentity
        super.init(name: name, address: address, nextHop: nextHop, seed: seed)
    }

    /// Publishes a document, replacing the previous one.
    package func publish(_ document: String, expires: UInt32 = 600, at now: Instant) {
        send(document, expires: expires, at: now)
    }

    /// Refreshes the publication.
    package func refresh(expires: UInt32 = 600, at now: Instant) { send(nil, expires: expires, at: now) }

    /// Removes the publication.
    package func remove(at now: Instant) { send(nil, expires: 0, at: now) }

    private func send(_ document: String?, expires: UInt32, at now: Instant) {
        // Sends one PUBLISH at a time, since each needs the entity-tag of the previous one (RFC 3903 4.1).
        if isBusy {
            waiting = { [unowned self] in send(document, expires: expires, at: now) }
            return
        }
        isBusy = true
        number += 1
        var request = SIPRequest(.publish, requestURI: presentity)
        request.headers.append(.from, "<\(presentity)>;tag=\(token())")
        request.headers.append(.to, "<\(presentity)>")
        request.headers.append(.callID, token())
        request.headers.append(.cSeq, "\(number) PUBLISH")
        request.headers.append(.event, "presence")
        request.headers.append(.expires, "\(expires)")
        if let entityTag { request.headers.append(.sipIfMatch, entityTag) }
        if let document {
            request.headers.append(.contentType, "application/pidf+xml")
            request.body = Array(document.utf8)
        }
        send(request, at: now) { [unowned self] answer, now in
            isBusy = false
            lastAnswer = answer
            if answer.status == nil { lastUnanswered = now }
            if answer.status == .serviceUnavailable { lastUnavailable = now }
            if case .response(let response) = answer {
                if response.status.isSuccess {
                    entityTag = expires == 0 ? nil : response.headers.sipETag
                    if let tag = response.headers.sipETag {
                        if entityTags.contains(tag) { fault("entity-tag \(tag) given twice (RFC 3903 6)") }
                        entityTags.append(tag)
                    } else {
                        fault("2xx to PUBLISH without SIP-ETag (RFC 3903 6)")
                    }
                    if response.headers.expires == nil { fault("2xx to PUBLISH without Expires (RFC 3903 6)") }
                } else if response.status == .conditionalRequestFailed {
                    entityTag = nil
                    if let document, waiting == nil { send(document, expires: expires, at: now) }
                }
            }
            if let next = waiting {
                waiting = nil
                next()
            }
        }
    }
}

/// Enterprise endpoint that publishes categories by SERVICE (MS-PRES 3.2.4) and takes over current versions after a 409.
package final class CategoryPublisher: SIPPeer {
    /// One instance to publish.
    package struct Publication: Sendable {
        /// Name of the category.
        package var category: String
        /// Instance number within the category.
        package var instance: UInt32
        /// Number of the container.
        package var container: Int
        /// Lifetime type: `time`, `static`, `user` or `endpoint`.
        package var expireType: String
        /// XML of the category; nil publishes an empty element.
        package var body: String?

        /// Creates an instance; by default its lifetime is a time.
        package init(_ category: String, instance: UInt32, container: Int, expireType: String = "time", body: String?) {
            self.category = category
            self.instance = instance
            self.container = container
            self.expireType = expireType
            self.body = body
        }
    }

    /// URI of the presentity, also used in From and To.
    package let presentity: String
    /// Outcome of the last request; nil before the first.
    package private(set) var lastAnswer: PeerAnswer?
    /// Response to the last change of container members; nil before it arrives.
    package private(set) var lastMembersAnswer: PeerAnswer?
    /// Number of 409 responses.
    package private(set) var conflicts = 0
    /// Number of publications without a response yet.
    package private(set) var awaited = 0
    private var versions: [String: UInt32] = [:]
    private var number: UInt32 = 0

    package init(name: String, presentity: String, address: TransportAddress, nextHop: TransportAddress, seed: UInt64) {
        self.presentity = presentity
        super.init(name: name, address: address, nextHop: nextHop, seed: seed)
    }

    /// Publishes a user state in the containers 0, 100, 200, 300 and 400; container 0 is visible to everyone (MS-PRES 1.3.1.3.3).
    /// - Parameter lifetime: Lifetime in seconds.
    package func publish(availability: Int, note: String? = nil, lifetime: Int = 300, at now: Instant) {
        let state = """
            <state xmlns="http://schemas.microsoft.com/2006/09/sip/state" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
            xsi:type="userState" manual="true"><availability>\(availability)</availability></state>
            """
        var list: [Publication] = []
        for container in [0, 100, 200, 300, 400] {
            list.append(Publication("state", instance: 1, container: container, body: state))
            if let note {
                let text = EnhancedDocuments.escape(note)
                let body =
                    "<note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\"><body type=\"personal\" uri=\"\">\(text)</body></note>"
                list.append(Publication("note", instance: 0, container: container, body: body))
            }
        }
        publish(list, lifetime: lifetime, at: now)
    }

    /// Publishes instances with the versions known so far; `lifetime` in seconds applies to those of type `time`.
    package func publish(_ list: [Publication], lifetime: Int = 300, at now: Instant) {
        var text = "<publish xmlns=\"http://schemas.microsoft.com/2006/09/sip/rich-presence\"><publications uri=\"\(presentity)\">"
        for item in list {
            let version = versions[key(item)] ?? 0
            text +=
                "<publication categoryName=\"\(item.category)\" instance=\"\(item.instance)\" container=\"\(item.container)\" "
                + "version=\"\(version)\" expireType=\"\(item.expireType)\"\(item.expireType == "time" ? " expires=\"\(lifetime)\"" : "")>\(item.body ?? "")</publication>"
        }
        text += "</publications></publish>"
        awaited += 1
        service("application/msrtc-category-publish+xml", text, at: now) { [unowned self] answer, now in
            awaited -= 1
            lastAnswer = answer
            guard case .response(let response) = answer else { return }
            if response.status.isSuccess {
                for item in list { versions[key(item), default: 0] += 1 }
            } else if response.status == .conflict {
                conflicts += 1
                reconcile(list, response.body)
            }
        }
    }

    /// Takes over the current versions in the fault (MS-PRES 2.2.2.2.3).
    private func reconcile(_ list: [Publication], _ fault: [UInt8]) {
        guard let root = try? XMLTree.parse(fault).root else { return self.fault("a 409 without a readable fault") }
        let operations = root.children.filter { $0.localName == "details" }.flatMap(\.children)
        if operations.isEmpty { self.fault("a 409 whose fault names no operation (MS-PRES 2.2.2.2.3)") }
        for operation in operations where operation.localName == "operation" {
            guard let index = operation.attribute("index").flatMap({ Int($0) }), list.indices.contains(index - 1),
                let version = operation.attribute("curVersion").flatMap({ UInt32($0) })
            else { continue }
            versions[key(list[index - 1])] = version
        }
    }

    /// Adds users to a container with this version (MS-PRES 3.5.4).
    package func setMembers(container: Int, version: UInt32, adding users: [String], at now: Instant) {
        lastMembersAnswer = nil
        var text =
            "<setContainerMembers xmlns=\"http://schemas.microsoft.com/2006/09/sip/container-management\"><container id=\"\(container)\" "
            + "version=\"\(version)\">"
        for user in users { text += "<member action=\"add\" type=\"user\" value=\"\(user.drop { $0 != ":" }.dropFirst())\"/>" }
        text += "</container></setContainerMembers>"
        service("application/msrtc-setcontainermembers+xml", text, at: now) { [unowned self] answer, _ in lastMembersAnswer = answer }
    }

    private func service(_ type: String, _ text: String, at now: Instant, then: @escaping (PeerAnswer, Instant) -> Void) {
        number += 1
        var request = SIPRequest(.service, requestURI: presentity)
        request.headers.append(.from, "<\(presentity)>;tag=\(token());epid=0011223344")
        request.headers.append(.to, "<\(presentity)>")
        request.headers.append(.callID, token())
        request.headers.append(.cSeq, "\(number) SERVICE")
        request.headers.append(.contact, contact(user: "endpoint"))
        request.headers.append(.contentType, type)
        request.body = Array(text.utf8)
        send(request, at: now, completion: then)
    }

    private func key(_ item: Publication) -> String { "\(item.category) \(item.instance) \(item.container)" }

    /// Forgets all versions, so that the next publication causes a conflict.
    package func forgetVersions() { versions = [:] }
}
