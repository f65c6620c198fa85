import SIPCore

/// Whether the remote domain still has an upstream subscription, and the server and connections at which it has it.
///
///     verified --doubt--> unverified --accepted, sample accepted--> verified
///        |                    ^
///        +--restart--> restored --doubt--> unverified, restored --accepted--> verified
///                                                   \--sample accepted--> restored
///
///     sample:  none --ask--> asked --accepted--> compares --the next state, or a loss--> none
///                              \--lost, refused, over--> none: the others need another sample, or a refresh
struct UpstreamVerification {
    /// State of the subscription at the remote domain.
    enum Standing: Equatable {
        /// The last SUBSCRIBE was accepted, or the first one has no response yet.
        case verified
        /// A restart restored the subscription at this time, and no SUBSCRIBE was accepted since.
        case restored(Instant)
        /// The remote domain may have lost it.
        case unverified(since: Instant, restoredAt: Instant?)
    }

    /// Role as the sample of other subscriptions, see ``Sample``.
    enum Sampling: Equatable {
        case none
        case asked(Sample)
        /// End of the time in which a NOTIFY counts as the state after the refresh (RFC 6665 4.2.2).
        case compares(until: Instant)
    }

    private(set) var standing = Standing.verified
    /// Time of the last verification, or of the restart after the return of the partner.
    private(set) var verifiedAt: Instant?
    private(set) var sampling = Sampling.none
    /// Server that accepted its last SUBSCRIBE; see ``UpstreamTable/note(_:acceptedBy:)``.
    private(set) var server: TransportAddress?
    /// Connections that the subscription uses: one for SUBSCRIBEs and one for NOTIFYs.
    private(set) var connections: [ConnectionID] = []

    /// Time since which the remote domain may have lost the subscription; nil: the last SUBSCRIBE was accepted.
    var unverifiedSince: Instant? {
        if case .unverified(let since, _) = standing { since } else { nil }
    }

    /// Time of the restart that restored the subscription; nil: a SUBSCRIBE was accepted since, or this process created it.
    var restoredAt: Instant? {
        switch standing {
        case .verified: nil
        case .restored(let moment): moment
        case .unverified(_, let moment): moment
        }
    }

    /// Time of the first reason for a doubt; nil: verified.
    var doubtedSince: Instant? { .earliest(unverifiedSince, restoredAt) }

    // MARK: doubts

    /// Notes that the remote domain may have lost the subscription; the first doubt counts.
    mutating func doubt(at now: Instant) {
        switch standing {
        case .verified: standing = .unverified(since: now, restoredAt: nil)
        case .restored(let moment): standing = .unverified(since: now, restoredAt: moment)
        case .unverified: break
        }
    }

    /// Notes that a restart restored the subscription.
    mutating func restored(at now: Instant) { standing = .restored(now) }

    /// Notes that the remote domain accepted a SUBSCRIBE. Only repeated doubts wait for ``pauseEnd(after:)``; the first one is verified at
    /// once, however new the subscription is.
    mutating func accepted(at now: Instant) {
        if case .unverified = standing { verifiedAt = now }
        standing = .verified
    }

    /// Notes that the refresh of the sample was accepted, which verifies this subscription too.
    mutating func sampleAccepted() {
        if case .unverified(_, let moment) = standing { standing = moment.map { .restored($0) } ?? .verified }
    }

    /// Notes a restart after the return of the partner, at its turn.
    mutating func woken(at moment: Instant) { verifiedAt = moment }

    /// Earliest time of the next verification; nil: at once.
    func pauseEnd(after pause: TimeSpan) -> Instant? { verifiedAt.map { $0 + pause } }

    /// Whether the pause after the last verification is over.
    func isRested(after pause: TimeSpan, at now: Instant) -> Bool { pauseEnd(after: pause).map { now >= $0 } ?? true }

    // MARK: sample

    /// Subscriptions that wait for the result of its refresh; nil: it is no sample, or its refresh was accepted.
    var sample: Sample? {
        if case .asked(let sample) = sampling { sample } else { nil }
    }

    /// Makes it the sample of other subscriptions.
    mutating func ask(for numbers: Set<UInt64>) { sampling = .asked(Sample(numbers: numbers)) }

    /// Notes that the refresh of the sample was accepted: the next state until `end` is compared.
    /// - Returns: the subscriptions that waited for it; nil: it is no sample, or compares already.
    mutating func endSample(comparingUntil end: Instant) -> Set<UInt64>? {
        guard let sample else { return nil }
        sampling = .compares(until: end)
        return sample.numbers
    }

    /// Ends the comparison with the next state.
    /// - Returns: whether the state counts as the one after the refresh.
    mutating func endComparison(at now: Instant) -> Bool {
        guard case .compares(let end) = sampling else { return false }
        sampling = .none
        return now < end
    }

    /// Notes that the sample was lost, refused or ended.
    /// - Returns: the subscriptions that waited for it; nil: none did.
    mutating func dropSample() -> Set<UInt64>? {
        let numbers = sample?.numbers
        sampling = .none
        return numbers
    }

    // MARK: server and connections

    /// Notes the server that has the subscription; nil: none.
    mutating func noteServer(_ address: TransportAddress?) { server = address }

    /// Notes a connection that the subscription uses.
    /// - Returns: the connection that it replaces; nil: none.
    mutating func bind(to connection: ConnectionID) -> ConnectionID? {
        connections.append(connection)
        return connections.count > 2 ? connections.removeFirst() : nil
    }

    /// Forgets its connections.
    mutating func unbindAll() -> [ConnectionID] {
        defer { connections = [] }
        return connections
    }
}

/// Refreshes one upstream subscription for all that used a connection which the peer closed. The peer either closed an idle connection or
/// restarted and lost its subscriptions; the gateway cannot distinguish the two.
///
///     connection closed by the peer --> sample refreshed --2xx--> the others are verified too --notified state differs--> all refreshed
///                                        |  \--481, silence--> all at that server are refreshed
///                                        \--another refusal, or over--> another sample
struct Sample: Equatable {
    /// Subscriptions that wait for the result of the refresh.
    let numbers: Set<UInt64>
}
