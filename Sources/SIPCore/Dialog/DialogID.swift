/// Identifier of a dialog at one end (RFC 3261 12); case-sensitive.
public struct DialogID: Hashable, Sendable {
    /// Call-ID of the dialog.
    public var callID: String
    /// Tag of this end.
    public var localTag: String
    /// Tag of the peer; empty for a peer of RFC 2543 without one.
    public var remoteTag: String

    public init(callID: String, localTag: String, remoteTag: String) {
        self.callID = callID
        self.localTag = localTag
        self.remoteTag = remoteTag
    }

    /// Dialog of a received request; nil if To has no tag.
    public init?(incoming request: SIPRequest) {
        guard let callID = request.headers.callID, let localTag = request.headers.toTag else { return nil }
        self.init(callID: callID, localTag: localTag, remoteTag: request.headers.fromTag ?? "")
    }

    /// Dialog of a received response; nil if a tag is missing.
    public init?(incoming response: SIPResponse) {
        guard let callID = response.headers.callID, let localTag = response.headers.fromTag, let remoteTag = response.headers.toTag
        else { return nil }
        self.init(callID: callID, localTag: localTag, remoteTag: remoteTag)
    }
}
