import EnhancedPresence
import PresenceDocuments
import Testing

/// The winning capabilities of MS-PRES 3.8.5.2.2.
@Suite struct AggregateServicesTests {
    private static let bob = "sip:bob@contoso.com"

    private static func text(_ render: Bool?, _ capture: Bool?, publish: Bool? = false, version: UInt32? = nil) -> Capability {
        Capability(.text, render: render, capture: capture, publish: publish, version: version)
    }

    private static func services(
        _ devices: [CategoryInstance], _ states: [CategoryInstance], choices: StandardChoices = .standard
    ) -> AggregateServices {
        AggregateServices(devices: devices, states: states, choices: choices)
    }

    /// The endpoint that wins of desk (instance 1) and phone (instance 2).
    private static func winner(
        _ desk: Capability, _ phone: Capability, machines: (UInt32, UInt32) = (3500, 5000), at seconds: (Int64, Int64) = (0, 0),
        choices: StandardChoices = .standard
    ) -> (endpoint: String?, availability: UInt32?) {
        let found = services(
            [
                Aggregating.device(Aggregating.desk, 1, CapabilityList(uri: bob, capabilities: [desk])),
                Aggregating.device(Aggregating.phone, 2, CapabilityList(uri: bob, capabilities: [phone])),
            ],
            [
                Aggregating.machine(machines.0, 1, at: seconds.0), Aggregating.machine(machines.1, 2, at: seconds.1, of: Aggregating.phone),
            ], choices: choices)
        let capability = found.own.services.first?.capabilities?.capabilities.first
        return (capability?.preferredEndpointID, capability?.deviceAvailability)
    }

    private static let desk = Aggregating.desk.lowercased()
    private static let phone = Aggregating.phone.lowercased()

    @Test("MS-PRES 3.8.5.2.2: one service for each address that any device names [R291]")
    func addresses() {
        let found = Self.services(
            [
                Aggregating.device(
                    Aggregating.desk, 1, CapabilityList(uri: Self.bob, capabilities: [Self.text(true, true)]),
                    CapabilityList(uri: "tel:+4930123456", capabilities: [Capability(.voice, render: true, capture: true)])),
                Aggregating.device(Aggregating.phone, 2, CapabilityList(uri: Self.bob, capabilities: [Capability(.voice, render: true)])),
            ], [Aggregating.machine(3500, 1), Aggregating.machine(3500, 2, of: Aggregating.phone)])
        #expect(found.own.services.map(\.uri) == [Self.bob, "tel:+4930123456"])
        #expect(found.own.services.first?.capabilities?.capabilities.map(\.name) == [.text, .voice])
    }

    @Test("MS-PRES 3.8.5.2.2: a device belongs to the machine of its endpoint, whatever the case; one without a machine is skipped [R292]")
    func machines() {
        let device = Aggregating.device(Aggregating.desk, 1, CapabilityList(uri: Self.bob, capabilities: [Self.text(true, true)]))
        #expect(Self.services([device], [Aggregating.machine(3500, of: Aggregating.desk.lowercased())]).own.services.count == 1)
        #expect(Self.services([device], [Aggregating.machine(3500, of: Aggregating.phone)]).own.services.isEmpty)
        #expect(Self.services([device], [Aggregating.machine(3500, type: .user)]).own.services.isEmpty)
    }

    @Test("MS-PRES 3.8.5.2.2: the first candidate stays when none is better [R293]")
    func first() {
        #expect(Self.winner(Self.text(true, false), Self.text(true, true)).endpoint == Self.desk)
        #expect(Self.winner(Self.text(true, true), Self.text(true, true), machines: (3500, 3500)).endpoint == Self.desk)
    }

    @Test(
        "MS-PRES 3.8.5.2.2: of capabilities for the own devices the higher version wins, a missing one is 0 [R294]",
        arguments: [(1, 2, true), (2, 1, false), (nil, 1, true), (1, nil, false)] as [(UInt32?, UInt32?, Bool)])
    func version(desk: UInt32?, phone: UInt32?, phoneWins: Bool) {
        let found = Self.winner(
            Self.text(false, false, publish: true, version: desk), Self.text(false, false, publish: true, version: phone))
        #expect(found.endpoint == (phoneWins ? Self.phone : Self.desk))
    }

    @Test("MS-PRES 4.3.2: of one version the more active machine wins; by choice the first does [R296]")
    func versionTie() {
        let (old, new) = (Self.text(false, false, publish: true, version: 7), Self.text(false, false, publish: true, version: 7))
        #expect(Self.winner(old, new, machines: (5000, 3500)).endpoint == Self.phone)
        #expect(Self.winner(old, new, machines: (3500, 5000)).endpoint == Self.desk)
        var choices = StandardChoices.standard
        choices.moreActiveMachineBreaksVersionTies = false
        #expect(Self.winner(old, new, machines: (5000, 3500), choices: choices).endpoint == Self.desk)
    }

    @Test("MS-PRES 3.8.5.2.2: a capability that can do nothing gives way, at the most active machine too [R295]")
    func useless() {
        for nothing in [Self.text(false, false), Self.text(nil, nil)] {
            #expect(Self.winner(nothing, Self.text(true, false), machines: (3500, 15500)).endpoint == Self.phone)
        }
        for something in [Self.text(true, false), Self.text(false, true)] {
            #expect(Self.winner(something, Self.text(true, true), machines: (3500, 15500)).endpoint == Self.desk)
        }
    }

    @Test("MS-PRES 3.8.5.2.2: else the more active machine wins: lower availability, then published later [R295, R297]")
    func active() {
        let found = Self.winner(Self.text(true, true), Self.text(true, true), machines: (5000, 3500))
        #expect(found.endpoint == Self.phone && found.availability == 3500)
        let first = Self.winner(Self.text(true, true), Self.text(true, true), machines: (3500, 5000))
        #expect(first.endpoint == Self.desk && first.availability == 3500)
        let later = Self.winner(Self.text(true, true), Self.text(true, true), machines: (3500, 3500), at: (0, 60))
        #expect(later.endpoint == Self.phone)
    }

    @Test(
        "MS-PRES 3.8.5.2.2: watchers get render, capture and deviceAvailability; own endpoints also publish, version and the endpoint [R298, R299]"
    )
    func attributes() {
        let found = Self.services(
            [Aggregating.device(Aggregating.desk, 1, CapabilityList(uri: Self.bob, capabilities: [Self.text(true, false, version: 3)]))],
            [Aggregating.machine(3500)])
        #expect(
            found.own.services.first?.capabilities?.capabilities == [
                Capability(
                    .text, render: true, capture: false, publish: false, version: 3, deviceAvailability: 3500,
                    preferredEndpointID: Self.desk)
            ])
        #expect(
            found.shown.services.first?.capabilities?.capabilities == [
                Capability(.text, render: true, capture: false, deviceAvailability: 3500)
            ])
    }

    @Test("MS-PRES 4.3.2: what is for the own devices is not shown, nor an address of which nothing else is left [R298, R300]")
    func hidden() {
        let found = Self.services(
            [
                Aggregating.device(
                    Aggregating.desk, 1,
                    CapabilityList(
                        uri: Self.bob, capabilities: [Self.text(true, true), Capability(.breakthrough, render: false, publish: true)]),
                    CapabilityList(uri: "tel:+4930123456", capabilities: [Capability(.remoteCallControl, publish: true)]))
            ], [Aggregating.machine(3500)])
        #expect(found.own.services.map { $0.capabilities?.capabilities.count } == [2, 1])
        #expect(found.shown.services.map(\.uri) == [Self.bob])
        #expect(found.shown.services.first?.capabilities?.capabilities.map(\.name) == [.text])
    }

    @Test("MS-PRES 2.2.2.7.2: the timezone of a device is ignored on receipt [R303]")
    func timezone() throws {
        let body = try #require(
            DeviceDocument(
                endpointID: Aggregating.desk, capabilities: [CapabilityList(uri: Self.bob, capabilities: [Self.text(true, true)])],
                timezone: "not a time zone"
            ).fragment)
        let device = CategoryInstance(id: Fixture.id(.device, 2), publishTime: Fixture.start, body: body)
        let found = Self.services([device], [Aggregating.machine(3500)])
        #expect(found.own.services.count == 1)
        #expect(!String(decoding: found.own.encoded(), as: UTF8.self).contains("time zone"))
    }
}
