import SIPCore

/// Notifications when an element with a validity period begins or ends, to watchers with a format that shows a difference.
extension SourceReporter {
    func advanceTimedMoment(of upstream: UpstreamSubscription, at now: Instant) {
        for resource in upstream.resources where resource.nextTimedMoment.map({ $0 <= now }) ?? false {
            let ended = resource.endedInstances(at: now)
            if !ended.isEmpty, case .categories(var merge) = resource.source {
                merge.remove(ended)
                show(.categories(merge), in: resource, at: now)
            } else {
                resource.noteTimedMoment(of: resource.source, at: now)
                for (watcher, watched) in resource.sinks { ports.sourceChanged(watched, of: watcher, at: now) }
            }
        }
    }
}
