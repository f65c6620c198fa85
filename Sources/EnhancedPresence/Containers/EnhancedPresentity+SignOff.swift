import PresenceDocuments

extension EnhancedPresentity {
    /// The presentity as watchers find it after the user has signed off at this moment: what a blocked watcher is shown from its block on
    /// (MS-PRES 1.3.1.3.4).
    ///
    /// The instances of endpoints and of the user end, and what the server computes follows (MS-PRES 3.2.5.5, 3.8.5). An availability
    /// that a client gave a life of its own would outlast the sign-off; it becomes 18500, because a watcher that still sees an available
    /// user is not blocked. Subscribers and delegates concern the user alone, and are left out.
    public func signedOff(at now: DateTime) -> EnhancedPresentity {
        var result = self
        result.subscribers = SubscriberList()
        result.delegates = DelegateSet()
        _ = result.endpointEnded("", isLast: true, at: now)
        // The containers of inputs are seen by what the server computes of them.
        let outlasting = result.store.pairs.filter {
            $0.container != .aggregation && $0.container != .workgroupAggregation && Self.offlineBodies[$0.category] != nil
        }
        .flatMap { result.store.instances(of: $0) }.filter { !$0.isOffline }
        guard !outlasting.isEmpty else { return result }
        let time = result.commitTime(now)
        for var instance in outlasting {
            instance.body = Self.offlineBodies[instance.id.category] ?? nil
            instance.version = CategoryInstance.successor(of: instance.version)
            instance.publishTime = time
            result.store.put(instance)
        }
        return result
    }

    /// The same with no watcher blocked: the memberships under which blocked watchers saw presence, where those are not known.
    public func withoutBlocks() -> EnhancedPresentity {
        var result = self
        result.memberships[.blocked] = nil
        return result
    }
}

extension CategoryInstance {
    /// Whether the state or legacyInterop says that the user is offline, or nothing of that; what cannot be read does neither.
    fileprivate var isOffline: Bool {
        guard let body else { return true }
        switch try? CategoryBody.raw(body).read(as: id.category) {
        case .state(let state)?: return state.availability.map { $0 >= 18_000 } ?? true
        case .legacyInterop(let legacy)?: return legacy.availability.map { $0 >= 18_000 } ?? true
        default: return false
        }
    }
}
