import EnhancedPresence
import PresenceDocuments
import PresenceMapping
import SIPCore
import SimplePresence
import XMLCore

/// Form in which the state of a user is published at an enterprise home server (`domains.NAME.publish-as`).
package enum PublishForm: String, CaseIterable, Hashable, Sendable {
    /// ``aggregateState`` until the home server is seen to compute states itself, then ``userState``.
    case automatic
    /// One composed aggregateState in each container for watchers. Suitable if the home server computes none for the user, which holds
    /// without an enterprise client: an aggregate needs a machineState (MS-PRES 3.8.5.1.2.1), and only registered endpoints publish one
    /// (3.2.5.4).
    case aggregateState = "aggregate-state"
    /// One composed userState in each of the input containers 2 and 3, from which the home server computes the containers for watchers
    /// (MS-PRES 3.8.5.1.2.7) together with the publications of the user's clients.
    case userState = "user-state"
}

/// Composes the documents of a user into one set of category instances.
extension CategoryRelay {
    /// Composes the sources into the wanted instances.
    func compose(
        _ sources: [String: CategoryBridge.Source], of uri: SIPURI, homeComputesState: Bool, at now: Instant
    ) -> CategoryBridge.Composition {
        var composer = PublicationComposer(entity: uri.description, limits: configuration.limits.composition)
        for (tag, source) in sources.sorted(by: { ($0.value.number, $0.key) < ($1.value.number, $1.key) }) {
            guard let presence = source.presence else { continue }
            composer.restore(
                presence, tag: tag,
                standing: .init(number: source.number, arrived: DateTime(source.arrived), until: DateTime(source.until), ids: [:]))
        }
        guard !composer.isEmpty else { return CategoryBridge.Composition() }
        let document = composer.document
        let asUserState = publishesUserState(uri, homeComputesState: homeComputesState)
        return CategoryBridge.Composition(
            instances: instances(of: document, uri, asUserState: asUserState, at: now),
            nextTimedMoment: PresenceSource.pidf(document).nextTimedMoment(after: now))
    }

    private func publishesUserState(_ uri: SIPURI, homeComputesState: Bool) -> Bool {
        switch publishForm(of: uri) {
        case .automatic: homeComputesState
        case .aggregateState: false
        case .userState: true
        }
    }

    private func publishForm(of uri: SIPURI) -> PublishForm { configuration.domain(uri.domainKey)?.publishAs ?? .automatic }

    /// Converts a document to instances in the containers of the table `container-policy`.
    private func instances(
        of document: PIDFDocument, _ uri: SIPURI, asUserState: Bool, at now: Instant
    ) -> [PublicationID: XMLFragment] {
        let mapper = translator.mapper
        let moment = DateTime(now)
        let presence = translator.canonical(.pidf(document), entity: uri.description, at: moment)
        let categories = mapper.categories(from: presence, at: moment).value.categories
        let numbers = InstanceNumbers(endpoint: publisherEPID, user: uri.aorKey)
        var instances: [PublicationID: XMLFragment] = [:]
        func put(_ body: CategoryBody?, _ name: CategoryName, in container: ContainerID) {
            guard let fragment = body?.fragment else { return }
            instances[PublicationID(category: name, container: container, instance: numbers.instance(of: name))] = fragment
        }
        for policy in mapper.tables.containerPolicies {
            guard let container = ContainerID(policy.container) else { continue }
            for element in categories where policy.publishes.contains(element.name.rawValue) {
                // The home server computes these two from containers 2 and 3 (MS-PRES 3.8.5.1.2.7, 3.8.5.2).
                if asUserState, element.name == .state || element.name == .services { continue }
                put(policy.isReduced ? Self.reduced(element.body) : element.body, element.name, in: container)
            }
        }
        if asUserState, let state = mapper.userState(from: presence).value {
            for container in Self.inputContainers { put(.state(state), .state, in: container) }
        }
        return instances
    }

    /// Input containers of the home server's aggregation (MS-PRES 3.8.5.1.2.7).
    private static let inputContainers = [2, 3].compactMap { ContainerID($0) }

    /// Reduces a state to its availability.
    private static func reduced(_ body: CategoryBody?) -> CategoryBody? {
        guard case .state(let state)? = body else { return body }
        return .state(StateDocument(type: state.type, availability: state.availability))
    }

    /// Whether the containers that the 200 returns as a whole have a state that the home server computed (MS-PRES 3.2.5.1.2,
    /// 3.8.5.1.2.7).
    func hasComputedState(_ answer: CategoriesDocument) -> Bool {
        let containers = Set(
            translator.mapper.tables.containerPolicies.filter { $0.publishes.contains(CategoryName.state.rawValue) }.map(\.container))
        return answer.categories.contains { element in
            guard element.name == .state, let container = element.container, let instance = element.instance, !element.isEmptyMarker
            else { return false }
            // Instance numbers of computed states: 1 with a machine, 0 without one.
            return instance <= 1 && containers.contains(Int(container.rawValue))
        }
    }
}
