import SIPCore
import SIPEvents

/// Refreshes one upstream subscription for all that used a connection which the peer closed. The peer either closed an idle connection or
/// restarted and lost its subscriptions; the gateway cannot distinguish the two.
///
///     connection closed by the peer --> sample refreshed --2xx--> the others are verified too --notified state differs--> all refreshed
///                                        |  \--481, silence--> all at that server are refreshed
///                                        \--another refusal, or over--> another sample
struct Sample {
    /// Subscriptions that wait for the result of the refresh.
    var numbers: Set<UInt64>
    /// End of the time in which a NOTIFY counts as the state after the refresh (RFC 6665 4.2.2); nil: the refresh is not accepted yet.
    var comparesUntil: Instant?
}

extension Gateway {
    /// Refreshes one of these subscriptions as a sample; all of them are refreshed if none is suitable.
    /// - Parameter moment: earliest time of the refresh; nil: as soon as possible.
    func sample(_ numbers: Set<UInt64>, notBefore moment: Instant? = nil, at now: Instant) {
        guard !numbers.isEmpty, !isShuttingDown else { return }
        let sorted = numbers.sorted()
        let waiting = sorted.lazy.compactMap { self.upstreams[$0] }.first { $0.sample != nil && $0.sample?.comparesUntil == nil }
        guard let subscription = waiting ?? sampleable(sorted, at: now) else { return doubt(numbers, .doubted, at: now) }
        subscription.sample = Sample(numbers: numbers.union(waiting?.sample?.numbers ?? []))
        doubt(numbers.subtracting([subscription.id]), .sampled, at: now)
        if let moment {
            if subscription.unverifiedSince == nil { subscription.unverifiedSince = now }
            subscription.subscriber.verify(at: moment)
            schedule(subscription)
        } else {
            doubt([subscription.id], .doubted, at: now)
        }
    }

    /// Chooses a subscription that can be refreshed: preferably one that was not verified within ``verificationPause``, even another at
    /// the same server.
    private func sampleable(_ numbers: [UInt64], at now: Instant) -> UpstreamSubscription? {
        func isFit(_ subscription: UpstreamSubscription) -> Bool {
            subscription.hasSink && subscription.startsAt == nil && subscription.restsUntil == nil && subscription.dialog != nil
                && !subscription.subscriber.isFetch
                && subscription.subscriber.standing == .established
        }
        func isRested(_ subscription: UpstreamSubscription) -> Bool {
            subscription.verifiedAt.map { now >= $0 + Self.verificationPause } ?? true
        }
        let fit = numbers.lazy.compactMap { self.upstreams[$0] }.filter(isFit)
        if let rested = fit.first(where: isRested) { return rested }
        guard let first = fit.first else { return nil }
        guard let server = first.server else { return first }
        return upstreams.numbers(atServer: server).sorted().lazy.compactMap { self.upstreams[$0] }.first { isFit($0) && isRested($0) }
            ?? first
    }

    func sampleAccepted(_ subscription: UpstreamSubscription, at now: Instant) {
        guard let sample = subscription.sample, sample.comparesUntil == nil else { return }
        subscription.sample = Sample(numbers: [], comparesUntil: now + Self.verificationPause)
        doubt(sample.numbers.subtracting([subscription.id]), .sampleAccepted, at: now)
    }

    /// Compares a new state of the sample with the known one. A difference means that a change was not notified, so all other
    /// subscriptions at the server are doubted.
    func compare(_ source: PresenceSource, with resource: UpstreamResource, of subscription: UpstreamSubscription, at now: Instant) {
        guard let end = subscription.sample?.comparesUntil else { return }
        subscription.sample = nil
        if now < end, resource.source.isKnown, resource.source != source, let server = subscription.server {
            doubt(upstreams.numbers(atServer: server).subtracting([subscription.id]), .doubted, at: now)
        }
    }

    /// Doubts all other subscriptions at the server of a lost sample.
    func sampleLost(_ subscription: UpstreamSubscription, at now: Instant) {
        guard let sample = subscription.sample else { return }
        subscription.sample = nil
        guard sample.comparesUntil == nil else { return }
        let others = subscription.server.map { upstreams.numbers(atServer: $0) } ?? []
        doubt(sample.numbers.union(others).subtracting([subscription.id]), .doubted, at: now)
    }

    /// Chooses another sample after the refresh was refused temporarily or the subscription ended.
    func sampleFails(_ subscription: UpstreamSubscription, at now: Instant) {
        guard let sample = subscription.sample else { return }
        subscription.sample = nil
        guard sample.comparesUntil == nil else { return }
        self.sample(sample.numbers.subtracting([subscription.id]), notBefore: subscription.subscriber.refreshAt, at: now)
    }

    /// Binds a subscription of the domain to the connection of an OPTIONS response that no subscription uses, so that its end is noticed.
    func watchConnection(_ connection: ConnectionID?, ofDomain name: String) {
        guard let connection, upstreamsOfConnection[connection] == nil else { return }
        let numbers = upstreams.numbers(ofDomain: name)
        guard let subscription = numbers.lazy.compactMap({ self.upstreams[$0] }).filter(\.subscriber.isListening).min(by: { $0.id < $1.id })
        else {
            return
        }
        bind(subscription, to: connection)
    }
}
