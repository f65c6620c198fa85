import PresenceDocuments

/// One row of the table in MS-PRES 3.8.5.1.2.7: which details of the aggregate of an input container go to which container.
struct AggregateOutput {
    struct Details: OptionSet {
        let rawValue: Int
        static let activity = Details(rawValue: 1)
        static let endpointLocation = Details(rawValue: 2)
        static let meeting = Details(rawValue: 4)
        static let lastActive = Details(rawValue: 8)
        static let timeZone = Details(rawValue: 16)
        static let device = Details(rawValue: 32)
        static let all: Details = [.activity, .endpointLocation, .meeting, .lastActive, .timeZone, .device]
    }

    let input: ContainerID
    let container: ContainerID
    let details: Details
    /// Whether the container gets a legacyInterop too.
    let isForWatchers: Bool

    static let table: [AggregateOutput] = [
        AggregateOutput(input: .aggregation, container: .aggregation, details: .all, isForWatchers: false),
        AggregateOutput(input: .aggregation, container: .externalContacts, details: [], isForWatchers: true),
        AggregateOutput(
            input: .aggregation, container: .colleagues, details: [.activity, .lastActive, .device], isForWatchers: true),
        AggregateOutput(
            input: .aggregation, container: .friendsAndFamily,
            details: [.activity, .endpointLocation, .lastActive, .timeZone, .device], isForWatchers: true),
        AggregateOutput(input: .workgroupAggregation, container: .workgroupAggregation, details: .all, isForWatchers: false),
        AggregateOutput(input: .workgroupAggregation, container: .workgroup, details: .all, isForWatchers: true),
    ]

    /// Instance number of the aggregateMachineState (MS-PRES 3.8.5.1.2.7).
    static let machineInstance: UInt32 = 0x1000_0000

    /// Instance number and lifetime: with a machine the aggregate ends with the user's last endpoint, otherwise it is static.
    static func place(hasMachine: Bool) -> (instance: UInt32, expireType: ExpireType) {
        hasMachine ? (1, .user) : (0, .static)
    }

    /// The aggregateState for this container.
    func state(_ aggregate: AggregateState, choices: StandardChoices) -> StateDocument {
        let showsLastActive =
            details.contains(.lastActive) && (container != .colleagues || choices.showsLastActiveToColleagues)
        let hasZone = details.contains(.timeZone)
        return StateDocument(
            type: .aggregateState, availability: aggregate.availability,
            activities: details.contains(.activity) ? aggregate.activity.map { [$0] } ?? [] : [],
            lastActive: showsLastActive ? aggregate.lastActive : nil,
            endpointLocation: details.contains(.endpointLocation) ? aggregate.endpointLocation : nil,
            meetingSubject: details.contains(.meeting) ? aggregate.meetingSubject : nil,
            meetingLocation: details.contains(.meeting) ? aggregate.meetingLocation : nil,
            timeZoneBias: hasZone ? aggregate.timeZoneBias : nil, timeZoneName: hasZone ? aggregate.timeZoneName : nil,
            timeZoneAbbreviation: hasZone ? aggregate.timeZoneAbbreviation : nil,
            device: details.contains(.device) ? aggregate.device : nil)
    }

    /// The legacyInterop for this container, with the same availability and the token of the activity in the aggregateState.
    func legacyInterop(_ aggregate: AggregateState, choices: StandardChoices) -> LegacyInteropDocument {
        let showsToken = choices.writesTokenIntoLegacyInterop && details.contains(.activity)
        return LegacyInteropDocument(availability: aggregate.availability, token: showsToken ? aggregate.activity?.token : nil)
    }
}

extension ContainerID {
    private static func known(_ number: Int) -> ContainerID { ContainerID(number) ?? .default }

    /// Container 2: input of the aggregates in 100, 200 and 400; has no members (MS-PRES 3.8.5).
    public static let aggregation = known(2)
    /// Container 3: input of the aggregate in 300; has no members (MS-PRES 3.8.5).
    public static let workgroupAggregation = known(3)
    /// Container 100: watchers of other organisations (product convention).
    public static let externalContacts = known(100)
    /// Container 200: watchers of the same organisation (product convention).
    public static let colleagues = known(200)
    /// Container 300: the user's own team (product convention).
    public static let workgroup = known(300)
    /// Container 400: friends and family (product convention).
    public static let friendsAndFamily = known(400)
}
