import PresenceDocuments
import PresenceMapping
import SIPCore

extension PresenceSource {
    /// The moments after `now` at which it means something else (RFC 4480 3.1), the first one first.
    func timedMoments(after now: Instant) -> [Instant] {
        guard case .pidf(let document) = self else { return [] }
        return document.timedMoments(after: DateTime(now)).map { Instant($0) }
    }
}

extension HostedPresentity {
    /// Notes when the composed document changes its meaning by itself; those of a document that did not change stay.
    func noteTimedMoments(at now: Instant) {
        timedMoments = PresenceSource.pidf(document).timedMoments(after: now)
    }
}

/// Elements that begin and end by themselves: every watcher is told, whose format shows a difference.
extension Gateway {
    /// - Returns: whether an element of the composed document began or ended.
    func advanceTimedMoments(of presentity: HostedPresentity, at now: Instant) -> Bool {
        guard let first = presentity.timedMoments.first, first <= now else { return false }
        presentity.timedMoments.removeAll { $0 <= now }
        return true
    }

    func advanceTimedMoments(of upstream: UpstreamSubscription, at now: Instant) {
        for resource in upstream.resources where resource.timedMoments.first.map({ $0 <= now }) ?? false {
            resource.timedMoments.removeAll { $0 <= now }
            for (watcher, watched) in resource.sinks { sourceChanged(watched, of: watcher, at: now) }
        }
    }
}
