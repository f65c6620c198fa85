import EnhancedPresence
import PresenceDocuments
import PresenceMapping
import SIPCore

extension PresenceSource {
    /// The moments after `now` at which it means something else (RFC 4480 3.1, RFC 4481 2, MS-PRES 4.2), the first one first.
    func timedMoments(after now: Instant) -> [Instant] {
        switch self {
        case .pidf(let document): document.timedMoments(after: DateTime(now)).map { Instant($0) }
        case .categories(let merge):
            CategoriesDocument(uri: "", categories: merge.instances[.note] ?? []).timedMoments(after: DateTime(now)).map { Instant($0) }
        case .unknown, .offline, .msrtc: []
        }
    }
}

extension HostedPresentity {
    /// Notes when the composed document and the published notes change their meaning by themselves.
    func noteTimedMoments(at now: Instant) {
        let notes = enhanced.pairs.filter { $0.category == .note }.flatMap { enhanced.instances(of: $0) }.map(\.readableElement)
        let moments =
            PresenceSource.pidf(document).timedMoments(after: now)
            + PresenceSource.categories(CategoryMerge(notes)).timedMoments(after: now)
        timedMoments = Set(moments).sorted()
    }
}

extension CategoryInstance {
    /// As watchers see it, with a body that the mapper can read.
    fileprivate var readableElement: CategoryElement { HostedPresentity.readable(watcherElement) }
}

/// Elements that begin and end by themselves: every watcher whose format shows a difference is notified.
extension Gateway {
    /// - Returns: whether an element of what is published began or ended.
    func advanceTimedMoments(of presentity: HostedPresentity, at now: Instant) -> Bool {
        guard let first = presentity.timedMoments.first, first <= now else { return false }
        presentity.timedMoments.removeAll { $0 <= now }
        return true
    }

    func advanceTimedMoments(of upstream: UpstreamSubscription, at now: Instant) {
        for resource in upstream.resources where resource.timedMoments.first.map({ $0 <= now }) ?? false {
            resource.timedMoments.removeAll { $0 <= now }
            let ended = resource.expiry.ended(at: now)
            if !ended.isEmpty, case .categories(var merge) = resource.source {
                merge.remove(ended)
                show(.categories(merge), in: resource, at: now)
            } else {
                for (watcher, watched) in resource.sinks { sourceChanged(watched, of: watcher, at: now) }
            }
        }
    }
}
