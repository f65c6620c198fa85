import PresenceDocuments

extension EnhancedPresentity {
    /// Recomputes everything that has an input, as if each input had just been published (MS-PRES 3.8.5).
    /// - Returns: The pairs with a changed instance; empty if all computed instances were current.
    public mutating func aggregate(at now: DateTime) -> PresentityChange {
        var change = PresentityChange()
        let inputs = Aggregation.inputs.filter { !store.instances(of: $0).isEmpty }
        guard !inputs.isEmpty else { return change }
        aggregate(after: Set(inputs), committedAt: commitTime(now), into: &change)
        return change
    }

    /// The instances computed by the server, by category, container and instance number.
    public var computedInstances: [CategoryInstance] {
        store.pairs.flatMap { store.instances(of: $0).filter(\.isComputed) }
    }

    /// The instances computed by the server in the form for the user's own endpoints.
    public func computedCategories(at now: DateTime) -> CategoriesDocument {
        CategoriesDocument(uri: uri, categories: computedInstances.map { $0.selfElement(at: now) })
    }

    /// Computes the aggregates of a categories document with container attributes, or of a roamingData document; for tools.
    ///
    /// Computed instances already in the document keep version and publishTime if their content is current.
    /// - Parameters:
    ///   - bodies: `.strict` refuses a document with an unreadable body; otherwise such bodies are ignored, as a server does.
    ///   - now: The time of the computation.
    /// - Throws: `DocumentError` if the document has no categories, or none of them names its container.
    public static func computedCategories(
        of bytes: [UInt8], bodies: CategoryBodyReading = .raw, at now: DateTime, policy: EnhancedPresencePolicy = .standard
    ) throws(DocumentError) -> CategoriesDocument {
        let data = try RoamingDataDocument(parsingPart: bytes, bodies: bodies)
        guard let categories = data.categories else {
            throw DocumentError(code: .missing, message: "MS-PRES 6.7: the document has no categories")
        }
        guard categories.categories.isEmpty || categories.categories.contains(where: { $0.container != nil }) else {
            throw DocumentError(
                code: .missing, message: "MS-PRES 2.2.2.1: no category says its container, as those for the user's own endpoints do")
        }
        var presentity = EnhancedPresentity(uri: categories.uri, categories: categories, containers: data.containers, policy: policy)
        _ = presentity.aggregate(at: now)
        return presentity.computedCategories(at: now)
    }

    /// Recomputes the instances that depend on changed pairs, and adds the pairs changed by that (MS-PRES 3.2.5.6, 3.8.5).
    mutating func aggregate(after pairs: Set<ContainerCategory>, committedAt time: DateTime, into change: inout PresentityChange) {
        guard policy.computesAggregates else { return }
        let changedInputs = pairs.intersection(Aggregation.inputs)
        guard !changedInputs.isEmpty else { return }
        var publisher = ComputedPublisher(time: time)
        if changedInputs.contains(Aggregation.calendar), policy.choices.derivesPrivateCategories {
            publisher.put(
                DerivedCategories.workingHours(store[Aggregation.calendarID]), Aggregation.workingHoursID, .static, in: &store)
        }
        let states = StateInput.all(of: store.instances(of: Aggregation.state))
        if changedInputs.contains(Aggregation.state) { publishAggregate(of: states, in: .aggregation, by: &publisher) }
        if changedInputs.contains(Aggregation.workgroupState) {
            let states = StateInput.all(of: store.instances(of: Aggregation.workgroupState))
            publishAggregate(of: states, in: .workgroupAggregation, by: &publisher)
        }
        if changedInputs.contains(Aggregation.state) || changedInputs.contains(Aggregation.device) {
            publishServices(states, by: &publisher)
        }
        change.pairs.formUnion(publisher.changed)
    }

    private mutating func publishAggregate(of states: [StateInput], in input: ContainerID, by publisher: inout ComputedPublisher) {
        let choices = policy.choices
        let aggregate = AggregateState(of: states, previous: previousAggregate(in: input), at: publisher.time, choices: choices)
        let place = AggregateOutput.place(hasMachine: aggregate.hasMachine)
        if input == .aggregation {
            let id = PublicationID(category: .state, container: input, instance: AggregateOutput.machineInstance)
            let isShown = aggregate.hasMachine || choices.publishesAbsentMachine
            publisher.put(isShown ? aggregate.machine : nil, id, .user, in: &store)
        }
        for output in AggregateOutput.table where output.input == input {
            for category in output.isForWatchers ? [CategoryName.state, .legacyInterop] : [.state] {
                var id = PublicationID(category: category, container: output.container, instance: 1 - place.instance)
                publisher.remove(id, from: &store)
                id.instance = place.instance
                if category == .state {
                    publisher.put(output.state(aggregate, choices: choices), id, place.expireType, in: &store)
                } else {
                    publisher.put(output.legacyInterop(aggregate, choices: choices), id, place.expireType, in: &store)
                }
            }
        }
        guard choices.derivesPrivateCategories else { return }
        let doNotDisturb = DerivedCategories.doNotDisturb(states)
        for container in DerivedCategories.doNotDisturbContainers(of: input) {
            publisher.put(
                doNotDisturb, PublicationID(category: .dndState, container: container, instance: 0), .static, in: &store)
        }
    }

    /// The stored aggregate of an input container; nil if none was computed.
    private func previousAggregate(in input: ContainerID) -> AggregateState.Previous? {
        for instance: UInt32 in [0, 1] {
            guard let old = store[PublicationID(category: .state, container: input, instance: instance)], old.isComputed,
                let input = StateInput(old)
            else { continue }
            return AggregateState.Previous(lastActive: input.state.lastActive, hadMachine: instance == 1)
        }
        return nil
    }

    private mutating func publishServices(_ states: [StateInput], by publisher: inout ComputedPublisher) {
        let services = AggregateServices(devices: store.instances(of: Aggregation.device), inputs: states, choices: policy.choices)
        // Without an active device no services are published.
        let isNothing = services.own.services.isEmpty
        for container in Aggregation.servicesContainers {
            let document = container == .aggregation ? services.own : services.shown
            publisher.put(
                isNothing ? nil : document, PublicationID(category: .services, container: container, instance: 0), .user, in: &store)
        }
    }
}

extension EnhancedPresentity {
    /// Marks computed instances after a presentity was read from its self documents, which do not distinguish them.
    mutating func recogniseComputedInstances() {
        guard policy.computesAggregates else { return }
        func mark(_ id: PublicationID) {
            guard var instance = store[id], !instance.isComputed else { return }
            instance.isComputed = true
            store.put(instance)
        }
        let machine = PublicationID(category: .state, container: .aggregation, instance: AggregateOutput.machineInstance)
        if store[machine].flatMap(StateInput.init)?.state.type == .aggregateMachineState { mark(machine) }
        for output in AggregateOutput.table {
            for instance: UInt32 in [0, 1] {
                let id = PublicationID(category: .state, container: output.container, instance: instance)
                guard store[id].flatMap(StateInput.init)?.state.type == .aggregateState else { continue }
                mark(id)
                if output.isForWatchers {
                    mark(PublicationID(category: .legacyInterop, container: output.container, instance: instance))
                }
            }
        }
        for input in [ContainerID.aggregation, .workgroupAggregation] where previousAggregate(in: input) != nil {
            for container in DerivedCategories.doNotDisturbContainers(of: input) {
                mark(PublicationID(category: .dndState, container: container, instance: 0))
            }
        }
        if previousAggregate(in: .aggregation) != nil {
            for container in Aggregation.servicesContainers {
                mark(PublicationID(category: .services, container: container, instance: 0))
            }
        }
        if store[Aggregation.calendarID] != nil { mark(Aggregation.workingHoursID) }
    }
}

/// The inputs and outputs of the computation (MS-PRES 3.8.5).
enum Aggregation {
    static let state = ContainerCategory(category: .state, container: .aggregation)
    static let workgroupState = ContainerCategory(category: .state, container: .workgroupAggregation)
    static let device = ContainerCategory(category: .device, container: .aggregation)
    static let calendar = ContainerCategory(category: .calendarData, container: .selfOnly)
    static let calendarID = PublicationID(category: .calendarData, container: .selfOnly, instance: 0)
    static let workingHoursID = PublicationID(category: .workingHours, container: .selfOnly, instance: 0)
    static let servicesContainers: [ContainerID] = [.aggregation, .externalContacts, .colleagues, .workgroup, .friendsAndFamily]

    /// Computed instances among the input pairs; a client's publication there would be overwritten by the computation it causes.
    static let reserved: Set<PublicationID> = {
        var ids: Set<PublicationID> = [
            workingHoursID, PublicationID(category: .services, container: .aggregation, instance: 0),
            PublicationID(category: .state, container: .aggregation, instance: AggregateOutput.machineInstance),
        ]
        for container in [ContainerID.aggregation, .workgroupAggregation] {
            ids.insert(PublicationID(category: .dndState, container: container, instance: 0))
            for instance: UInt32 in [0, 1] { ids.insert(PublicationID(category: .state, container: container, instance: instance)) }
        }
        return ids
    }()

    /// Pairs that trigger a computation when changed.
    static let inputs: Set<ContainerCategory> = [state, workgroupState, device, calendar]
}
