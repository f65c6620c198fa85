import PresenceDocuments

/// Validity changes of elements with `from` and `until` (RFC 4480 3.1, RFC 4481 2), which change the content of a document without a
/// message.
extension PIDFDocument {
    /// The times after `moment` at which the validity of an element changes, in ascending order; only elements that the mapper reads.
    public func timedMoments(after moment: DateTime) -> [DateTime] {
        var found: Set<DateTime> = []
        forEachTimedMoment { if $0 > moment { found.insert($0) } }
        return found.sorted()
    }

    /// The newest moment, not after `moment`, at which an element began or ended to count.
    func lastTimedMoment(at moment: DateTime) -> DateTime? {
        var last: DateTime?
        forEachTimedMoment { passed in
            if passed <= moment, last.map({ $0 < passed }) ?? true { last = passed }
        }
        return last
    }

    private func forEachTimedMoment(_ body: (DateTime) -> Void) {
        func take(_ info: RPIDInfo) {
            if let from = info.from { body(from) }
            if let until = info.until { body(until) }
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
        for tuple in tuples {
            take(tuple.rpid)
            for status in tuple.timedStatuses {
                body(status.from)
                if let until = status.until { body(until) }
            }
        }
        for device in devices { take(device.rpid) }
    }
}

extension CategoriesDocument {
    /// The moments after `moment` at which a note begins or ends to be shown (MS-PRES 4.2), the first one first.
    public func timedMoments(after moment: DateTime) -> [DateTime] {
        var found: Set<DateTime> = []
        for element in categories {
            guard case .note(let note)? = element.body else { continue }
            for body in note.bodies { found.formUnion([body.startTime, body.endTime].compactMap(\.self).filter { $0 > moment }) }
        }
        return found.sorted()
    }
}
