import ByteCoding
import SIPCore
import XMLCore

/// Enhanced presence client of a user hosted at the gateway: signs in, follows its own data and contacts, changes them by SERVICE,
/// publishes by MS-PRES 3.8, watches others in one batch and signs out.
///
///     out --REGISTER--> registering --200, SUBSCRIBE self--> in --SUBSCRIBE Expires 0, REGISTER Expires 0--> out
package final class EnhancedClient: SIPPeer {
    /// State of the client's registration.
    package enum Phase: Equatable, Sendable {
        case out, registering, signedIn, leaving
        case refused(Int)
    }

    /// URI of the user, with the scheme.
    package let user: String
    /// Endpoint identifier in From (MS-SIPREGE).
    package let epid: String
    /// State of the registration; `refused` holds the status code.
    package private(set) var phase = Phase.out
    /// Seconds granted by the last REGISTER; nil before the first.
    package var granted: UInt32? { registration.granted }
    /// GRUU of the endpoint from the last REGISTER; nil before the first.
    package var gruu: String? { registration.gruu }
    /// Whether the self subscription is active.
    package private(set) var followsSelf = false
    /// Number of notifications of the self subscription, including one in the 200.
    package private(set) var selfNotifications = 0
    /// Versions of the user's own instances in the self subscription, by `category instance container`.
    package private(set) var instances: [String: UInt32] = [:]
    /// Presence of each watched user, by the URI in the documents.
    package private(set) var seen: [String: ObservedPresence] = [:]
    /// Response to the last SERVICE; nil while it is awaited.
    package private(set) var lastAnswer: PeerAnswer?
    /// Bodies of notifications by event package, in the order of arrival, including piggybacked ones.
    package private(set) var notified: [String: [String]] = [:]
    /// Whether the client refreshes its registration at half the granted time.
    package var staysRegistered = true

    private var cSeq: UInt32 = 0
    private var registration = Registration()
    private var batchCallID = ""
    private var dialogs: [String: SubscriptionDialog] = [:]

    private struct Registration {
        var callID = ""
        /// Seconds granted by the last REGISTER; nil before the first.
        var granted: UInt32?
        /// GRUU of the endpoint; nil before the first REGISTER.
        var gruu: String?
        /// Alarm of the next refresh.
        var alarm: UInt64?
    }

    private struct SubscriptionDialog {
        var event: String
        var localTag: String
        var remoteTag: String?
        var target: String
        var isOver = false
    }

    /// Creates a signed-out client; `name` appears in the transcript.
    package init(name: String, user: String, epid: String, address: TransportAddress, nextHop: TransportAddress, seed: UInt64) {
        self.user = user
        self.epid = epid
        super.init(name: name, address: address, nextHop: nextHop, seed: seed)
    }

    // MARK: Script actions

    /// Registers, then subscribes to its own data.
    package func signIn(expires: UInt32? = nil, at now: Instant) {
        phase = .registering
        registration.callID = token()
        register(expires: expires, at: now)
    }

    /// Ends its subscriptions, then its registration.
    package func signOut(at now: Instant) {
        phase = .leaving
        cancel(registration.alarm)
        for (callID, dialog) in dialogs.sorted(by: { $0.key < $1.key }) where !dialog.isOver {
            subscribe(dialog.event, callID: callID, expires: 0, body: "", at: now)
        }
        register(expires: 0, at: now)
    }

    /// Stops sending and answering, without signing out.
    package func vanish() {
        isMute = true
        cancel(registration.alarm)
        phase = .out
    }

    /// Publishes a machine and a user state, as a client does at sign-in and at each change of status (MS-PRES 4.3).
    package func show(_ availability: Int, userState: Int? = nil, at now: Instant) {
        let hash = EnhancedClient.hash(of: epid)
        let machine = 0x3000_0000 | hash >> 4
        var list: [String] = []
        for container in [2, 3] {
            list.append(publication("state", machine, container, "endpoint", state("machineState", availability)))
            if let userState {
                list.append(publication("state", 0x2000_0000, container, "static", state("userState\" manual=\"true", userState)))
            }
        }
        publish(list, at: now)
    }

    /// Publishes a note in containers 0 and 400; by default it lasts while the user is signed in.
    package func note(_ text: String, expireType: String = "user", at now: Instant) {
        let body = "<note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\"><body>\(EnhancedDocuments.escape(text))</body></note>"
        publish([0, 400].map { publication("note", 0, $0, expireType, body) }, at: now)
    }

    /// Subscribes to other users in one batch (MS-PRES 3.4.5.1.1).
    package func watch(_ users: [String], categories: [String] = ["state", "note", "contactCard"], at now: Instant) {
        let body = EnhancedDocuments.batchSubscribe(watcher: user, resources: users, categories: categories)
        batchCallID = token()
        subscribe("presence", callID: batchCallID, expires: 600, body: body, at: now)
    }

    /// Changes the batch within its dialog (MS-PRES 3.4.5.1.3).
    /// - Parameter action: `subscribe` or `unsubscribe`.
    package func change(_ action: String, _ users: [String], at now: Instant) {
        let body = EnhancedDocuments.batchSubscribe(
            watcher: user, resources: users, categories: ["state", "note", "contactCard"], action: action)
        subscribe("presence", callID: batchCallID, expires: 600, body: body, at: now)
    }

    /// Subscribes to another event package for the user's own data.
    package func follow(_ event: String, at now: Instant) { subscribe(event, callID: token(), expires: 600, body: "", at: now) }

    /// Last notification body of an event package; nil before the first.
    package func latest(_ event: String) -> String? { notified[event]?.last }

    /// Body of the last response to a SERVICE; empty without a response.
    package var lastBody: String {
        guard case .response(let response)? = lastAnswer else { return "" }
        return String(decoding: response.body, as: UTF8.self)
    }

    /// Sends a SOAP operation of MS-SIP 2.2.4.2; `children` is its content as XML.
    package func operate(_ name: String, _ children: String, at now: Instant) {
        service(
            "application/SOAP+xml",
            "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\" xmlns:m=\"http://schemas.microsoft.com/winrtc/2002/11/sip\">"
                + "<s:Body><m:\(name)>\(children)</m:\(name)></s:Body></s:Envelope>", at: now)
    }

    /// Adds a user to a container (MS-PRES 3.5.5).
    package func place(_ member: String, in container: Int, version: Int = 0, at now: Instant) {
        let body = """
            <setContainerMembers xmlns="http://schemas.microsoft.com/2006/09/sip/container-management"><container id="\(container)" \
            version="\(version)"><member type="user" value="\(EnhancedDocuments.escape(member))"/></container></setContainerMembers>
            """
        service("application/msrtc-setcontainermembers+xml", body, at: now)
    }

    // MARK: REGISTER

    private func register(expires: UInt32?, at now: Instant) {
        let domain = user.split(separator: "@").last.map(String.init) ?? ""
        var request = request(.register, "sip:\(domain)", callID: registration.callID)
        request.headers.append(.supported, "gruu-10, adhoclist, msrtc-event-categories")
        request.headers.append(.event, "registration")
        if let expires { request.headers.append(.expires, "\(expires)") }
        send(request, at: now) { [unowned self] answer, now in
            guard case .response(let response) = answer else { return }
            guard response.status.isSuccess else {
                phase = .refused(response.status.rawValue)
                return
            }
            if expires == 0 {
                phase = .out
                return
            }
            registered(response, requestedExpires: expires, at: now)
        }
    }

    private func registered(_ response: SIPResponse, requestedExpires: UInt32?, at now: Instant) {
        registration.granted = response.headers.expires
        let own = response.headers.contacts.first { $0.uri.port == address.port && $0.uri.host == address.host }
        registration.gruu = own?.parameters["gruu"]
        if granted == nil { fault("200 to REGISTER without Expires") }
        if gruu == nil { fault("200 to REGISTER without a GRUU for this endpoint") }
        if !response.headers.values(.supported).contains("msrtc-event-categories") { fault("no line Supported: msrtc-event-categories") }
        if phase == .registering {
            phase = .signedIn
            subscribe("vnd-microsoft-roaming-self", callID: token(), expires: 600, body: Self.roamingList, at: now)
        }
        cancel(registration.alarm)
        guard staysRegistered, let granted else { return }
        registration.alarm = schedule(at: now + .seconds(max(1, Int(granted) / 2))) { [unowned self] now in
            register(expires: requestedExpires, at: now)
        }
    }

    private static let roamingList = """
        <roamingList xmlns="http://schemas.microsoft.com/2006/09/sip/roaming-self"><roaming type="categories"/>\
        <roaming type="containers"/><roaming type="subscribers"/></roamingList>
        """

    // MARK: SUBSCRIBE

    private func subscribe(_ event: String, callID: String, expires: UInt32, body: String, at now: Instant) {
        let known = dialogs[callID]
        let dialog = known ?? SubscriptionDialog(event: event, localTag: token(), target: user)
        dialogs[callID] = dialog
        var request = request(.subscribe, dialog.target, callID: callID, tag: dialog.localTag, toTag: dialog.remoteTag)
        request.headers.append(.event, event)
        request.headers.append(.expires, "\(expires)")
        request.headers.append(.supported, "ms-benotify, ms-piggyback-first-notify, com.microsoft.autoextend, eventlist")
        if event == "presence" {
            request.headers.append(.require, "adhoclist, categoryList")
            request.headers.append(.accept, "application/msrtc-event-categories+xml, application/rlmi+xml, multipart/related")
        }
        if !body.isEmpty {
            request.headers.append(
                .contentType, event == "presence" ? "application/msrtc-adrl-categorylist+xml" : "application/\(event)+xml")
            request.body = Array(body.utf8)
        }
        send(request, at: now) { [unowned self] answer, _ in
            guard case .response(let response) = answer, response.status.isSuccess else {
                if expires > 0 { fault("SUBSCRIBE \(event): \(answer.status?.description ?? "no answer")") }
                return
            }
            dialogs[callID]?.remoteTag = response.headers.toTag
            dialogs[callID]?.target = response.headers.contact?.uri.description ?? dialog.target
            if event == "vnd-microsoft-roaming-self" { followsSelf = expires > 0 }
            if response.headers.expires == nil { fault("200 to SUBSCRIBE without Expires (RFC 6665 4.2.1.1)") }
            if expires == 0 {
                dialogs[callID]?.isOver = true
            } else if response.headers.msPiggybackCSeq != nil {
                if response.headers.event?.package != event { fault("200 to SUBSCRIBE \(event) without that Event (MS-SIP 3.4.5.1)") }
                read(response.body, response.headers.contentType, event: event)
            }
        }
    }

    override func answer(_ request: SIPRequest, from source: InboundMessage, at now: Instant) -> SIPResponse? {
        guard request.method == .notify || request.method == .benotify else {
            return SIPResponse(to: request, status: .methodNotAllowed, toTag: token())
        }
        guard let dialog = dialogs[request.headers.callID ?? ""], request.headers.toTag == dialog.localTag else {
            if phase == .signedIn { fault("a notification of no dialog") }
            return request.method == .benotify
                ? nil : SIPResponse(to: request, status: .callOrTransactionDoesNotExist, toTag: token())
        }
        if request.headers.subscriptionState?.state == .terminated {
            dialogs[request.headers.callID ?? ""]?.isOver = true
        } else if !request.body.isEmpty {
            read(request.body, request.headers.contentType, event: dialog.event)
        }
        return request.method == .benotify ? nil : SIPResponse(to: request, status: .ok, toTag: dialog.localTag)
    }

    private func read(_ body: [UInt8], _ type: MediaType?, event: String) {
        if !body.isEmpty { notified[event, default: []].append(String(decoding: body, as: UTF8.self)) }
        do {
            if event == "vnd-microsoft-roaming-self" {
                selfNotifications += 1
                readSelf(try XMLTree.parse(body).root)
            } else if event != "presence" {
                _ = try XMLTree.parse(body)
            } else if let type, type.type == "multipart" {
                for part in try MIMEMultipart(body, contentType: type).parts where part.contentType?.subtype.hasPrefix("msrtc") == true {
                    try readCategories(part.body)
                }
            } else {
                try readCategories(body)
            }
        } catch {
            fault("a body of \(event) cannot be read: \(error)")
        }
    }

    private func readCategories(_ body: [UInt8]) throws {
        let presence = try ObservedPresence(body)
        guard let entity = presence.entity else { return fault("categories without uri") }
        var known = seen[entity] ?? ObservedPresence()
        known.merge(presence)
        seen[entity] = known
    }

    /// Each category and container pair in the document is complete: its other instances no longer exist (MS-PRES 3.2.5.1.2).
    private func readSelf(_ root: XMLElement) {
        for categories in root.children where categories.localName == "categories" {
            let elements = categories.children
            for element in elements {
                let pair = " \(element.attribute("container") ?? "")"
                let name = (element.attribute("name") ?? "") + " "
                instances = instances.filter { !($0.key.hasPrefix(name) && $0.key.hasSuffix(pair)) }
            }
            for element in elements {
                guard let version = element.attribute("version").flatMap(UInt32.init) else { continue }
                instances[
                    key(element.attribute("name") ?? "", element.attribute("instance") ?? "0", element.attribute("container") ?? "0")] =
                    version
            }
        }
    }

    private func key(_ category: String, _ instance: String, _ container: String) -> String { "\(category) \(instance) \(container)" }

    // MARK: SERVICE

    private func publication(_ category: String, _ instance: Int, _ container: Int, _ expireType: String, _ body: String) -> String {
        let version = instances[key(category, "\(instance)", "\(container)")] ?? 0
        return """
            <publication categoryName="\(category)" instance="\(instance)" container="\(container)" version="\(version)" \
            expireType="\(expireType)">\(body)</publication>
            """
    }

    private func state(_ type: String, _ availability: Int) -> String {
        """
        <state xmlns="http://schemas.microsoft.com/2006/09/sip/state" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
        xsi:type="\(type)"><availability>\(availability)</availability></state>
        """
    }

    private func publish(_ list: [String], at now: Instant) {
        let body =
            "<publish xmlns=\"http://schemas.microsoft.com/2006/09/sip/rich-presence\"><publications uri=\"\(user)\">\(list.joined())"
            + "</publications></publish>"
        service("application/msrtc-category-publish+xml", body, at: now)
    }

    /// Sends a SERVICE for the user with this content type and body.
    package func service(_ type: String, _ body: String, at now: Instant) {
        var request = request(.service, user, callID: token())
        request.headers.append(.contentType, type)
        request.body = Array(body.utf8)
        lastAnswer = nil
        send(request, at: now) { [unowned self] answer, _ in
            lastAnswer = answer
            guard case .response(let response) = answer, response.status.isSuccess, !response.body.isEmpty else { return }
            if let root = try? XMLTree.parse(response.body).root { readSelf(root) }
        }
    }

    // MARK: Requests

    private func request(_ method: SIPMethod, _ uri: String, callID: String, tag: String? = nil, toTag: String? = nil) -> SIPRequest {
        cSeq += 1
        var request = SIPRequest(method, requestURI: uri)
        request.headers.append(.from, "<\(user)>;tag=\(tag ?? token());epid=\(epid)")
        request.headers.append(.to, "<\(user)>" + (toTag.map { ";tag=\($0)" } ?? ""))
        request.headers.append(.callID, callID)
        request.headers.append(.cSeq, "\(cSeq) \(method)")
        request.headers.append(
            .contact, method == .register ? contact(user: "endpoint") : gruu.map { "<\($0)>" } ?? contact(user: "endpoint"))
        return request
    }

    private static func hash(of epid: String) -> Int {
        Int(FNV1a32.hash(epid.utf8))
    }
}
