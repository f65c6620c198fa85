// RFC 4481 2: stored timed statuses that become current.

extension TimedStatus {
    /// Whether the range covers that moment: `from` included, `until` excluded; without `until` the end is open.
    public func covers(_ moment: DateTime) -> Bool { from <= moment && until.map { moment < $0 } ?? true }
}

extension PIDFDocument {
    /// Document in which each timed status that covers `moment` has become the regular status of its tuple, as RFC 4481 2 allows a
    /// presence agent to do; the others stay. If several ranges cover the moment, the newest one is used.
    ///
    /// A tuple with a timestamp at or after `from` was reported later than the plan, so its regular status stays.
    public func current(at moment: DateTime) -> PIDFDocument {
        guard tuples.contains(where: { !$0.timedStatuses.isEmpty }) else { return self }
        var document = self
        for index in tuples.indices { document.tuples[index].makeCurrent(at: moment) }
        return document
    }
}

extension PIDFTuple {
    /// Timed statuses that may become the regular status: those that begin after the last report.
    private var planned: [TimedStatus] {
        guard let timestamp else { return timedStatuses }
        return timedStatuses.filter { timestamp < $0.from }
    }

    fileprivate mutating func makeCurrent(at moment: DateTime) {
        guard !timedStatuses.isEmpty else { return }
        let planned = planned
        // The status last changed when a range began or ended.
        let changes = planned.flatMap { [$0.from, $0.until].compactMap(\.self) }.filter { $0 <= moment }
        if let timestamp, let last = changes.max() { self.timestamp = max(timestamp, last) }
        guard let status = planned.filter({ $0.covers(moment) }).max(by: { $0.from < $1.from }) else { return }
        timedStatuses.removeAll { $0.covers(moment) && planned.contains($0) }
        if let basic = status.basic { self.basic = basic }
        if !status.notes.isEmpty { notes = status.notes }
        rpid.take(status.rpid)
        statusExtensions += status.extensions
    }
}

extension RPID {
    /// Replaces each kind of element that `other` has.
    fileprivate mutating func take(_ other: RPID) {
        guard !other.isEmpty else { return }
        if !other.activities.isEmpty { activities = other.activities }
        if !other.classes.isEmpty { classes = other.classes }
        if !other.moods.isEmpty { moods = other.moods }
        if !other.placeIs.isEmpty { placeIs = other.placeIs }
        if !other.placeTypes.isEmpty { placeTypes = other.placeTypes }
        if !other.privacies.isEmpty { privacies = other.privacies }
        if !other.relationships.isEmpty { relationships = other.relationships }
        if !other.serviceClasses.isEmpty { serviceClasses = other.serviceClasses }
        if !other.spheres.isEmpty { spheres = other.spheres }
        if !other.statusIcons.isEmpty { statusIcons = other.statusIcons }
        if !other.timeOffsets.isEmpty { timeOffsets = other.timeOffsets }
        if !other.userInputs.isEmpty { userInputs = other.userInputs }
    }
}
