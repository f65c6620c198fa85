/// State of one dialog at one end (RFC 3261 12): ids, sequence numbers, remote target and route set. A value without timers.
public struct Dialog: Equatable, Sendable {
    /// Decision on a request of the peer.
    public enum OnRequest: Equatable, Sendable {
        case accept
        /// Answer with this status: 500 out of order (RFC 3261 12.2.2), 400 without CSeq.
        case reject(SIPStatus)
    }

    private var text: DialogText
    /// CSeq number of the last request sent; 0 before the first.
    public private(set) var localCSeq: UInt32
    /// CSeq number of the peer's last request; nil before the first.
    public private(set) var remoteCSeq: UInt32?
    /// Whether the dialog was created over `sips` (RFC 3261 12.1).
    public let isSecure: Bool
    /// Whether the first hop is a strict router (RFC 3261 12.2.1.1).
    private var isStrictlyRouted: Bool

    /// Call-ID and tags of the dialog.
    public var id: DialogID { text.id }
    /// Call-ID of all requests of the dialog.
    public var callID: String { text.callID }
    /// URI for requests: the peer's Contact. Parsed at every access, like ``routeSet``.
    public var remoteTarget: SIPURI { Self.uri(text.targetText) }
    /// Route set, in the order in which sent requests visit it.
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

    /// Creates the dialog of a 2xx to a received request (RFC 3261 12.1.1); nil if From, To, Call-ID, CSeq or Contact is unusable,
    /// or if a request over `sips` has a Contact that is not `sips`.
    ///
    /// - Parameter localTag: To tag of the response.
    public init?(accepting request: SIPRequest, localTag: String) {
        let headers = request.headers
        let isSecure = request.uri.isSecure
        guard let from = headers.from, let to = headers.to, let callID = headers.callID, let cSeq = headers.cSeq,
            let contact = headers.contact, contact.uri.scheme.hasHost, contact.uri.isSecure || !isSecure,
            ASCII.isWord(from.tag ?? "")
        else { return nil }
        self.init(
            id: DialogID(callID: callID, localTag: localTag, remoteTag: from.tag ?? ""), local: to, remote: from, target: contact.uri,
            routeSet: headers.recordRoutes, localCSeq: 0, remoteCSeq: cSeq.number, isSecure: isSecure)
    }

    /// Creates the dialog of a 2xx to a sent request (RFC 3261 12.1.2); nil if the response is unusable or has no Contact.
    public init?(request: SIPRequest, response: SIPResponse) {
        guard let from = response.headers.from ?? request.headers.from, let to = response.headers.to, let callID = request.headers.callID,
            let cSeq = request.headers.cSeq, let localTag = from.tag, let remoteTag = to.tag, let contact = response.headers.contact,
            contact.uri.scheme.hasHost, response.status.isSuccess, ASCII.isWord(remoteTag)
        else { return nil }
        self.init(
            id: DialogID(callID: callID, localTag: localTag, remoteTag: remoteTag), local: from, remote: to, target: contact.uri,
            routeSet: response.headers.recordRoutes.reversed(), localCSeq: cSeq.number, remoteCSeq: nil, isSecure: request.uri.isSecure)
    }

    /// Creates the subscriber's dialog from a NOTIFY that arrives before or without the 2xx (RFC 6665 4.4.1); nil if it does not
    /// belong to this SUBSCRIBE or is unusable.
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

    /// Dialog of a NOTIFY from another branch of the SUBSCRIBE, while this one was created by the 2xx only (RFC 6665 4.4.1: the
    /// NOTIFY establishes it); nil if it does not belong to the SUBSCRIBE or is unusable.
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

    /// Handles a request of the peer: checks its number and updates the remote target (RFC 3261 12.2.2).
    ///
    /// - Returns: `reject(500)` for a number that is not higher than the last one; the dialog is unchanged then. An equal number is
    ///   a copy that the transaction layer does not detect (BENOTIFY).
    public mutating func receive(_ request: SIPRequest) -> OnRequest {
        guard let cSeq = request.headers.cSeq else { return .reject(.badRequest) }
        if let remoteCSeq, cSeq.number <= remoteCSeq { return .reject(.serverInternalError) }
        remoteCSeq = cSeq.number
        if Self.isTargetRefresh(request.method) { follow(request.headers.contact) }
        return .accept
    }

    /// Restores the remote CSeq number, the remote target and the route set that the dialog had before a request of the peer that is
    /// refused after all (RFC 3261 12.2). The local CSeq number is not lowered.
    public mutating func revert(to before: Dialog) {
        let number = max(localCSeq, before.localCSeq)
        self = before
        localCSeq = number
    }

    /// Handles a response: a 2xx to a target refresh updates the remote target (RFC 3261 12.2.1.2). A response of another dialog,
    /// from another branch of a forked SUBSCRIBE, is ignored.
    public mutating func receive(_ response: SIPResponse) {
        if let tag = response.headers.toTag, tag != text.remoteTag { return }
        if response.status.isSuccess, let method = response.method, Self.isTargetRefresh(method) { follow(response.headers.contact) }
    }

    /// Takes over the route set of the first NOTIFY, which establishes a subscription (RFC 6665 4.4.1).
    public mutating func adoptRouteSet(of notify: SIPRequest) {
        let routes = notify.headers.recordRoutes
        guard !routes.isEmpty || text.hasRoutes else { return }
        text.setRouteSet(routes)
        isStrictlyRouted = Self.isStrict(routes)
    }

    private mutating func follow(_ contact: NameAddr?) {
        if let contact, contact.uri.scheme.hasHost { text.setTarget(contact.uri) }
    }

    /// Whether requests of this method refresh the remote target, as SUBSCRIBE and NOTIFY do (RFC 6665 4.4.1).
    private static func isTargetRefresh(_ method: SIPMethod) -> Bool {
        method == .subscribe || method == .notify || method == .benotify || method == .refer || method == .update || method == .invite
    }

    // MARK: Outgoing

    /// Increments the CSeq number and returns it: for a request that is repeated with credentials (RFC 3261 22.2), or for a NOTIFY that
    /// is not sent because a 200 carries its state (MS-SIP 3.4.5.1).
    public mutating func nextNumber() -> UInt32 {
        if localCSeq < CSeq.limit { localCSeq += 1 }
        return localCSeq
    }

    /// Creates the next request (RFC 3261 12.2.1.1): Request-URI, Route, From, To, Call-ID, CSeq, Max-Forwards. The transaction
    /// layer adds Via.
    ///
    /// - Parameter contact: Contact of this end, for requests that refresh the target.
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

    /// Request-URI for a strict router (RFC 3261 12.2.1.1).
    private func strictTarget(_ routes: [NameAddr]) -> String? {
        guard var uri = routes.first?.uri else { return nil }
        uri.headers = nil
        uri.parameters.remove("method")
        return uri.description
    }

    /// URI to which the next request is sent: the first route, else the remote target (RFC 3261 8.1.2).
    public var nextHop: SIPURI { text.hasRoutes ? routeSet.first?.uri ?? remoteTarget : remoteTarget }
}

/// Dialog as plain text and numbers, for storage (see ``Dialog/init(snapshot:)``).
public struct DialogSnapshot: Hashable, Sendable {
    /// Call-ID of the dialog.
    public var callID: String
    /// Tag of this end.
    public var localTag: String
    /// Tag of the peer; empty for a peer of RFC 2543 without one.
    public var remoteTag: String
    /// Name-addr of this end without tag: From of sent requests.
    public var localParty: String
    /// Name-addr of the peer without tag: To of sent requests.
    public var remoteParty: String
    /// URI of the peer's Contact.
    public var remoteTarget: String
    /// Route set as name-addrs, in the order in which sent requests visit it.
    public var routeSet: [String]
    /// CSeq number of the last request sent; 0 before the first.
    public var localCSeq: UInt32
    /// CSeq number of the peer's last request; nil before the first.
    public var remoteCSeq: UInt32?
    /// Whether the dialog was created over `sips`.
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
    /// Current state for storage.
    public var snapshot: DialogSnapshot {
        let id = id
        return DialogSnapshot(
            callID: id.callID, localTag: id.localTag, remoteTag: id.remoteTag, localParty: text.localPartyText,
            remoteParty: text.remotePartyText, remoteTarget: text.targetText, routeSet: text.routeTexts, localCSeq: localCSeq,
            remoteCSeq: remoteCSeq, isSecure: isSecure)
    }

    /// CSeq numbers that ``resumed(from:)`` skips.
    public static let resumptionGap: UInt32 = 100

    /// Restores a dialog after a restart, with ``resumptionGap`` added to the local CSeq number: numbers may have been used and not
    /// stored. A peer takes a gap for lost requests, and rejects lower numbers (RFC 3261 12.2.2). nil if a stored value cannot be
    /// parsed.
    public static func resumed(from snapshot: DialogSnapshot) -> Dialog? {
        guard var dialog = Dialog(snapshot: snapshot) else { return nil }
        dialog.localCSeq = min(dialog.localCSeq, CSeq.limit - resumptionGap) + resumptionGap
        return dialog
    }

    /// Restores a dialog unchanged; nil if a stored value cannot be parsed.
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
