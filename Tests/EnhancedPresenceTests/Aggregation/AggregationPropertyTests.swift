import EnhancedPresence
import PresenceDocuments
import Testing
import XMLCore

@Suite struct AggregationPropertyTests {
    private static let types: [StateType] = [.userState, .machineState, .calendarState, .phoneState, .presentingState, .aggregateState]
    private static let tokens: [ActivityToken?] = [.inAMeeting, .onThePhone, .offWork, nil]
    private static let endpoints = [Aggregating.desk, Aggregating.phone, "AAAAAAAA-0000-5000-8000-000000000000"]

    /// Readable inputs of every kind, with few different times, so that there are ties.
    private static func instances(_ numbers: inout SeededNumbers) -> [CategoryInstance] {
        let availabilities: [UInt32] = [0, 3500, 4500, 5000, 6000, 6500, 7499, 9500, 12500, 15500, 18500]
        func time() -> Int64 { Int64.random(in: 0...3, using: &numbers) * 60 }
        func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &numbers) == 0 }
        var made: [CategoryInstance] = []
        for index in 0..<UInt32.random(in: 1...7, using: &numbers) {
            let type = types.randomElement(using: &numbers) ?? .userState
            var state = StateDocument(type: type, availability: availabilities.randomElement(using: &numbers))
            state.activities = (0..<Int.random(in: 0...2, using: &numbers)).map { _ in
                Aggregating.activity(
                    tokens.randomElement(using: &numbers) ?? nil, availabilities.randomElement(using: &numbers),
                    oneIn(2) ? 18500 : nil, custom: oneIn(4) ? "Writing" : nil)
            }
            if oneIn(3) { state.manual = true }
            if oneIn(3) { state.startTime = Fixture.time(time()) }
            if oneIn(3) { state.meetingSubject = LocalizedText("Budget \(index)") }
            if oneIn(3) { state.endpointLocation = "place \(index)" }
            if oneIn(3) { state.device = .computer }
            let isMachine = type == .machineState
            made.append(
                Aggregating.state(
                    state, index + 10, in: oneIn(3) ? 3 : 2, at: time(), type: isMachine && !oneIn(5) ? .endpoint : .static,
                    of: isMachine ? endpoints.randomElement(using: &numbers) : nil))
        }
        for (index, endpoint) in endpoints.enumerated() where !oneIn(3) {
            let capabilities = [CapabilityName.text, .voice, .breakthrough].compactMap { name in
                oneIn(4)
                    ? nil
                    : Capability(
                        name, render: oneIn(2), capture: oneIn(2), publish: name == .breakthrough,
                        version: UInt32.random(in: 0...1, using: &numbers))
            }
            made.append(
                Aggregating.device(
                    endpoint, UInt32(index), CapabilityList(uri: oneIn(2) ? Fixture.bob : "tel:+4930123456", capabilities: capabilities)))
        }
        return made
    }

    @Test("MS-PRES 3.8.5: any order of the same publications gives the same aggregate, in one request or in many")
    func order() throws {
        var numbers = SeededNumbers(seed: 3)
        for _ in 0..<120 {
            let made = Self.instances(&numbers)
            let states = made.filter { $0.id.category == .state && $0.id.container.rawValue == 2 }
            let devices = made.filter { $0.id.category == .device }
            let expected = AggregateState(of: states, at: Fixture.time(600))
            let services = AggregateServices(devices: devices, states: states)
            let restored = Self.restored(made)
            let published = try Self.published(made)
            for _ in 0..<4 {
                #expect(AggregateState(of: states.shuffled(using: &numbers), at: Fixture.time(600)) == expected)
                #expect(
                    AggregateServices(devices: devices.shuffled(using: &numbers), states: states.shuffled(using: &numbers)) == services)
                let shuffled = made.shuffled(using: &numbers)
                #expect(Self.restored(shuffled).computedInstances == restored.computedInstances)
                #expect(try Self.published(shuffled).computedInstances == published.computedInstances)
            }
        }
    }

    /// Read from a self document that gives every publishTime, then computed.
    private static func restored(_ instances: [CategoryInstance]) -> EnhancedPresentity {
        var presentity = EnhancedPresentity(
            uri: Fixture.bob,
            categories: CategoriesDocument(uri: Fixture.bob, categories: instances.map { $0.selfElement(at: Fixture.time(600)) }),
            containers: nil)
        _ = presentity.aggregate(at: Fixture.time(600))
        return presentity
    }

    /// Published in one request, so that all have one publishTime.
    private static func published(_ instances: [CategoryInstance]) throws -> EnhancedPresentity {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        try presentity.publish(instances.map { Aggregating.publication(of: $0) })
        return presentity
    }

    @Test("MS-PRES 3.8.5: computing again changes nothing, whatever was published [R281, R302, R312, R317]")
    func idempotent() throws {
        var numbers = SeededNumbers(seed: 5)
        for _ in 0..<200 {
            var presentity = Self.restored(Self.instances(&numbers))
            let before = presentity.computedInstances
            let again = presentity.aggregate(at: Fixture.time(900))
            #expect(again.isEmpty, "\(again)")
            #expect(presentity.computedInstances == before)
        }
    }

    @Test("MS-PRES 3.8.5.1: whatever is stored as a state, the aggregate is a whole number, and nothing fails")
    func fuzz() throws {
        var numbers = SeededNumbers(seed: 7)
        let values = ["", "0", "3500", "-1", "4294967295", "4294967296", "unbounded", "true", "maybe", "2026-03-02T08:15:30Z", "ä&amp;"]
        let attributes = ["manual", "startTime", "lastActive", "uri", "endpointId", "xsi:type", "minAvailability", "token", "other"]
        let names = [
            "availability", "activity", "custom", "endpointLocation", "meetingSubject", "timeZoneBias", "device", "extension", "odd",
        ]
        let types = ["machineState", "userState", "calendarState", "aggregateState", "aggregateMachineState", "x:y:z", ""]
        func element(_ name: String, _ depth: Int) -> String {
            var text = "<\(name)"
            for attribute in attributes.shuffled(using: &numbers).prefix(Int.random(in: 0...3, using: &numbers)) {
                let value = attribute == "xsi:type" ? types.randomElement(using: &numbers) : values.randomElement(using: &numbers)
                text += " \(attribute)=\"\(value ?? "")\""
            }
            text += ">" + (values.randomElement(using: &numbers) ?? "")
            if depth < 3 {
                for _ in 0..<Int.random(in: 0...3, using: &numbers) {
                    text += element(names.randomElement(using: &numbers) ?? "odd", depth + 1)
                }
            }
            return text + "</\(name)>"
        }
        let lifetimes: [ExpireType] = [.endpoint, .static, .user]
        var readable = 0
        for _ in 0..<1500 {
            let instances = (0..<UInt32.random(in: 1...5, using: &numbers)).map { number in
                let source =
                    "<state xmlns=\"http://schemas.microsoft.com/2006/09/sip/state\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\""
                    + element("state", 0).dropFirst(6)
                let body = try? XMLFragment(parsing: Array(source.utf8))
                if let body, (try? StateDocument(parsing: body)) != nil { readable += 1 }
                return CategoryInstance(
                    id: Fixture.id(.state, Int.random(in: 2...3, using: &numbers), number), publishTime: Fixture.start,
                    expireType: lifetimes.randomElement(using: &numbers) ?? .static, endpointID: values.randomElement(using: &numbers),
                    body: body)
            }
            let presentity = Self.restored(instances)
            for instance in presentity.computedInstances where instance.id.category == .state && instance.publishTime == Fixture.time(600) {
                let body = try #require(instance.body)
                #expect(try StateDocument(parsing: body).availability != nil)
            }
            #expect(!presentity.computedInstances.isEmpty)
        }
        #expect(readable > 300)
    }
}
