import PresenceDocuments

/// The combined capabilities of a user's devices per address (MS-PRES 3.8.5.2).
///
/// Pure, as ``AggregateState``: devices are processed by instance number, so that the order of publication has no effect.
public struct AggregateServices: Hashable, Sendable {
    /// Services for the user's own endpoints: every winning capability with its endpoint.
    public var own: ServicesDocument
    /// Services for watchers: without capabilities marked `publish`, which are for the user's own devices.
    public var shown: ServicesDocument

    /// Combines the capabilities of all devices.
    /// - Parameters:
    ///   - devices: The device instances of container 2; unreadable bodies are ignored.
    ///   - states: The state instances of container 2; a device without a machineState there is ignored.
    public init(devices: [CategoryInstance], states: [CategoryInstance], choices: StandardChoices = .standard) {
        self.init(devices: devices, inputs: StateInput.all(of: states), choices: choices)
    }

    init(devices: [CategoryInstance], inputs: [StateInput], choices: StandardChoices) {
        var machines: [EndpointKey: StateInput] = [:]
        for input in inputs where input.isMachine {
            guard let key = input.endpointID.map({ EndpointKey($0) }) else { continue }
            if let other = machines[key], !input.isMoreActive(than: other) { continue }
            machines[key] = input
        }
        var services = WinningCapabilities(choices: choices)
        for instance in devices.sorted(by: { $0.id.instance < $1.id.instance }) {
            guard let body = instance.body, let device = try? DeviceDocument(parsing: body),
                let machine = machines[EndpointKey(device.endpointID)]
            else { continue }
            for list in device.capabilities {
                for capability in list.capabilities { services.consider(capability, at: list.uri ?? capability.uri, on: machine) }
            }
        }
        own = services.document { $0.own }
        shown = services.document { $0.shown }
    }
}

/// The best capability of each kind at each address, in order of appearance (MS-PRES 3.8.5.2.2).
private struct WinningCapabilities {
    struct Winner {
        var capability: Capability
        var machine: StateInput

        /// The capability with the data that own endpoints need to choose a device.
        var own: Capability {
            Capability(
                capability.name, render: capability.render, capture: capability.capture, publish: capability.publish,
                version: capability.version, deviceAvailability: machine.state.availability,
                preferredEndpointID: machine.endpointID?.lowercased())
        }

        /// The capability for watchers; nil if it is for the user's own devices only.
        var shown: Capability? {
            guard capability.publish != true else { return nil }
            return Capability(
                capability.name, render: capability.render, capture: capability.capture, deviceAvailability: machine.state.availability)
        }
    }

    let choices: StandardChoices
    private var addresses: [String] = []
    private var winners: [String: (order: [CapabilityName], byName: [CapabilityName: Winner])] = [:]

    init(choices: StandardChoices) { self.choices = choices }

    mutating func consider(_ capability: Capability, at address: String?, on machine: StateInput) {
        guard let address, !address.isEmpty else { return }
        if winners[address] == nil {
            addresses.append(address)
            winners[address] = ([], [:])
        }
        guard let winner = winners[address]?.byName[capability.name] else {
            winners[address]?.order.append(capability.name)
            winners[address]?.byName[capability.name] = Winner(capability: capability, machine: machine)
            return
        }
        if wins(capability, machine, over: winner) {
            winners[address]?.byName[capability.name] = Winner(capability: capability, machine: machine)
        }
    }

    private func wins(_ capability: Capability, _ machine: StateInput, over winner: Winner) -> Bool {
        let isMoreActive = machine.isMoreActive(than: winner.machine)
        guard capability.publish == true else {
            return (winner.capability.render != true && winner.capability.capture != true) || isMoreActive
        }
        let (version, other) = (capability.version ?? 0, winner.capability.version ?? 0)
        return version > other || (version == other && isMoreActive && choices.moreActiveMachineBreaksVersionTies)
    }

    /// The services with the selected part of each winner; addresses without capabilities are left out.
    func document(_ part: (Winner) -> Capability?) -> ServicesDocument {
        ServicesDocument(
            services: addresses.compactMap { address in
                guard let held = winners[address] else { return nil }
                let capabilities = held.order.compactMap { held.byName[$0].flatMap(part) }
                return capabilities.isEmpty ? nil : ServiceElement(uri: address, capabilities: CapabilityList(capabilities: capabilities))
            })
    }
}
