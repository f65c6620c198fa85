import PresenceDocuments

/// Private categories that the server derives from others (MS-PRES 3.8.5.3, 3.8.5.4).
enum DerivedCategories {
    /// The containers of the dndState of an input container (MS-PRES 3.8.5.4).
    static func doNotDisturbContainers(of input: ContainerID) -> [ContainerID] {
        input == .workgroupAggregation
            ? [.workgroupAggregation, .workgroup] : [.default, .aggregation, .externalContacts, .colleagues, .friendsAndFamily]
    }

    /// A dndState with availability 9500 if the user state or a presentation is do-not-disturb, otherwise without availability
    /// (MS-PRES 3.8.5.4).
    static func doNotDisturb(_ inputs: [StateInput]) -> StateDocument {
        let isSet = inputs.contains { input in
            (input.state.type == .userState || input.state.type == .presentingState)
                && input.state.availability.map { AvailabilityRange.doNotDisturb.contains($0) } ?? false
        }
        return StateDocument(type: .userState, availability: isSet ? AvailabilityRange.doNotDisturbAvailability : nil, manual: true)
    }

    /// The working hours of a calendar; nil if it has none (MS-PRES 3.8.5.3).
    static func workingHours(_ calendar: CategoryInstance?) -> CalendarDataDocument? {
        guard let body = calendar?.body, let data = try? CalendarDataDocument(parsing: body), let hours = data.workingHours else {
            return nil
        }
        return CalendarDataDocument(mailboxID: data.mailboxID, content: .workingHours(hours))
    }
}
