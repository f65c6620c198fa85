/// What identifies a dialog at one end (RFC 3261 12): compares byte for byte.
public struct DialogID: Hashable, Sendable {
    public var callID: String
    public var localTag: String
    /// Empty for a peer of RFC 2543 that gave none.
    public var remoteTag: String

    public init(callID: String, localTag: String, remoteTag: String) {
        self.callID = callID
        self.localTag = localTag
        self.remoteTag = remoteTag
    }

    /// The dialog to which an incoming request belongs; nil if To has no tag.
    public init?(incoming request: SIPRequest) {
        guard let callID = request.headers.callID, let localTag = request.headers.toTag else { return nil }
        self.init(callID: callID, localTag: localTag, remoteTag: request.headers.fromTag ?? "")
    }

    /// The dialog to which an incoming response belongs; nil if a tag is missing.
    public init?(incoming response: SIPResponse) {
        guard let callID = response.headers.callID, let localTag = response.headers.fromTag, let remoteTag = response.headers.toTag
        else { return nil }
        self.init(callID: callID, localTag: localTag, remoteTag: remoteTag)
    }
}
