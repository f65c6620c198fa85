import FederationRouting
import SIPCore
import SIPEvents

/// Loss and end of upstream subscriptions.
extension UpstreamFlow {
    /// Handles the loss of a subscription that restarts by itself; watchers keep the last state for a while.
    func lost(_ upstream: UpstreamSubscription, _ failure: Subscriber.Failure, retryIn pause: TimeSpan, at now: Instant) {
        counters.upstreamLost += 1
        upstream.verification.doubt(at: now)
        verifier.sampleLost(upstream, at: now)
        note(.lost, upstream, failure, at: now)
        log(
            .notice, "far leg lost",
            [
                "call-id": upstream.callID, "leg": upstream.domain.side.rawValue, "cause": String(describing: failure),
                "retry-in": String(pause.seconds),
            ])
        upstream.attempt.lost()
        keep(upstream)
        if lists.dropReplaced(upstream) { return end(upstream, hasDialog: false, at: now) }
        let wasHeard = upstream.list?.isHeard ?? true
        upstream.reset()
        if case .refused(let status) = failure, UpstreamMoves.isFormRefusal(status), moves.fallBack(upstream, after: status, at: now) {
            if upstream.resources.isEmpty { end(upstream, hasDialog: false, at: now) }
            return
        }
        if let list = upstream.list, !wasHeard, list.isKept || upstream.subscriber.attempt > 1, upstream.hasSink {
            lists.giveUpList(upstream, at: now)
            end(upstream, hasDialog: false, at: now)
            return
        }
        if upstream.isFollowed(at: now), Self.isMoved(failure) {
            moves.sendBack(upstream, at: now)
            end(upstream, hasDialog: false, at: now)
            return
        }
        // A restart at once, as the remote domain requested, is no loss for the watchers.
        reporter.applyWhenLost(upstream, isDown: pause > .zero, at: now)
    }

    /// Handles the end of a subscription: as requested (nil), or after a final failure.
    func ended(_ upstream: UpstreamSubscription, _ failure: Subscriber.Failure?, at now: Instant) {
        _ = lists.dropReplaced(upstream)
        if case .refused(let status)? = failure, moves.fallBack(upstream, after: status, at: now) {
            if upstream.resources.isEmpty { forget(upstream) }
            return
        }
        if failure != nil, upstream.list != nil, upstream.hasSink { lists.giveUpList(upstream, at: now) }
        let isFollowed = upstream.isFollowed(at: now)
        lists.endPredecessor(of: upstream, at: now)
        forget(upstream)
        if failure != nil, isFollowed { return moves.sendBack(upstream, at: now) }
        let sinks = upstream.sinks
        for (_, watched) in sinks { watched.feed(from: nil) }
        guard let failure else {
            for resource in upstream.resources where !resource.source.isKnown { reporter.show(.offline, in: resource, at: now) }
            return
        }
        guard !sinks.isEmpty else { return }
        note(.farEnded, upstream, failure, at: now)
        log(.info, "far side ended the subscription", ["call-id": upstream.callID, "cause": String(describing: failure)])
        for (watcher, watched) in sinks {
            ports.sourceEnded(
                UpstreamTermination(failure, routingFailure: upstream.attempt.routingFailure), of: watched, to: watcher, at: now)
        }
    }

    /// Whether a pool that the remote domain named probably no longer serves its presentities, rather than being down briefly.
    private static func isMoved(_ failure: Subscriber.Failure) -> Bool {
        switch failure {
        case .terminated, .silent: true
        case .refused(let status): [480, 503].contains(status)
        case .lapsed: false
        }
    }
}
