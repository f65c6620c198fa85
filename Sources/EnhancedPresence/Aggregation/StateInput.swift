import PresenceDocuments

/// A published state that could be read, with what its instance says about it (MS-PRES 3.8.5.1.2).
struct StateInput {
    let instance: UInt32
    let publishTime: DateTime
    let expireType: ExpireType
    let endpointID: String?
    let state: StateDocument

    /// Nil for a body that is no state: it is kept and shown, but nothing is computed from it (MS-PRES 2.2.2.7).
    init?(_ instance: CategoryInstance) {
        guard let body = instance.body, let state = try? StateDocument(parsing: body) else { return nil }
        self.instance = instance.id.instance
        publishTime = instance.publishTime
        expireType = instance.expireType
        endpointID = instance.endpointID ?? state.endpointID
        self.state = state
    }

    /// Since when the state holds; an earlier moment is an older state (MS-PRES 3.8.5.1.2.2).
    var since: DateTime { state.startTime ?? publishTime }

    /// Whether it is the machine of a registered endpoint; a machineState of any other lifetime is ignored (MS-PRES 3.8.5.1.2.1).
    var isMachine: Bool { state.type == .machineState && expireType == .endpoint && state.availability != nil }

    /// Whether it takes part in the availability beside the machine; what servers compute does not (MS-PRES 3.8.5.1.2.2).
    var isPooled: Bool {
        switch state.type {
        case .machineState, .aggregateMachineState, .aggregateState: false
        default: true
        }
    }

    /// Whether this machine is more active than another: lower availability, then published later (MS-PRES 3.8.5.1.2.1, 3.8.5.2.2).
    func isMoreActive(than other: StateInput) -> Bool {
        let (mine, others) = (state.availability ?? .max, other.state.availability ?? .max)
        return mine == others ? publishTime > other.publishTime : mine < others
    }

    /// The readable states of a container, by instance number: the order in which they were published must not matter.
    static func all(of instances: [CategoryInstance]) -> [StateInput] {
        instances.sorted { $0.id.instance < $1.id.instance }.compactMap { StateInput($0) }
    }
}

extension [StateInput] {
    /// The most active machine; among equals that of the lowest instance number (MS-PRES 3.8.5.1.2.1).
    var mostActiveMachine: StateInput? {
        reduce(nil) { winner, input in
            guard input.isMachine else { return winner }
            guard let winner else { return input }
            return input.isMoreActive(than: winner) ? input : winner
        }
    }
}
