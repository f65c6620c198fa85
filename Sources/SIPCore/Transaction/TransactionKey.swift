/// Id of a server transaction in this layer; not reused.
public struct ServerTransactionID: Hashable, Sendable {
    /// Number of the transaction, also the token of its responses.
    public let rawValue: UInt64
}

/// Id of a client transaction in this layer; not reused.
public struct ClientTransactionID: Hashable, Sendable {
    /// Number of the transaction, also the token of its messages.
    public let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Key by which a server matches a request to its transaction (RFC 3261 17.2.3).
struct ServerTransactionKey: Hashable, Sendable {
    var branch: String
    var sentBy: String
    var method: SIPMethod

    /// Without the cookie, the rule of RFC 2543 applies: Request-URI, tags, Call-ID, CSeq and top Via together.
    init(_ request: SIPRequest, _ via: Via) {
        method = request.method == .ack ? .invite : request.method
        sentBy = via.sentBy
        if via.hasCookie, let branch = via.branch {
            self.branch = branch
            return
        }
        let headers = request.headers
        // Omit the To tag for ACK and INVITE: the ACK has the one of the response, the INVITE has none.
        let toTag = method == .invite ? "" : headers.toTag ?? ""
        let number = headers.cSeq.map { String($0.number) } ?? ""
        branch = ["2543", request.requestURI, toTag, headers.fromTag ?? "", headers.callID ?? "", number, via.description]
            .joined(separator: "\n")
    }
}

/// Key shared by copies of a request that took different paths (RFC 3261 8.2.2.2).
struct MergedRequestKey: Hashable, Sendable {
    var callID: String
    var fromTag: String
    var cSeq: CSeq

    /// nil within a dialog and for requests without From tag.
    init?(_ request: SIPRequest) {
        let headers = request.headers
        guard headers.toTag == nil, let fromTag = headers.fromTag, let callID = headers.callID, let cSeq = headers.cSeq else { return nil }
        self.callID = callID
        self.fromTag = fromTag
        self.cSeq = cSeq
    }
}
