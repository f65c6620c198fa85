/// Names a server transaction of this layer; never reused.
public struct ServerTransactionID: Hashable, Sendable {
    public let rawValue: UInt64
}

/// Names a client transaction of this layer; never reused. Its raw value is the token of its messages.
public struct ClientTransactionID: Hashable, Sendable {
    public let rawValue: UInt64
}

/// What identifies a transaction to its server (RFC 3261 17.2.3).
struct ServerTransactionKey: Hashable, Sendable {
    var branch: String
    var sentBy: String
    var method: SIPMethod

    /// Without the cookie the rule of RFC 2543 holds: Request-URI, tags, Call-ID, CSeq and top Via together.
    init(_ request: SIPRequest, _ via: Via) {
        method = request.method == .ack ? .invite : request.method
        sentBy = via.sentBy
        if via.hasCookie, let branch = via.branch {
            self.branch = branch
            return
        }
        let headers = request.headers
        // The To tag of an ACK is ours, and an INVITE has none: leave it out for the two.
        let toTag = method == .invite ? "" : headers.toTag ?? ""
        let number = headers.cSeq.map { String($0.number) } ?? ""
        branch = ["2543", request.requestURI, toTag, headers.fromTag ?? "", headers.callID ?? "", number, via.description]
            .joined(separator: "\n")
    }
}

/// What two copies of a request that took different paths have in common (RFC 3261 8.2.2.2).
struct MergedRequestKey: Hashable, Sendable {
    var callID: String
    var fromTag: String
    var cSeq: CSeq

    /// nil inside a dialog and for senders that give no From tag.
    init?(_ request: SIPRequest) {
        let headers = request.headers
        guard headers.toTag == nil, let fromTag = headers.fromTag, let callID = headers.callID, let cSeq = headers.cSeq else { return nil }
        self.callID = callID
        self.fromTag = fromTag
        self.cSeq = cSeq
    }
}
