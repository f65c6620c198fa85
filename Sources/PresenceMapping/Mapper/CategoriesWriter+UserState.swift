import PresenceDocuments

extension CategoriesWriter {
    func userState(from presence: CanonicalPresence) -> MappingResult<StateDocument?> {
        var trace = MappingTrace()
        guard let availability = presence.availability, availability < offlineFloor else { return trace.result(nil) }
        let isIdle = compiled.classes.find(Int(availability), token: nil)?.isIdle == true
        // Idle and BusyIdle are 1500 above their classes (MS-PRES 3.8.5.1.2.2).
        var state = StateDocument(type: .userState, availability: isIdle ? availability - min(availability, 1_500) : availability)
        if var activity = stateActivity(presence, &trace) {
            if let bounds = presence.activity?.bounds {
                activity.minimumAvailability = .value(UInt32(clamping: bounds.lower))
                activity.maximumAvailability = bounds.upper.map { .value(UInt32(clamping: $0)) } ?? .unbounded
            }
            state.activities = [activity]
        }
        return trace.result(state)
    }
}
