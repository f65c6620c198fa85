import SIPCore
import SIPEvents

/// One upstream subscription is refreshed for all that were heard over a connection that the peer ended. The peer may have closed an idle
/// connection, as servers do every few minutes, or may have restarted and forgotten them all: both look the same.
///
///     connection ended by the peer --> sample refreshed --2xx--> the others are verified too --notified state differs--> all refreshed
///                                        |  \--481, silence--> all at that server are refreshed
///                                        \--another refusal, or over--> another sample
struct Sample {
    /// The subscriptions that wait for the sample's answer.
    var numbers: Set<UInt64>
    /// The sample was accepted: a NOTIFY until then is the state that follows a refresh (RFC 6665 4.2.2).
    var comparesUntil: Instant?
}

extension Gateway {
    /// - Parameter moment: The refresh is not sent before.
    func sample(_ numbers: Set<UInt64>, notBefore moment: Instant? = nil, at now: Instant) {
        guard !numbers.isEmpty, !isShuttingDown else { return }
        let sorted = numbers.sorted()
        let waiting = sorted.lazy.compactMap { self.upstreams[$0] }.first { $0.sample != nil && $0.sample?.comparesUntil == nil }
        guard let leg = waiting ?? sampleable(sorted, at: now) else { return doubt(numbers, .doubted, at: now) }
        leg.sample = Sample(numbers: numbers.union(waiting?.sample?.numbers ?? []))
        doubt(numbers.subtracting([leg.id]), .sampled, at: now)
        if let moment {
            if leg.unverifiedSince == nil { leg.unverifiedSince = now }
            leg.subscriber.verify(at: moment)
            schedule(leg)
        } else {
            doubt([leg.id], .doubted, at: now)
        }
    }

    /// One that can be refreshed; rather one that was not verified just now, if need be another one at the same server.
    private func sampleable(_ numbers: [UInt64], at now: Instant) -> UpstreamSubscription? {
        func isFit(_ leg: UpstreamSubscription) -> Bool {
            leg.hasSink && leg.startsAt == nil && leg.restsUntil == nil && leg.dialog != nil && !leg.subscriber.isFetch
                && leg.subscriber.standing == .established
        }
        func isRested(_ leg: UpstreamSubscription) -> Bool { leg.verifiedAt.map { now >= $0 + Self.verificationPause } ?? true }
        let fit = numbers.lazy.compactMap { self.upstreams[$0] }.filter(isFit)
        if let rested = fit.first(where: isRested) { return rested }
        guard let first = fit.first else { return nil }
        guard let server = first.server else { return first }
        return upstreams.numbers(atServer: server).sorted().lazy.compactMap { self.upstreams[$0] }.first { isFit($0) && isRested($0) }
            ?? first
    }

    func sampleAccepted(_ leg: UpstreamSubscription, at now: Instant) {
        guard let sample = leg.sample, sample.comparesUntil == nil else { return }
        leg.sample = Sample(numbers: [], comparesUntil: now + Self.verificationPause)
        doubt(sample.numbers.subtracting([leg.id]), .sampleAccepted, at: now)
    }

    /// State of a presentity of the sample, before it is taken over: where it differs, a change was not notified, and others may have been
    /// lost with it.
    func compare(_ source: PresenceSource, with resource: UpstreamResource, of leg: UpstreamSubscription, at now: Instant) {
        guard let end = leg.sample?.comparesUntil else { return }
        leg.sample = nil
        if now < end, resource.source.isKnown, resource.source != source, let server = leg.server {
            doubt(upstreams.numbers(atServer: server).subtracting([leg.id]), .doubted, at: now)
        }
    }

    /// The sample was lost: the others at its server may be lost too.
    func sampleLost(_ leg: UpstreamSubscription, at now: Instant) {
        guard let sample = leg.sample else { return }
        leg.sample = nil
        guard sample.comparesUntil == nil else { return }
        let others = leg.server.map { upstreams.numbers(atServer: $0) } ?? []
        doubt(sample.numbers.union(others).subtracting([leg.id]), .doubted, at: now)
    }

    /// Chooses another sample, because the refresh of this one was refused for now, or it has ended.
    func sampleFails(_ leg: UpstreamSubscription, at now: Instant) {
        guard let sample = leg.sample else { return }
        leg.sample = nil
        guard sample.comparesUntil == nil else { return }
        self.sample(sample.numbers.subtracting([leg.id]), notBefore: leg.subscriber.refreshAt, at: now)
    }

    /// OPTIONS were answered over a connection over which no subscription is heard: its end is noticed by one of the domain's.
    func watchConnection(_ connection: ConnectionID?, ofDomain name: String) {
        guard let connection, legsOfConnection[connection] == nil else { return }
        let numbers = upstreams.numbers(ofDomain: name)
        guard let leg = numbers.lazy.compactMap({ self.upstreams[$0] }).filter(\.subscriber.isListening).min(by: { $0.id < $1.id }) else {
            return
        }
        bind(leg, to: connection)
    }
}
