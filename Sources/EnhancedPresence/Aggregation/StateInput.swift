import PresenceDocuments

/// A readable published state with the attributes of its instance (MS-PRES 3.8.5.1.2).
struct StateInput {
    let instance: UInt32
    let publishTime: DateTime
    let expireType: ExpireType
    let endpointID: String?
    let state: StateDocument

    /// Parses the body of an instance; nil if it is no state. Such instances are stored and shown, but not aggregated (MS-PRES
    /// 2.2.2.7).
    init?(_ instance: CategoryInstance) {
        guard let body = instance.body, let state = try? StateDocument(parsing: body) else { return nil }
        self.instance = instance.id.instance
        publishTime = instance.publishTime
        expireType = instance.expireType
        endpointID = instance.endpointID ?? state.endpointID
        self.state = state
    }

    /// Start of the state; compared to find the older one (MS-PRES 3.8.5.1.2.2).
    var since: DateTime { state.startTime ?? publishTime }

    /// Whether this is the machineState of a registered endpoint; machineStates of another expireType are ignored (MS-PRES
    /// 3.8.5.1.2.1).
    var isMachine: Bool { state.type == .machineState && expireType == .endpoint && state.availability != nil }

    /// Whether the state contributes to the availability besides the machine; states computed by servers do not (MS-PRES
    /// 3.8.5.1.2.2).
    var isPooled: Bool {
        switch state.type {
        case .machineState, .aggregateMachineState, .aggregateState: false
        default: true
        }
    }

    /// Whether this machine is more active than another: lower availability, or equal and published later (MS-PRES 3.8.5.1.2.1,
    /// 3.8.5.2.2).
    func isMoreActive(than other: StateInput) -> Bool {
        let (mine, others) = (state.availability ?? .max, other.state.availability ?? .max)
        return mine == others ? publishTime > other.publishTime : mine < others
    }

    /// The readable states by instance number, so that the order of publication has no effect.
    static func all(of instances: [CategoryInstance]) -> [StateInput] {
        instances.sorted { $0.id.instance < $1.id.instance }.compactMap { StateInput($0) }
    }
}

extension [StateInput] {
    /// The most active machine; the lowest instance number among equal ones (MS-PRES 3.8.5.1.2.1).
    var mostActiveMachine: StateInput? {
        reduce(nil) { winner, input in
            guard input.isMachine else { return winner }
            guard let winner else { return input }
            return input.isMoreActive(than: winner) ? input : winner
        }
    }
}
