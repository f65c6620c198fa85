import PresenceDocuments

extension EnhancedPresentity {
    /// The presentity as watchers would see it if the user signed off at this time. A blocked watcher sees this from the start of the
    /// block (MS-PRES 1.3.1.3.4).
    ///
    /// Instances bound to endpoints and to the user end, and aggregates are recomputed (MS-PRES 3.2.5.5, 3.8.5). An availability of
    /// another lifetime would outlast the sign-off and reveal the block, so it becomes 18500. Subscribers and delegates are left out,
    /// because only the user sees them.
    public func signedOff(at now: DateTime) -> EnhancedPresentity {
        var result = self
        result.replaceLists(SubscriberList(), DelegateSet())
        _ = result.endpointEnded("", isLast: true, at: now)
        // Watchers see the input containers only through the aggregates.
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

    /// The presentity without members in container 32000: the memberships of the time before the blocks, if they are not stored.
    public func withoutBlocks() -> EnhancedPresentity {
        var result = self
        result.memberships[.blocked] = nil
        return result
    }
}

extension CategoryInstance {
    /// Whether the body is an offline state or legacyInterop, or has no availability; false for unreadable bodies.
    fileprivate var isOffline: Bool {
        guard let body else { return true }
        switch try? CategoryBody.raw(body).read(as: id.category) {
        case .state(let state)?: return state.availability.map { $0 >= 18_000 } ?? true
        case .legacyInterop(let legacy)?: return legacy.availability.map { $0 >= 18_000 } ?? true
        default: return false
        }
    }
}
