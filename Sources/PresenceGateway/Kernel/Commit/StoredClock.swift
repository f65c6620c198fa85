import PresenceDocuments
import SIPCore
import XMLCore

/// Relation of stored times to the wall clock.
///
/// A process reads the wall clock once and counts evenly from there, so that setting the clock changes no lifetime in memory. Stored
/// times are on this scale. The record holds the step of the wall clock since, so that the next process, which starts from the present
/// wall clock, can move all times to its scale.
package struct StoredClock: Hashable, Sendable {
    /// Time of the newest commit, on the scale of the store. A store may keep that of a commit less than 0.1 s earlier.
    package var committed: Instant
    /// Amount by which the wall clock is ahead of that scale.
    package var step: TimeSpan

    /// Creates a record.
    package init(committed: Instant, step: TimeSpan) {
        self.committed = committed
        self.step = step
    }

    /// Smaller differences do not count as setting of the clock.
    static let tolerance = TimeSpan.seconds(1)

    /// Shift of stored times for a process that starts now: the step, limited so that no commit lies in the future. Lifetimes are then no
    /// longer than at the newest commit.
    func shift(at now: Instant) -> TimeSpan {
        let shift = min(step, now - committed)
        return shift.isClockStep ? shift : .zero
    }
}

extension TimeSpan {
    var isClockStep: Bool { self >= StoredClock.tolerance || self <= .zero - StoredClock.tolerance }
}

extension GatewayStore {
    /// All records, with times on the scale of a process that starts now; the store is rewritten if its scale differs.
    package func load(at now: Instant) throws(StoreFailure) -> [StoreRecord] {
        try adjustTimes(at: now)
        return try load()
    }

    /// Rewrites the store if its times are not on the scale of a process that starts now.
    func adjustTimes(at now: Instant) throws(StoreFailure) {
        guard let shift = try loadClock()?.shift(at: now), shift != .zero else { return }
        try shiftTimes(by: shift, StoredClock(committed: now, step: .zero))
    }
}

extension StoreRecord {
    /// The record with all times shifted; times within an unreadable document are kept.
    package func shifted(by span: TimeSpan) -> StoreRecord {
        switch self {
        case .presentity(var stored):
            stored.document = Self.shifted(stored.document, by: span)
            return .presentity(stored)
        case .publication(var stored):
            stored.arrived = stored.arrived + span
            stored.expiry = stored.expiry + span
            return .publication(stored)
        case .dialog(var stored):
            stored.expiry = stored.expiry + span
            return .dialog(stored)
        case .upstreamSubscription(let stored):
            return .upstreamSubscription(stored.shifted(by: span))
        case .registration(var stored):
            stored.expiry = stored.expiry + span
            return .registration(stored)
        case .bridge(let stored):
            return .bridge(
                StoredBridge(
                    user: stored.user, way: stored.way, uri: stored.uri, document: Self.shifted(stored.document, by: span),
                    details: StoredBridge.shifted(stored.details, by: span),
                    items: stored.items.map {
                        StoredBridge.Item(
                            kind: $0.kind, name: $0.name, document: $0.document, details: StoredBridge.shifted($0.details, by: span))
                    }))
        case .shownWatcher(var stored):
            stored.shownAt = stored.shownAt + span
            return .shownWatcher(stored)
        case .signOff(var stored):
            stored.moment = stored.moment + span
            stored.document = Self.shifted(stored.document, by: span)
            return .signOff(stored)
        case .contacts, .accessList, .document:
            return self
        }
    }

    /// Shifts the publish times in a self document (MS-PRES 2.2.2.3.2).
    private static func shifted(_ document: [UInt8], by span: TimeSpan) -> [UInt8] {
        guard var data = try? RoamingDataDocument(parsing: document), let categories = data.categories else { return document }
        data.categories?.categories = categories.categories.map { instance in
            var instance = instance
            instance.publishTime = instance.publishTime.map { DateTime(Instant($0) + span) }
            return instance
        }
        return data.encoded()
    }
}
