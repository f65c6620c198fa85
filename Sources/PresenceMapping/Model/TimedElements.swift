import PresenceDocuments

/// Validity changes of elements with `from` and `until` (RFC 4480 3.1), which change the content of a document without a message.
extension PIDFDocument {
    /// The times after `moment` at which the validity of an element changes, in ascending order; only elements that the mapper reads.
    public func timedMoments(after moment: DateTime) -> [DateTime] {
        var found: Set<DateTime> = []
        func take(_ info: RPIDInfo) {
            if let from = info.from, from > moment { found.insert(from) }
            if let until = info.until, until > moment { found.insert(until) }
        }
        func take(_ rpid: RPID) {
            guard !rpid.isEmpty else { return }
            for list in rpid.activities { take(list.info) }
            for list in rpid.placeTypes { take(list.info) }
            for list in rpid.spheres { take(list.info) }
            for offset in rpid.timeOffsets { take(offset.info) }
            for input in rpid.userInputs { take(input.info) }
        }
        take(rpid)
        for person in persons { take(person.rpid) }
        for tuple in tuples { take(tuple.rpid) }
        for device in devices { take(device.rpid) }
        return found.sorted()
    }
}
