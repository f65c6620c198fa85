/// State of one dialog at one end (RFC 3261 12): ids, sequence numbers, remote target and route set. A value; keeps no timers.
public struct Dialog: Equatable, Sendable {
    public enum OnRequest: Equatable, Sendable {
        case accept
        /// 500: out of order (RFC 3261 12.2.2).
        case reject(SIPStatus)
    }

    private var text: DialogText
    /// Number of our last request; 0 before the first.
    public private(set) var localCSeq: UInt32
    /// Number of the peer's last request; nil before the first.
    public private(set) var remoteCSeq: UInt32?
    /// Whether the dialog was made over `sips` (RFC 3261 12.1).
    public let isSecure: Bool
    /// Whether the first hop is a strict router (RFC 3261 12.2.1.1).
    private var isStrictlyRouted: Bool

    public var id: DialogID { text.id }
    public var callID: String { text.callID }
    /// Where requests go: the peer's Contact. Read anew on every call, and so is ``routeSet``.
    public var remoteTarget: SIPURI { Self.uri(text.targetText) }
    /// In the order in which our requests visit them.
    public var routeSet: [NameAddr] { text.routeSet }

    init(
        id: DialogID, local: NameAddr, remote: NameAddr, target: SIPURI, routeSet: [NameAddr], localCSeq: UInt32, remoteCSeq: UInt32?,
        isSecure: Bool
    ) {
        text = DialogText(id, local: local, remote: remote, target: target, routeSet: routeSet)
        isStrictlyRouted = Self.isStrict(routeSet)
        self.localCSeq = localCSeq
        self.remoteCSeq = remoteCSeq
        self.isSecure = isSecure
    }

    private static func isStrict(_ routeSet: [NameAddr]) -> Bool { routeSet.first.map { !$0.uri.isLooseRoute } ?? false }

    private static func uri(_ text: String) -> SIPURI { SIPURI(text) ?? SIPURI(opaque: text, scheme: .init(rawValue: "")) }

    /// The dialog that our 2xx to this request makes (RFC 3261 12.1.1); nil if From, To, Call-ID, CSeq or Contact cannot be used, or
    /// if a request over `sips` names a Contact that is none.
    ///
    /// - Parameter localTag: The tag that the answer's To carries.
    public init?(accepting request: SIPRequest, localTag: String) {
        let headers = request.headers
        guard let from = headers.from, let to = headers.to, let callID = headers.callID, let cSeq = headers.cSeq,
            let contact = headers.contact, contact.uri.scheme.hasHost, contact.uri.isSecure || !request.uri.isSecure,
            ASCII.isWord(from.tag ?? "")
        else { return nil }
        self.init(
            id: DialogID(callID: callID, localTag: localTag, remoteTag: from.tag ?? ""), local: to, remote: from, target: contact.uri,
            routeSet: headers.recordRoutes, localCSeq: 0, remoteCSeq: cSeq.number, isSecure: request.uri.isSecure)
    }

    /// The dialog that a 2xx to our request makes (RFC 3261 12.1.2); nil if the response cannot be used or names no Contact.
    public init?(request: SIPRequest, response: SIPResponse) {
        guard let from = response.headers.from ?? request.headers.from, let to = response.headers.to, let callID = request.headers.callID,
            let cSeq = request.headers.cSeq, let localTag = from.tag, let remoteTag = to.tag, let contact = response.headers.contact,
            contact.uri.scheme.hasHost, response.status.isSuccess, ASCII.isWord(remoteTag)
        else { return nil }
        self.init(
            id: DialogID(callID: callID, localTag: localTag, remoteTag: remoteTag), local: from, remote: to, target: contact.uri,
            routeSet: response.headers.recordRoutes.reversed(), localCSeq: cSeq.number, remoteCSeq: nil, isSecure: request.uri.isSecure)
    }

    /// The dialog that a NOTIFY makes at the subscriber, before or without the 2xx (RFC 6665 4.4.1); nil if it does not answer this
    /// SUBSCRIBE or cannot be used.
    public init?(subscribe: SIPRequest, notify: SIPRequest) {
        let headers = notify.headers
        guard let from = headers.from, let to = headers.to, let callID = headers.callID, callID == subscribe.headers.callID,
            let localTag = to.tag, localTag == subscribe.headers.fromTag, let remoteTag = from.tag, let cSeq = headers.cSeq,
            let sent = subscribe.headers.cSeq, let contact = headers.contact, contact.uri.scheme.hasHost, ASCII.isWord(remoteTag)
        else { return nil }
        self.init(
            id: DialogID(callID: callID, localTag: localTag, remoteTag: remoteTag), local: to, remote: from, target: contact.uri,
            routeSet: headers.recordRoutes, localCSeq: sent.number, remoteCSeq: cSeq.number, isSecure: subscribe.uri.isSecure)
    }

    /// The dialog that a NOTIFY from another branch of the SUBSCRIBE makes, when this one was only made by the 2xx (RFC 6665 4.4.1: it is
    /// the NOTIFY that establishes it); nil if it does not answer that SUBSCRIBE or cannot be used.
    public func branch(of notify: SIPRequest) -> Dialog? {
        let headers = notify.headers
        guard remoteCSeq == nil, headers.callID == id.callID, headers.toTag == id.localTag, let to = headers.to, let from = headers.from,
            let tag = from.tag, ASCII.isWord(tag), let cSeq = headers.cSeq, let contact = headers.contact, contact.uri.scheme.hasHost
        else { return nil }
        return Dialog(
            id: DialogID(callID: id.callID, localTag: id.localTag, remoteTag: tag), local: to, remote: from, target: contact.uri,
            routeSet: headers.recordRoutes, localCSeq: localCSeq, remoteCSeq: cSeq.number, isSecure: isSecure)
    }

    // MARK: Incoming

    /// Takes a request of the peer in: checks its number, follows a new Contact (RFC 3261 12.2.2).
    ///
    /// - Returns: `reject(500)` for a lower number than before; the dialog is unchanged then. An equal one is a copy that the transaction
    ///   layer let through (BENOTIFY), and is rejected as well.
    public mutating func receive(_ request: SIPRequest) -> OnRequest {
        guard let cSeq = request.headers.cSeq else { return .reject(.badRequest) }
        if let remoteCSeq, cSeq.number <= remoteCSeq { return .reject(.serverInternalError) }
        remoteCSeq = cSeq.number
        if Self.isTargetRefresh(request.method) { follow(request.headers.contact) }
        return .accept
    }

    /// Takes a response to a request of ours in: a 2xx to a target refresh carries the new Contact (RFC 3261 12.2.1.2). One of
    /// another dialog, from another branch of a forked SUBSCRIBE, changes nothing.
    public mutating func receive(_ response: SIPResponse) {
        if let tag = response.headers.toTag, tag != text.remoteTag { return }
        if response.status.isSuccess, let method = response.method, Self.isTargetRefresh(method) { follow(response.headers.contact) }
    }

    /// Takes the route set over from the first NOTIFY, which is what establishes a subscription (RFC 6665 4.4.1).
    public mutating func adoptRouteSet(of notify: SIPRequest) {
        let routes = notify.headers.recordRoutes
        guard !routes.isEmpty || text.hasRoutes else { return }
        text.setRouteSet(routes)
        isStrictlyRouted = Self.isStrict(routes)
    }

    private mutating func follow(_ contact: NameAddr?) {
        if let contact, contact.uri.scheme.hasHost { text.setTarget(contact.uri) }
    }

    /// SUBSCRIBE and NOTIFY refresh the remote target (RFC 6665 4.4.1).
    private static func isTargetRefresh(_ method: SIPMethod) -> Bool {
        method == .subscribe || method == .notify || method == .benotify || method == .refer || method == .update || method == .invite
    }

    // MARK: Outgoing

    /// Takes the next number of the local CSeq sequence: for a request that is sent once more with credentials (RFC 3261 22.2), or for the
    /// NOTIFY in whose place a piggybacking 200 is sent (MS-SIP 3.4.5.1).
    public mutating func nextNumber() -> UInt32 {
        if localCSeq < CSeq.limit { localCSeq += 1 }
        return localCSeq
    }

    /// The next request of ours (RFC 3261 12.2.1.1): Request-URI, Route, From, To, Call-ID, CSeq, Max-Forwards. Via comes from the
    /// transaction layer.
    ///
    /// - Parameter contact: Our Contact, for requests that refresh the target.
    public mutating func makeRequest(_ method: SIPMethod, contact: NameAddr? = nil, maxForwards: Int = 70, body: [UInt8] = []) -> SIPRequest
    {
        if localCSeq < CSeq.limit { localCSeq += 1 }
        var headers = text.headers(maxForwards: maxForwards, cSeq: CSeq(localCSeq, method), withRoutes: !isStrictlyRouted)
        var target = text.targetText
        if isStrictlyRouted {
            let routes = routeSet
            headers.routes = Array(routes.dropFirst()) + [NameAddr(Self.uri(target))]
            target = strictTarget(routes) ?? target
        }
        var request = SIPRequest(method, requestURI: target, headers: headers, body: body)
        if let contact { request.headers.contact = contact }
        return request
    }

    /// The strict router's URI as the Request-URI must have it (RFC 3261 12.2.1.1).
    private func strictTarget(_ routes: [NameAddr]) -> String? {
        guard var uri = routes.first?.uri else { return nil }
        uri.headers = nil
        uri.parameters.remove("method")
        return uri.description
    }

    /// The URI to which the next request is sent: the first route, else the remote target (RFC 3261 8.1.2).
    public var nextHop: SIPURI { text.hasRoutes ? routeSet.first?.uri ?? remoteTarget : remoteTarget }
}

/// A dialog as plain text and numbers, to be stored (see ``Dialog/init(snapshot:)``).
public struct DialogSnapshot: Hashable, Sendable {
    public var callID: String
    public var localTag: String
    public var remoteTag: String
    /// From and To values without tag.
    public var localParty: String
    public var remoteParty: String
    public var remoteTarget: String
    public var routeSet: [String]
    public var localCSeq: UInt32
    public var remoteCSeq: UInt32?
    public var isSecure: Bool

    public init(
        callID: String, localTag: String, remoteTag: String, localParty: String, remoteParty: String, remoteTarget: String,
        routeSet: [String], localCSeq: UInt32, remoteCSeq: UInt32?, isSecure: Bool
    ) {
        self.callID = callID
        self.localTag = localTag
        self.remoteTag = remoteTag
        self.localParty = localParty
        self.remoteParty = remoteParty
        self.remoteTarget = remoteTarget
        self.routeSet = routeSet
        self.localCSeq = localCSeq
        self.remoteCSeq = remoteCSeq
        self.isSecure = isSecure
    }
}

extension Dialog {
    public var snapshot: DialogSnapshot {
        let id = id
        return DialogSnapshot(
            callID: id.callID, localTag: id.localTag, remoteTag: id.remoteTag, localParty: text.localPartyText,
            remoteParty: text.remotePartyText, remoteTarget: text.targetText, routeSet: text.routeTexts, localCSeq: localCSeq,
            remoteCSeq: remoteCSeq, isSecure: isSecure)
    }

    /// How far ``resumed(from:)`` jumps.
    public static let resumptionGap: UInt32 = 100

    /// The dialog after a restart. Numbers go on beyond those that may have been used and not been kept (a store that lost its last
    /// moments with the power): a peer takes a gap for lost requests, and refuses anything lower (RFC 3261 12.2.2).
    public static func resumed(from snapshot: DialogSnapshot) -> Dialog? {
        guard var dialog = Dialog(snapshot: snapshot) else { return nil }
        dialog.localCSeq = min(dialog.localCSeq, CSeq.limit - resumptionGap) + resumptionGap
        return dialog
    }

    /// The dialog as it was; nil if a stored value cannot be read.
    public init?(snapshot: DialogSnapshot) {
        let routes = snapshot.routeSet.compactMap { NameAddr($0) }
        guard let local = NameAddr(snapshot.localParty), let remote = NameAddr(snapshot.remoteParty),
            let target = SIPURI(snapshot.remoteTarget), routes.count == snapshot.routeSet.count, ASCII.isWord(snapshot.localTag),
            ASCII.isWord(snapshot.remoteTag)
        else { return nil }
        self.init(
            id: DialogID(callID: snapshot.callID, localTag: snapshot.localTag, remoteTag: snapshot.remoteTag), local: local, remote: remote,
            target: target, routeSet: routes, localCSeq: min(snapshot.localCSeq, CSeq.limit), remoteCSeq: snapshot.remoteCSeq,
            isSecure: snapshot.isSecure)
    }
}
