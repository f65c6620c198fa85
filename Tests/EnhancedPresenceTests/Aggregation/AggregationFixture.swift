import EnhancedPresence
import PresenceDocuments
import XMLCore

/// The states and devices of the aggregation tests.
enum Aggregating {
    static let desk = "6B29FC40-CA47-1067-B31D-00DD010662DA"
    static let phone = "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0"
    /// 2026-03-02T08:15:30.117Z
    static let start = Fixture.start

    static func state(
        _ document: StateDocument, _ instance: UInt32, in container: Int = 2, at seconds: Int64 = 0, type: ExpireType = .static,
        of endpoint: String? = nil
    ) -> CategoryInstance {
        CategoryInstance(
            id: Fixture.id(.state, container, instance), publishTime: Fixture.time(seconds), expireType: type, endpointID: endpoint,
            body: document.fragment)
    }

    /// A machineState bound to an endpoint.
    static func machine(
        _ availability: UInt32, _ instance: UInt32 = 0x3000_0001, in container: Int = 2, at seconds: Int64 = 0, of endpoint: String = desk,
        type: ExpireType = .endpoint, change: (inout StateDocument) -> Void = { _ in }
    ) -> CategoryInstance {
        var document = StateDocument(type: .machineState, availability: availability)
        change(&document)
        return state(document, instance, in: container, at: seconds, type: type, of: endpoint)
    }

    static func user(
        _ availability: UInt32, _ instance: UInt32 = 0x2000_0000, at seconds: Int64 = 0, startTime: DateTime? = nil,
        activities: [StateActivity] = [], type: StateType = .userState, manual: Bool? = true
    ) -> CategoryInstance {
        state(
            StateDocument(type: type, availability: availability, activities: activities, manual: manual, startTime: startTime), instance,
            at: seconds)
    }

    static func activity(_ token: ActivityToken?, _ low: UInt32? = nil, _ high: UInt32? = nil, custom: String? = nil) -> StateActivity {
        StateActivity(
            token: token, minimumAvailability: low.map { .value($0) }, maximumAvailability: high.map { .value($0) },
            custom: custom.map { [LocalizedText($0, lcid: 1033)] } ?? [])
    }

    static func aggregate(_ instances: CategoryInstance..., choices: StandardChoices = .standard) -> AggregateState {
        AggregateState(of: instances, at: Fixture.time(100), choices: choices)
    }

    // MARK: publications

    static func publication(
        _ document: (some MSRTCDocument)?, _ category: CategoryName, _ container: Int, _ instance: UInt32, version: UInt32 = 0,
        type: ExpireType = .static, expires: UInt32? = nil
    ) -> CategoryPublication {
        CategoryPublication(
            categoryName: category, instance: instance, container: Fixture.container(container), version: version, expireType: type,
            expires: expires, body: document?.fragment)
    }

    static func publication(of instance: CategoryInstance, version: UInt32 = 0) -> CategoryPublication {
        CategoryPublication(
            categoryName: instance.id.category, instance: instance.id.instance, container: instance.id.container, version: version,
            expireType: instance.expireType, body: instance.body)
    }

    static func endpoint(_ id: String = desk) -> PublishingEndpoint {
        PublishingEndpoint(from: Fixture.bob, to: Fixture.bob, endpointID: id, isRegistered: true)
    }

    static func device(_ endpoint: String, _ instance: UInt32 = 412_819_398, _ lists: CapabilityList...) -> CategoryInstance {
        CategoryInstance(
            id: Fixture.id(.device, 2, instance), publishTime: start, expireType: .endpoint, endpointID: endpoint,
            body: DeviceDocument(endpointID: endpoint, capabilities: lists).fragment)
    }
}

extension EnhancedPresentity {
    /// The computed state of a container, read.
    func aggregateState(_ container: Int) throws -> StateDocument? {
        for instance: UInt32 in [0, 1] {
            guard let held = self[Fixture.id(.state, container, instance)], held.isComputed, let body = held.body else { continue }
            return try StateDocument(parsing: body)
        }
        return nil
    }

    func legacyInterop(_ container: Int) throws -> LegacyInteropDocument? {
        for instance: UInt32 in [0, 1] {
            guard let body = self[Fixture.id(.legacyInterop, container, instance)]?.body else { continue }
            return try LegacyInteropDocument(parsing: body)
        }
        return nil
    }

    func services(_ container: Int) throws -> ServicesDocument? {
        try self[Fixture.id(.services, container)]?.body.map { try ServicesDocument(parsing: $0) }
    }

    func doNotDisturb(_ container: Int) throws -> StateDocument? {
        try self[Fixture.id(.dndState, container)]?.body.map { try StateDocument(parsing: $0) }
    }

    @discardableResult
    mutating func publish(
        _ publications: [CategoryPublication], of endpoint: String = Aggregating.desk, at seconds: Int64 = 0
    ) throws -> PresentityChange {
        try publish(
            CategoryPublishDocument(uri: Fixture.bob, publications: publications), by: Aggregating.endpoint(endpoint),
            at: Fixture.time(seconds))
    }
}

/// Numbers that are the same in every run (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
