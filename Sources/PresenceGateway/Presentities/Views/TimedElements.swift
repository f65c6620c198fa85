import EnhancedPresence
import PresenceDocuments
import PresenceMapping
import SIPCore

extension PresenceSource {
    /// The next time after `now` at which the validity of an element changes (RFC 4480 3.1, RFC 4481 2, MS-PRES 4.2), rounded up to a
    /// second, so that a document with many times costs one rendering per second at most.
    func nextTimedMoment(after now: Instant) -> Instant? {
        let moments: [DateTime] =
            switch self {
            case .pidf(let document): document.timedMoments(after: DateTime(now))
            case .categories(let merge):
                CategoriesDocument(uri: "", categories: merge.instances[.note] ?? []).timedMoments(after: DateTime(now))
            case .unknown, .offline, .msrtc: []
            }
        return moments.first.map { Instant($0).roundedUpToSecond }
    }
}

extension Instant {
    var roundedUpToSecond: Instant {
        let rest = nanosecondsSince1970 % 1_000_000_000
        return rest == 0 ? self : self + TimeSpan(nanoseconds: 1_000_000_000 - rest)
    }
}

extension CategoryInstance {
    /// The instance as sent to watchers, with a parsed body for the mapper.
    var readableElement: CategoryElement { HostedPresentity.readable(watcherElement) }
}
