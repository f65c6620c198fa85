import SIPCore

/// Properties common to the upstream requests of a bridge.
struct DialogContext: Equatable {
    let callID: String
    private(set) var cSeq: UInt32 = 0
    private(set) var hopMarks: String
    private(set) var maxForwards = 70
    /// Request-URIs that redirected the newest request (RFC 3261 8.1.3.4).
    private(set) var redirections: Set<String> = []

    init(callID: String, hopMarks: String = "") {
        self.callID = callID
        self.hopMarks = hopMarks
    }

    /// Takes the loop markers and Max-Forwards of the newest client request.
    mutating func follow(_ loopMarkers: String, maxForwards: Int) {
        hopMarks = loopMarkers
        self.maxForwards = maxForwards
    }

    /// Begins a request: the next sequence number, and no redirection yet.
    mutating func beginRequest() {
        cSeq += 1
        redirections = []
    }

    /// Numbers a request that is repeated with credentials or after a redirection (RFC 3261 22.2).
    mutating func nextNumber() -> UInt32 {
        cSeq += 1
        return cSeq
    }

    /// Notes the Request-URIs that redirected the newest request.
    mutating func noteRedirections(_ visited: Set<String>) { redirections = visited }

    static func digest(_ document: [UInt8]) -> UInt64 {
        var digest = PresenceDigest()
        digest.add(document)
        return digest.value
    }
}
