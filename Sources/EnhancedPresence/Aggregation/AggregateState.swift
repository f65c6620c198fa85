import PresenceDocuments

/// What the states of one container say together about the user (MS-PRES 3.8.5.1.2).
///
/// ```
/// machineState (endpoint) --lowest--> machine --+
/// others, not older than the newest manual -----+--highest, idle rule--> availability --bounds--> activity
/// ```
/// Pure: equal instances give an equal aggregate in whatever order they were published. Nothing is published here.
public struct AggregateState: Hashable, Sendable {
    /// Whether an endpoint has published its machine.
    public var hasMachine: Bool
    /// The machine to be published as aggregateMachineState; without one it is offline and belongs to no endpoint.
    public var machine: StateDocument
    public var availability: UInt32
    /// Token or texts, without bounds.
    public var activity: StateActivity?
    /// Whole seconds; only of inactive users.
    public var lastActive: DateTime?
    public var meetingSubject: LocalizedText?
    public var meetingLocation: LocalizedText?
    public var endpointLocation: String?
    public var timeZoneBias: Int64?
    public var timeZoneName: String?
    public var timeZoneAbbreviation: String?
    public var device: DeviceType?

    /// The aggregate that stands so far: lastActive depends on it.
    public struct Previous: Hashable, Sendable {
        public var lastActive: DateTime?
        public var hadMachine: Bool

        public init(lastActive: DateTime?, hadMachine: Bool) {
            self.lastActive = lastActive
            self.hadMachine = hadMachine
        }
    }

    /// Computes the aggregate.
    /// - Parameters:
    ///   - instances: Every state instance of one input container, computed ones included; unreadable bodies are ignored.
    ///   - now: The time of the computation: since when a user without a machine is taken to be away.
    public init(
        of instances: [CategoryInstance], previous: Previous? = nil, at now: DateTime, choices: StandardChoices = .standard
    ) {
        self.init(of: StateInput.all(of: instances), previous: previous, at: now, choices: choices)
    }

    init(of inputs: [StateInput], previous: Previous?, at now: DateTime, choices: StandardChoices) {
        let winner = inputs.mostActiveMachine
        hasMachine = winner != nil
        machine = StateDocument(
            type: .aggregateMachineState, availability: winner?.state.availability ?? choices.offlineAvailability,
            activities: winner?.state.activities ?? [], endpointID: winner?.endpointID?.lowercased())
        let pool = Self.pool(inputs)
        let highest = pool.lazy.compactMap(\.state.availability).max() ?? 0
        let number = max(highest, machine.availability ?? 0)
        let isIdle = AvailabilityRange.idle.contains(machine.availability ?? 0)
        availability = isIdle && AvailabilityRange.busy.contains(number) ? number + AvailabilityRange.idleSurcharge : number
        activity = Self.activity(at: availability, of: pool + (winner.map { [$0] } ?? []))
        lastActive = Self.lastActive(
            availability, winner: winner, decidedBy: pool.first { $0.state.availability == number }, previous: previous, at: now,
            choices: choices)
        setMeeting(from: inputs)
        if let winner, !AvailabilityRange.absent.contains(availability) { setPlace(from: winner.state) }
    }

    /// The states beside the machine that are not older than the newest one set by hand (MS-PRES 3.8.5.1.2.2).
    private static func pool(_ inputs: [StateInput]) -> [StateInput] {
        let pool = inputs.filter(\.isPooled)
        guard let oldest = pool.lazy.filter({ $0.state.manual == true }).map(\.since).max() else { return pool }
        return pool.filter { $0.since >= oldest }
    }

    /// The activity of the highest lower bound among those that hold, the latest of equals (MS-PRES 3.8.5.1.2.3).
    private static func activity(at availability: UInt32, of inputs: [StateInput]) -> StateActivity? {
        var best: (activity: StateActivity, minimum: UInt32, since: DateTime)?
        for input in inputs.sorted(by: { $0.instance < $1.instance }) {
            for activity in input.state.activities where activity.saysSomething && activity.isValid(at: availability) {
                let minimum = activity.lowestAvailability
                if let best, (minimum, input.since) <= (best.minimum, best.since) { continue }
                best = (activity, minimum, input.since)
            }
        }
        return best.map { StateActivity(token: $0.activity.token, custom: $0.activity.custom) }
    }

    /// When an inactive user was last active (MS-PRES 3.8.5.1.2.4; the figure's rule as its samples show it).
    private static func lastActive(
        _ availability: UInt32, winner: StateInput?, decidedBy decider: StateInput?, previous: Previous?, at now: DateTime,
        choices: StandardChoices
    ) -> DateTime? {
        guard AvailabilityRange.isInactive(availability) else { return nil }
        if choices.lastActiveStaysWhileInactive, let kept = previous?.lastActive { return kept }
        guard let winner else {
            // Still without a machine: he went at the first computation that found none.
            if let previous, !previous.hadMachine, let kept = previous.lastActive { return kept }
            return now.truncatedToSeconds
        }
        if choices.lastActiveFollowsManualState, !AvailabilityRange.isInactive(winner.state.availability ?? 0), let decider,
            decider.state.manual == true
        {
            return decider.since.truncatedToSeconds
        }
        return winner.publishTime.truncatedToSeconds
    }

    /// The meeting of the only calendar that names one; of several meetings none can be told (MS-PRES 3.8.5.1.2.5).
    private mutating func setMeeting(from inputs: [StateInput]) {
        let calendars = inputs.filter {
            $0.state.type == .calendarState && ($0.state.meetingSubject != nil || $0.state.meetingLocation != nil)
        }
        guard let first = calendars.first else { return }
        let isOne = calendars.count == 1
        meetingSubject = isOne ? first.state.meetingSubject : LocalizedText("")
        meetingLocation = isOne ? first.state.meetingLocation : LocalizedText("")
    }

    /// Where and what the machine is (MS-PRES 3.8.5.1.2.6).
    private mutating func setPlace(from machine: StateDocument) {
        endpointLocation = machine.endpointLocation.flatMap { $0.isEmpty ? nil : $0 }
        timeZoneBias = machine.timeZoneBias
        timeZoneName = machine.timeZoneName.flatMap { $0.isEmpty ? nil : $0 }
        timeZoneAbbreviation = machine.timeZoneAbbreviation.flatMap { $0.isEmpty ? nil : $0 }
        device = machine.device.flatMap { $0.rawValue.isEmpty ? nil : $0 }
    }
}

extension StateActivity {
    /// Whether there is a token or a text (MS-PRES 3.8.5.1.2.3).
    fileprivate var saysSomething: Bool { token?.rawValue.isEmpty == false || custom.contains { !$0.text.isEmpty } }

    fileprivate var lowestAvailability: UInt32 {
        if case .value(let number) = minimumAvailability { number } else { 0 }
    }
}
