import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing
import XMLCore

/// F3 with several devices: how the state of one identity stands at its enterprise home (`publish-as`, MS-PRES 3.8.5).
@Suite struct PublishAsTests {
    static let bob = CategoryBridgeTests.bob
    let words = CategoryBridgeTests()

    /// Instances of an enterprise home, which computes states as soon as its input containers hold any (MS-PRES 3.8.5.1.2.7).
    final class Home {
        struct Key: Hashable {
            var category: CategoryName
            var container: ContainerID
            var instance: UInt32
        }

        var instances: [Key: (version: UInt32, body: String)] = [:]
        var computes = false
        private let words = CategoryBridgeTests()

        /// Answers every SERVICE that is there.
        func serve(_ bench: Bench) throws {
            while !bench.isQuiet(at: Bench.enterprise) {
                let service = try bench.nextRequest(.service, at: Bench.enterprise)
                var touched: Set<String> = []
                for publication in try words.publications(service) {
                    touched.insert("\(publication.categoryName) \(publication.container)")
                    let key = Key(category: publication.categoryName, container: publication.container, instance: publication.instance)
                    #expect(publication.version == instances[key]?.version ?? 0)
                    instances[key] =
                        publication.isRemoval
                        ? nil : (publication.version + 1, publication.body.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "")
                }
                var elements: [CategoryElement] = []
                for (id, kept) in instances where touched.contains("\(id.category) \(id.container)") {
                    elements.append(
                        CategoryElement(
                            name: id.category, instance: id.instance, publishTime: DateTime(nanosecondsSince1970: 0),
                            container: id.container, version: kept.version, expireType: .time, expires: 3_600))
                }
                if computes, touched.contains("state 200") {
                    elements.append(
                        CategoryElement(
                            name: .state, instance: 1, publishTime: DateTime(nanosecondsSince1970: 0), container: ContainerID(200),
                            version: 4,
                            expireType: .user))
                }
                let answer = RoamingDataDocument(categories: CategoriesDocument(uri: "sip:\(bob)", categories: elements))
                bench.answer(
                    service, 200, from: Bench.enterprise, headers: [(.contentType, "application/vnd-microsoft-roaming-self+xml")],
                    body: String(decoding: answer.encoded(), as: UTF8.self))
            }
        }

        /// `CONTAINER: NUMBER` of every state.
        var states: [String] {
            let found = instances.filter { $0.key.category == .state }
            let sorted = found.sorted { $0.key.container.rawValue < $1.key.container.rawValue }
            return sorted.map { (key: Key, kept: (version: UInt32, body: String)) -> String in
                let parts = kept.body.split(separator: "<availability>")
                let number = parts.count > 1 ? String(parts[1].prefix { $0 != "<" }) : ""
                return "\(key.container): " + number
            }
        }

        var types: Set<String> {
            var types: Set<String> = []
            for (key, kept) in instances where key.category == .state {
                if kept.body.contains("xsi:type=\"userState\"") { types.insert("userState") }
                if kept.body.contains("xsi:type=\"aggregateState\"") { types.insert("aggregateState") }
            }
            return types
        }
    }

    func bench(_ form: PublishForm?, store: (any GatewayStore)? = nil) -> Bench {
        CategoryBridgeTests.bench(store: store) { if let form { $0.domains["contoso.com"]?.publishAs = form } }
    }

    /// One device publishes, and gets its 200.
    @discardableResult
    func publish(_ bench: Bench, _ home: Home, activity: String?, basic: String = "open", ifMatch: String? = nil, expires: Int = 600) throws
        -> String
    {
        words.words.publish(
            bench, Self.bob, body: Bench.pidf(Self.bob, basic: basic, activity: activity), ifMatch: ifMatch, expires: expires)
        try home.serve(bench)
        return try words.tag(bench)
    }

    func remove(_ bench: Bench, _ home: Home, _ tag: String) throws {
        words.words.publish(bench, Self.bob, body: "", ifMatch: tag, expires: 0)
        try home.serve(bench)
        _ = try bench.nextResponse(200, at: CategoryBridgeTests.client)
    }

    @Test("MS-PRES 3.8.5 two devices of one identity: one state stands in each container; one signs off, and the other's state remains")
    func aggregateState() throws {
        for form in [nil, PublishForm.aggregateState] {
            let bench = bench(form)
            let home = Home()
            let desk = try publish(bench, home, activity: "busy")
            #expect(home.states == ["100: 6500", "200: 6500", "300: 6500", "400: 6500"])
            let phone = try publish(bench, home, activity: nil)
            #expect(home.states == ["100: 6500", "200: 6500", "300: 6500", "400: 6500"])
            try remove(bench, home, desk)
            #expect(home.states == ["100: 3500", "200: 3500", "300: 3500", "400: 3500"] && home.types == ["aggregateState"])
            try remove(bench, home, phone)
            #expect(home.instances.isEmpty && bench.gateway.counts.publicationBridges == 0)
        }
    }

    @Test("MS-PRES 3.8.5.1.2.2 user-state: one userState in each input container; a closed device says nothing of the user")
    func userState() throws {
        let bench = bench(.userState)
        let home = Home()
        let desk = try publish(bench, home, activity: "busy")
        let phone = try publish(bench, home, activity: "on-the-phone")
        #expect(home.states == ["2: 6500", "3: 6500"] && home.types == ["userState"])
        // Two numbers for one range: the activity holds for the class of its number only (MS-PRES 3.8.5.1.2.3).
        let bodies = home.instances.values.map(\.body)
        #expect(bodies.contains { $0.contains("on-the-phone") && $0.contains("minAvailability=\"") })
        #expect(!home.instances.keys.contains { $0.category == CategoryName.services })
        try remove(bench, home, phone)
        #expect(home.states == ["2: 6500", "3: 6500"])
        try publish(bench, home, activity: nil, basic: "closed", ifMatch: desk)
        #expect(home.states.isEmpty)
    }

    @Test("RFC 3903 6.4 the state of a device that lapses goes, in both forms", arguments: [PublishForm.aggregateState, .userState])
    func expiry(form: PublishForm) throws {
        let bench = bench(form)
        let home = Home()
        try publish(bench, home, activity: "busy", expires: 600)
        try publish(bench, home, activity: nil, expires: 3_000)
        let containers = home.states.count
        bench.pass(.seconds(601))
        try home.serve(bench)
        #expect(home.states.count == containers && home.states.allSatisfy { $0.hasSuffix(": 3500") })
        bench.pass(.seconds(2_400))
        try home.serve(bench)
        #expect(home.instances.isEmpty)
    }

    @Test("MS-PRES 3.8.5.1.2.7 a home that shows a computed state gets the input containers instead, over a restart too")
    func automatic() throws {
        let bench = bench(nil, store: MemoryStore())
        let home = Home()
        home.computes = true
        let one = try publish(bench, home, activity: "busy")
        #expect(home.states == ["2: 6500", "3: 6500"] && home.types == ["userState"])
        try bench.restart(after: .seconds(30))
        bench.pass(.seconds(10))
        try home.serve(bench)
        let two = try publish(bench, home, activity: "meeting", ifMatch: one)
        #expect(home.states == ["2: 6500", "3: 6500"])
        try remove(bench, home, two)
        #expect(home.instances.isEmpty)
    }

    @Test("aggregate-state stays where the operator says so, although the home computes")
    func fixed() throws {
        let bench = bench(.aggregateState)
        let home = Home()
        home.computes = true
        try publish(bench, home, activity: "busy")
        #expect(home.states == ["100: 6500", "200: 6500", "300: 6500", "400: 6500"])
    }

    @Test("RFC 4480 3.1 an activity with until ends at the home without a word of the device")
    func timed() throws {
        let bench = bench(nil)
        let home = Home()
        let until = DateTime(nanosecondsSince1970: (bench.now + .seconds(300)).nanosecondsSince1970).text
        let body = Bench.pidf(Self.bob, activity: "meeting").replacingOccurrences(
            of: "<rpid:activities>", with: "<rpid:activities until=\"\(until)\">")
        words.words.publish(bench, Self.bob, body: body, expires: 3_000)
        try home.serve(bench)
        _ = try words.tag(bench)
        #expect(home.states.allSatisfy { $0.hasSuffix(": 6500") })
        bench.pass(.seconds(301))
        try home.serve(bench)
        #expect(home.states.count == 4 && home.states.allSatisfy { $0.hasSuffix(": 3500") })
    }
}
