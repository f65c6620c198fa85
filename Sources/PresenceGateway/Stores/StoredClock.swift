import PresenceDocuments
import SIPCore
import XMLCore

/// How the times in a store relate to the wall clock.
///
/// A process reads the wall clock once, and counts evenly from there on, so that setting the clock changes no lifetime in memory. What it
/// keeps is on this scale; the record of the clock says how far the wall clock has been set since, so that the next process, which begins
/// with the wall clock of its own start, can move all times to its scale.
public struct StoredClock: Hashable, Sendable {
    /// The time of the newest commit, on the scale of the store.
    public var committed: Instant
    /// How far the wall clock is ahead of that scale.
    public var step: TimeSpan

    public init(committed: Instant, step: TimeSpan) {
        self.committed = committed
        self.step = step
    }

    /// Differences below this are no setting of a clock.
    static let tolerance = TimeSpan.seconds(1)

    /// How far the times in the store are moved for a process that starts now: by the step, and never so that a commit lies in the future.
    /// So nothing lives longer from now on than it had left at the newest commit, which is no more than it was granted.
    func shift(at now: Instant) -> TimeSpan {
        let shift = min(step, now - committed)
        return shift.isClockStep ? shift : .zero
    }
}

extension TimeSpan {
    var isClockStep: Bool { self >= StoredClock.tolerance || self <= .zero - StoredClock.tolerance }
}

extension GatewayStore {
    /// Every record, with all times on the scale of a process that starts now. If they were not, the store is brought onto it.
    public func load(at now: Instant) throws(StoreFailure) -> [StoreRecord] {
        let records = try load()
        guard let shift = try loadClock()?.shift(at: now), shift != .zero else { return records }
        let shifted = records.map { $0.shifted(by: shift) }
        try commit(shifted.map(StoreChange.put) + [.clock(StoredClock(committed: now, step: .zero))])
        return shifted
    }
}

extension StoreRecord {
    /// The record with all its times moved; of a document that cannot be read, those outside it.
    func shifted(by span: TimeSpan) -> StoreRecord {
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
        case .leg(var stored):
            stored.expiry = stored.expiry.map { $0 + span }
            stored.restsUntil = stored.restsUntil.map { $0 + span }
            return .leg(stored)
        case .registration(var stored):
            stored.expiry = stored.expiry + span
            return .registration(stored)
        case .bridge(let stored):
            return .bridge(
                StoredBridge(
                    user: stored.user, way: stored.way, uri: stored.uri, document: Self.shifted(stored.document, by: span),
                    details: StoredBridge.shifted(stored.details, by: span),
                    items: stored.items.map { item in
                        var item = item
                        item.details = StoredBridge.shifted(item.details, by: span)
                        return item
                    }))
        case .shownWatcher(var stored):
            stored.shownAt = stored.shownAt + span
            return .shownWatcher(stored)
        case .signOff(var stored):
            stored.moment = stored.moment + span
            stored.document = Self.shifted(stored.document, by: span)
            return .signOff(stored)
        case .contacts, .accessList:
            return self
        }
    }

    /// A self document (MS-PRES 2.2.2.3.2) whose instances were published earlier or later by this.
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
