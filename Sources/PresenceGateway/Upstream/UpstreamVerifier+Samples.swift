import SIPCore
import SIPEvents

/// Samples: one refresh for all subscriptions that used a connection, see ``Sample``.
extension UpstreamVerifier {
    /// Refreshes one of these subscriptions as a sample; all of them are refreshed if none is suitable.
    /// - Parameter moment: earliest time of the refresh; nil: as soon as possible.
    func sample(_ numbers: Set<UInt64>, notBefore moment: Instant? = nil, at now: Instant) {
        guard !numbers.isEmpty, !isShuttingDown else { return }
        let sorted = numbers.sorted()
        let waiting = upstreams.waitingSample(among: sorted)
        guard let subscription = waiting ?? upstreams.sampleable(sorted, pause: Self.verificationPause, at: now) else {
            return doubt(numbers, .doubted, at: now)
        }
        subscription.verification.ask(for: numbers.union(waiting?.verification.sample?.numbers ?? []))
        doubt(numbers.subtracting([subscription.id]), .sampled, at: now)
        if let moment {
            subscription.verification.doubt(at: now)
            subscription.subscriber.verify(at: moment)
            flow.schedule(subscription)
        } else {
            doubt([subscription.id], .doubted, at: now)
        }
    }

    func sampleAccepted(_ subscription: UpstreamSubscription, at now: Instant) {
        guard let numbers = subscription.verification.endSample(comparingUntil: now + Self.verificationPause) else { return }
        doubt(numbers.subtracting([subscription.id]), .sampleAccepted, at: now)
    }

    /// Compares a new state of the sample with the known one. A difference means that a change was not notified, so all other
    /// subscriptions at the server are doubted.
    func compare(_ source: PresenceSource, with resource: UpstreamResource, of subscription: UpstreamSubscription, at now: Instant) {
        guard subscription.verification.endComparison(at: now) else { return }
        if resource.source.isKnown, resource.source != source, let server = subscription.verification.server {
            doubt(upstreams.numbers(atServer: server).subtracting([subscription.id]), .doubted, at: now)
        }
    }

    /// Doubts all other subscriptions at the server of a lost sample.
    func sampleLost(_ subscription: UpstreamSubscription, at now: Instant) {
        guard let numbers = subscription.verification.dropSample() else { return }
        let others = subscription.verification.server.map { upstreams.numbers(atServer: $0) } ?? []
        doubt(numbers.union(others).subtracting([subscription.id]), .doubted, at: now)
    }

    /// Chooses another sample after the refresh was refused temporarily or the subscription ended.
    func sampleFails(_ subscription: UpstreamSubscription, at now: Instant) {
        guard let numbers = subscription.verification.dropSample() else { return }
        sample(numbers.subtracting([subscription.id]), notBefore: subscription.subscriber.refreshAt, at: now)
    }

    /// Binds a subscription of the domain to the connection of an OPTIONS response that no subscription uses, so that its end is noticed.
    func watchConnection(_ connection: ConnectionID?, ofDomain name: String) {
        guard let connection, !isUsed(connection), let subscription = upstreams.firstListening(ofDomain: name) else { return }
        bind(subscription, to: connection)
    }
}
