import PresenceDocuments

/// The aggregate of the states in one input container (MS-PRES 3.8.5.1.2).
///
/// ```
/// machineState (endpoint) --lowest--> machine --+
/// others, not older than the newest manual -----+--highest, idle rule--> availability --bounds--> activity
/// ```
/// Pure: equal instances give an equal aggregate in any order of publication. Nothing is published here.
public struct AggregateState: Hashable, Sendable {
    /// Whether an endpoint has published a machineState.
    public var hasMachine: Bool
    /// The body of the aggregateMachineState; without a machineState it is offline and has no endpoint.
    public var machine: StateDocument
    /// The aggregated availability (MS-PRES 3.8.5.1.2.2).
    public var availability: UInt32
    /// Token or texts of the activity, without bounds; nil if none applies.
    public var activity: StateActivity?
    /// Time of the last activity in whole seconds; nil unless the user is inactive.
    public var lastActive: DateTime?
    /// Subject of the meeting; empty if several calendars name one, nil if none does.
    public var meetingSubject: LocalizedText?
    /// Location of the meeting; empty if several calendars name one, nil if none does.
    public var meetingLocation: LocalizedText?
    /// Location of the machine; nil if absent, or if the user is away or offline, as for the following properties.
    public var endpointLocation: String?
    /// Time zone bias of the machine, as published.
    public var timeZoneBias: Int64?
    /// Name of the machine's time zone.
    public var timeZoneName: String?
    /// Abbreviation of the machine's time zone.
    public var timeZoneAbbreviation: String?
    /// Device type of the machine.
    public var device: DeviceType?

    /// The previous aggregate, on which lastActive depends.
    public struct Previous: Hashable, Sendable {
        /// lastActive of the previous aggregate; nil if it had none.
        public var lastActive: DateTime?
        /// Whether the previous aggregate had a machine.
        public var hadMachine: Bool

        /// Creates the input for the next computation.
        public init(lastActive: DateTime?, hadMachine: Bool) {
            self.lastActive = lastActive
            self.hadMachine = hadMachine
        }
    }

    /// Computes the aggregate.
    /// - Parameters:
    ///   - instances: Every state instance of one input container, computed ones included; unreadable bodies are ignored.
    ///   - now: The time of the computation, which becomes lastActive when the user's last machine is gone.
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

    /// The states other than the machine that are not older than the newest manual one (MS-PRES 3.8.5.1.2.2).
    private static func pool(_ inputs: [StateInput]) -> [StateInput] {
        let pool = inputs.filter(\.isPooled)
        guard let oldest = pool.lazy.filter({ $0.state.manual == true }).map(\.since).max() else { return pool }
        return pool.filter { $0.since >= oldest }
    }

    /// The valid activity with the highest lower bound; the latest of equal ones (MS-PRES 3.8.5.1.2.3).
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

    /// lastActive of an inactive user (MS-PRES 3.8.5.1.2.4; the rule of the figure as the samples show it).
    private static func lastActive(
        _ availability: UInt32, winner: StateInput?, decidedBy decider: StateInput?, previous: Previous?, at now: DateTime,
        choices: StandardChoices
    ) -> DateTime? {
        guard AvailabilityRange.isInactive(availability) else { return nil }
        if choices.lastActiveStaysWhileInactive, let kept = previous?.lastActive { return kept }
        guard let winner else {
            // The user went offline at the first computation without a machine; keep that time.
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

    /// Takes the meeting of the only calendar that names one; several meetings give empty texts (MS-PRES 3.8.5.1.2.5).
    private mutating func setMeeting(from inputs: [StateInput]) {
        let calendars = inputs.filter {
            $0.state.type == .calendarState && ($0.state.meetingSubject != nil || $0.state.meetingLocation != nil)
        }
        guard let first = calendars.first else { return }
        let isOne = calendars.count == 1
        meetingSubject = isOne ? first.state.meetingSubject : LocalizedText("")
        meetingLocation = isOne ? first.state.meetingLocation : LocalizedText("")
    }

    /// Takes location, time zone and device of the machine (MS-PRES 3.8.5.1.2.6).
    private mutating func setPlace(from machine: StateDocument) {
        endpointLocation = machine.endpointLocation.flatMap { $0.isEmpty ? nil : $0 }
        timeZoneBias = machine.timeZoneBias
        timeZoneName = machine.timeZoneName.flatMap { $0.isEmpty ? nil : $0 }
        timeZoneAbbreviation = machine.timeZoneAbbreviation.flatMap { $0.isEmpty ? nil : $0 }
        device = machine.device.flatMap { $0.rawValue.isEmpty ? nil : $0 }
    }
}

extension StateActivity {
    /// Whether the activity has a token or a text (MS-PRES 3.8.5.1.2.3).
    fileprivate var saysSomething: Bool { token?.rawValue.isEmpty == false || custom.contains { !$0.text.isEmpty } }

    fileprivate var lowestAvailability: UInt32 {
        if case .value(let number) = minimumAvailability { number } else { 0 }
    }
}
