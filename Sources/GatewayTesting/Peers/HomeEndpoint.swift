import SIPCore

/// An enterprise endpoint at its home server: it signs in, subscribes to its user's own data, and changes them by SERVICE
/// (MS-PRES 3.3, 3.6, MS-SIP 3.7).
public final class HomeEndpoint: SIPPeer {
    /// With its scheme.
    public let user: String
    public let epid: String
    public private(set) var lastAnswer: PeerAnswer?
    /// What the last answer said, as text.
    public private(set) var lastBody = ""
    public private(set) var isSignedIn = false
    /// Bodies of notifications by event, the piggybacked ones too, in the order in which they came.
    public private(set) var told: [String: [String]] = [:]

    private struct Subscription {
        var callID: String
        var localTag: String
        var remoteTag: String?
        var remoteTarget: String?
        var cSeq: UInt32
    }

    private var subscriptions: [String: Subscription] = [:]
    private var number: UInt32 = 0
    private let registration: String

    public init(
        name: String, user: String, epid: String, address: TransportAddress, nextHop: TransportAddress, seed: UInt64
    ) {
        self.user = user
        self.epid = epid
        registration = "register-\(name)-\(epid)"
        super.init(name: name, address: address, nextHop: nextHop, seed: seed)
    }

    /// The last thing that it was told of an event.
    public func latest(_ event: String) -> String? { told[event]?.last }

    // MARK: What the script calls

    public func signIn(at now: Instant) { register(expires: 600, at: now) }
    public func signOut(at now: Instant) { register(expires: 0, at: now) }

    private func register(expires: UInt32, at now: Instant) {
        number += 1
        var request = SIPRequest(.register, requestURI: "sip:" + (user.split(separator: "@").last.map(String.init) ?? ""))
        address(&request, callID: registration, tag: token(), cSeq: number)
        request.headers.append(.expires, String(expires))
        for tag in ["gruu-10", "adhoclist", "msrtc-event-categories"] { request.headers.append(.supported, tag) }
        send(request, at: now) { [unowned self] answer, _ in
            lastAnswer = answer
            if answer.status?.isSuccess == true { isSignedIn = expires > 0 }
        }
    }

    /// Subscribes to something of the user's own; in the dialog if there is one for that event.
    public func subscribe(_ event: String, type: String = "", body: String = "", expires: UInt32? = nil, at now: Instant) {
        var subscription =
            subscriptions[event] ?? Subscription(callID: token(), localTag: token(), remoteTag: nil, remoteTarget: nil, cSeq: 0)
        subscription.cSeq += 1
        subscriptions[event] = subscription
        var request = SIPRequest(.subscribe, requestURI: subscription.remoteTarget ?? user)
        address(&request, callID: subscription.callID, tag: subscription.localTag, cSeq: subscription.cSeq)
        if let remoteTag = subscription.remoteTag { request.headers.set(.to, "<\(user)>;tag=\(remoteTag)") }
        request.headers.append(.event, event)
        if let expires { request.headers.append(.expires, String(expires)) }
        request.headers.append(.supported, "com.microsoft.autoextend")
        request.headers.append(.supported, "ms-piggyback-first-notify")
        if !body.isEmpty {
            request.headers.append(.contentType, type)
            request.body = Array(body.utf8)
        }
        send(request, at: now) { [unowned self] answer, _ in
            lastAnswer = answer
            guard case .response(let response) = answer, response.status.isSuccess else { return }
            subscriptions[event]?.remoteTag = response.headers.toTag
            subscriptions[event]?.remoteTarget = response.headers.contact?.uri.description
            if expires == 0 { subscriptions[event] = nil }
            if response.headers.expires == nil { fault("200 to SUBSCRIBE without Expires (RFC 6665 4.2.1.1)") }
            if response.headers.event?.package != event { fault("200 to SUBSCRIBE \(event) without that Event (MS-SIP 3.4.5.1)") }
            note(response.body, of: event)
        }
    }

    /// Subscribes to those parts of the user's own data (MS-PRES 2.2.2.3.1).
    public func subscribeSelf(_ scopes: [String], at now: Instant) {
        let list = scopes.map { "<roaming type=\"\($0)\"/>" }.joined()
        subscribe(
            "vnd-microsoft-roaming-self", type: "application/vnd-microsoft-roaming-self+xml",
            body: "<roamingList xmlns=\"http://schemas.microsoft.com/2006/09/sip/roaming-self\">\(list)</roamingList>", at: now)
    }

    /// Sends a SERVICE about the user.
    public func service(_ type: String, _ body: String, at now: Instant) {
        number += 1
        var request = SIPRequest(.service, requestURI: user)
        address(&request, callID: token(), tag: token(), cSeq: number)
        request.headers.append(.contentType, type)
        request.body = Array(body.utf8)
        send(request, at: now) { [unowned self] answer, _ in
            lastAnswer = answer
            if case .response(let response) = answer { lastBody = String(decoding: response.body, as: UTF8.self) }
        }
    }

    /// Sends a SOAP operation of MS-SIP 2.2.4.2: its name and its children as written.
    public func operate(_ name: String, _ children: String, at now: Instant) {
        service(
            "application/SOAP+xml",
            "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\" xmlns:m=\"http://schemas.microsoft.com/winrtc/2002/11/sip\">"
                + "<s:Body><m:\(name)>\(children)</m:\(name)></s:Body></s:Envelope>", at: now)
    }

    // MARK: the wire

    private func address(_ request: inout SIPRequest, callID: String, tag: String, cSeq: UInt32) {
        request.headers.append(.from, "<\(user)>;tag=\(tag);epid=\(epid)")
        request.headers.append(.to, "<\(user)>")
        request.headers.append(.callID, callID)
        request.headers.append(.cSeq, "\(cSeq) \(request.method)")
        request.headers.append(.contact, contact(user: "endpoint"))
    }

    private func note(_ body: [UInt8], of event: String) {
        if !body.isEmpty { told[event, default: []].append(String(decoding: body, as: UTF8.self)) }
    }

    override func answer(_ request: SIPRequest, from source: InboundMessage, at now: Instant) -> SIPResponse? {
        guard request.method == .notify, let event = request.headers.event?.package else {
            return SIPResponse(to: request, status: .methodNotAllowed, toTag: token())
        }
        note(request.body, of: event)
        return SIPResponse(to: request, status: .ok, toTag: request.headers.toTag ?? token())
    }
}
