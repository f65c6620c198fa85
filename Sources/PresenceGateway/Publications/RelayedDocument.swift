/// The document of a relayed publication: the wanted one, and the one that the compositor has.
///
///     composed --send--> sent --published--> accepted
///        ^                 |--postponed--> unknown
///        |                 \--refused--> as before; none if the publication ended with it
///        +--another document: next generation
struct RelayedDocument: Equatable {
    /// The document to publish; nil: nothing.
    private(set) var wanted: [UInt8]?
    /// Incremented with every change of ``wanted``.
    private(set) var generation: UInt64 = 0
    /// Digest of the compositor's document; nil: none, or unknown.
    private(set) var acceptedDigest: UInt64?
    /// The document of the outstanding request; nil: none is outstanding, or it has no body.
    private(set) var sent: Sent?

    struct Sent: Equatable {
        var generation: UInt64
        /// nil: the request removes the publication.
        var digest: UInt64?
    }

    init(acceptedDigest: UInt64? = nil) { self.acceptedDigest = acceptedDigest }

    /// Whether the compositor has the wanted document.
    var isShown: Bool { acceptedDigest == wanted.map(DialogContext.digest) }

    /// Takes the newest document; a difference starts a new generation.
    mutating func compose(_ document: [UInt8]?) {
        guard document != wanted else { return }
        wanted = document
        generation += 1
    }

    /// Notes a request with the document, or one that removes the publication.
    mutating func send(isRemoval: Bool) {
        sent = Sent(generation: generation, digest: isRemoval ? nil : wanted.map(DialogContext.digest))
    }

    /// Notes that the compositor accepted the outstanding request.
    /// - Returns: the generation that it has now; nil: no document was outstanding.
    mutating func published() -> UInt64? {
        guard let sent else { return nil }
        self.sent = nil
        acceptedDigest = sent.digest
        return sent.generation
    }

    /// Notes that the outstanding request failed; it is unknown whether it arrived.
    mutating func postponed() {
        if sent != nil { acceptedDigest = nil }
        sent = nil
    }

    /// Notes that the outstanding request was refused.
    /// - Parameter isOver: whether the publication ended with the refusal.
    /// - Returns: the refused generation; nil: no document was outstanding.
    mutating func refused(isOver: Bool) -> UInt64? {
        let refused = sent?.generation
        sent = nil
        if isOver { acceptedDigest = nil }
        return refused
    }

    /// Notes that the outstanding request was not sent.
    mutating func notSent() { sent = nil }

    /// Notes that the compositor has no publication any more.
    mutating func ended() {
        sent = nil
        acceptedDigest = nil
    }
}
