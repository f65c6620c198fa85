import PresenceDocuments
import SIPCore
import Testing
import XMLCore

@testable import PresenceGateway

@Suite struct ResourceListTests {
    private static let related = "multipart/related;type=\"application/rlmi+xml\";start=\"<root@rls.example.com>\";boundary=\"b1\""

    private static func part(_ identifier: String, _ type: String, _ body: String) -> String {
        "Content-Transfer-Encoding: binary\r\nContent-ID: <\(identifier)>\r\nContent-Type: \(type)\r\n\r\n\(body)\r\n"
    }

    private static func list(
        _ version: UInt32, full: Bool, _ resources: String, parts: [String] = [], uri: String = "sip:team@example.com",
        boundary: String = "b1"
    ) -> [UInt8] {
        let rlmi =
            "<list xmlns=\"urn:ietf:params:xml:ns:rlmi\" uri=\"\(uri)\" version=\"\(version)\" fullState=\"\(full)\">\(resources)</list>"
        let all = [part("root@rls.example.com", "application/rlmi+xml;charset=\"UTF-8\"", rlmi)] + parts
        return Array((all.map { "--\(boundary)\r\n\($0)" }.joined() + "--\(boundary)--\r\n").utf8)
    }

    private static func instance(_ uri: String, _ state: String, _ more: String = "", id: String = "1") -> String {
        "<resource uri=\"\(uri)\"><instance id=\"\(id)\" state=\"\(state)\" \(more)/></resource>"
    }

    private func read(
        _ body: [UInt8], limits: ResourceListNotification.Limits = .init()
    ) throws -> ResourceListNotification {
        try ResourceListNotification(
            body, contentType: try #require(MediaType(Self.related)), parser: XMLParser(), limits: limits)
    }

    private func receive(
        _ state: inout ResourceListState, _ version: UInt32, full: Bool, _ resources: String, parts: [String] = []
    ) throws -> ResourceListState.Outcome {
        state.receive(try read(Self.list(version, full: full, resources, parts: parts)))
    }

    private static let kai = "sip:kai@example.com"
    private static let otto = "sip:otto@example.net"

    @Test("RFC 4662 5.5: cid leads to the part, with or without angle brackets; nested lists are read where they stand")
    func nested() throws {
        let inner = String(
            decoding: Self.list(
                0, full: true, Self.instance(Self.otto, "active", "cid=\"o@rls.example.com\""),
                parts: [Self.part("o@rls.example.com", "application/pidf+xml", "<o/>")], uri: "sip:partners@example.com", boundary: "b2"),
            as: UTF8.self)
        let innerType = "multipart/related;type=\"application/rlmi+xml\";start=\"<root@rls.example.com>\";boundary=\"b2\""
        let body = Self.list(
            0, full: true,
            "<name>Team</name>" + Self.instance(Self.kai, "active", "cid=\"&lt;k@rls.example.com&gt;\"")
                + Self.instance("sip:partners@example.com", "active", "cid=\"n@rls.example.com\""),
            parts: [
                Self.part("k@rls.example.com", "application/pidf+xml", "<k/>"), Self.part("n@rls.example.com", innerType, inner),
                Self.part("o@rls.example.com", "application/pidf+xml", "<not-this/>"),
            ])
        let notification = try read(body)
        #expect(notification.meta.names.map(\.text) == ["Team"])
        var state = ResourceListState()
        let outcome = state.receive(notification)
        #expect(outcome.updates.map(\.uri) == [Self.kai, Self.otto] && outcome.isFull && !outcome.needsFullState)
        #expect(outcome.updates.map { String(decoding: $0.document?.body ?? [], as: UTF8.self) } == ["<k/>", "<o/>"])
        #expect(state.resources == [Self.kai, Self.otto])
    }

    @Test("RFC 4662 5.5: states without part, resources without instance, and reasons are told")
    func standings() throws {
        var state = ResourceListState()
        let outcome = try receive(
            &state, 0, full: true,
            Self.instance(Self.otto, "pending") + Self.instance(Self.kai, "terminated", "reason=\"rejected\"")
                + "<resource uri=\"sip:lena@example.org\"/>" + Self.instance("sip:uma@example.org", "active", "cid=\"missing\""))
        #expect(outcome.updates.map(\.instanceState) == [.pending, .terminated(reason: "rejected"), .unknown, .active])
        #expect(outcome.updates.allSatisfy { $0.document == nil })
    }

    @Test("RFC 4662 5.2: partial state is taken over in order, outdated ones not, after a gap the full state is fetched")
    func versions() throws {
        var state = ResourceListState()
        _ = try receive(&state, 4, full: true, Self.instance(Self.kai, "pending") + Self.instance(Self.otto, "pending"))
        let next = try receive(&state, 5, full: false, Self.instance(Self.kai, "active"))
        #expect(next.updates.map(\.instanceState) == [.active] && !next.needsFullState && !next.isFull && next.gone.isEmpty)
        let outdated = ResourceListState.Outcome(isOutdated: true)
        #expect(try receive(&state, 5, full: false, Self.instance(Self.kai, "pending")) == outdated)
        #expect(try receive(&state, 3, full: false, Self.instance(Self.kai, "pending")) == outdated)
        let gap = try receive(&state, 7, full: false, Self.instance(Self.otto, "active"))
        #expect(gap.needsFullState && gap.updates.map(\.uri) == [Self.otto] && state.version == 7)
        let full = try receive(&state, 8, full: true, Self.instance(Self.otto, "active"))
        #expect(full.gone == [Self.kai] && !full.needsFullState && state.resources == [Self.otto])
    }

    @Test("RFC 4662 5.2: a subscription that begins with partial state needs the full one, and versions wrap")
    func firstAndWrap() throws {
        var state = ResourceListState()
        #expect(try receive(&state, 0, full: false, Self.instance(Self.kai, "active")).needsFullState)
        _ = try receive(&state, .max, full: true, "")
        #expect(try !receive(&state, 0, full: false, Self.instance(Self.kai, "active")).needsFullState)
    }

    @Test("RFC 4662 5.5: of several instances one that is active decides, then one that is pending")
    func instances() throws {
        var state = ResourceListState()
        func resource(_ states: [(String, String)]) -> String {
            let all = states.map { "<instance id=\"\($0.0)\" state=\"\($0.1)\" reason=\"noresource\"/>" }.joined()
            return "<resource uri=\"\(Self.kai)\">\(all)</resource>"
        }
        func instanceState(_ version: UInt32, _ states: [(String, String)]) throws -> ResourceListState.InstanceState? {
            try receive(&state, version, full: version == 0, resource(states)).updates.first?.instanceState
        }
        #expect(try instanceState(0, [("a", "pending"), ("b", "active"), ("c", "terminated")]) == .active)
        #expect(try instanceState(1, [("b", "terminated")]) == .pending)
        #expect(try instanceState(2, [("a", "terminated")]) == .terminated(reason: "noresource"))
    }

    @Test("RFC 4662 5.2: versions and full state of an inner list are its own")
    func innerVersions() throws {
        func notification(_ version: UInt32, inner: UInt32, innerFull: Bool, _ resources: String) throws -> ResourceListNotification {
            var list = RLMIDocument(uri: "sip:partners@example.com", version: inner, fullState: innerFull)
            list.resources = try RLMIDocument.decode(
                Array("<list xmlns='urn:ietf:params:xml:ns:rlmi' uri='x' version='0' fullState='true'>\(resources)</list>".utf8)
            ).resources
            var outer = ResourceListNotification(RLMIDocument(uri: "sip:team@example.com", version: version, fullState: version == 0))
            outer.add(
                RLMIResource(uri: "sip:partners@example.com", instances: [RLMIInstance(id: "1", state: .active)]), cid: "n",
                content: .list(ResourceListNotification(list)))
            return outer
        }
        var state = ResourceListState()
        let both = Self.instance(Self.kai, "active") + Self.instance(Self.otto, "active")
        _ = state.receive(try notification(0, inner: 0, innerFull: true, both))
        #expect(state.resources == [Self.kai, Self.otto])
        #expect(state.receive(try notification(1, inner: 2, innerFull: false, Self.instance(Self.kai, "pending"))).needsFullState)
        let full = state.receive(try notification(2, inner: 3, innerFull: true, Self.instance(Self.kai, "active")))
        #expect(full.updates.map(\.uri) == [Self.kai, Self.otto])
        #expect(full.updates.last?.instanceState == .terminated(reason: "noresource") && state.resources == [Self.kai])
    }

    @Test("RFC 4662 5.2: of a list that grows without end no more is kept than its limit, and the full state makes room again")
    func bound() throws {
        var state = ResourceListState()
        func receive(_ version: UInt32, full: Bool = false, _ users: Range<Int>) throws -> ResourceListState.Outcome {
            let resources = users.map { Self.instance("sip:u\($0)@example.com", "active") }.joined()
            return state.receive(try read(Self.list(version, full: full, resources)), limit: 10)
        }
        _ = try receive(0, full: true, 0..<4)
        #expect(try !receive(1, 2..<10).isOverfull)
        let over = try receive(2, 9..<12)
        #expect(over.isOverfull && !over.needsFullState && over.updates.map(\.uri) == ["sip:u9@example.com"] && state.resources.count == 10)
        let full = try receive(3, full: true, 100..<108)
        #expect(!full.isOverfull && full.gone.count == 10 && state.resources.count == 8)
        #expect(try !receive(4, 200..<202).isOverfull && state.resources.count == 10)
    }

    @Test("RFC 4662 5.5: of the instances of one resource no more are kept than a forked subscription has")
    func manyInstances() throws {
        var state = ResourceListState()
        func receive(_ version: UInt32, _ ids: Range<Int>, _ name: String = "pending") throws -> ResourceListState.Outcome {
            let instances = ids.map { "<instance id=\"i\($0)\" state=\"\(name)\"/>" }.joined()
            return state.receive(try read(Self.list(version, full: version == 0, "<resource uri=\"\(Self.kai)\">\(instances)</resource>")))
        }
        #expect(try !receive(0, 0..<60).isOverfull)
        let over = try receive(1, 60..<70)
        #expect(over.isOverfull && !over.needsFullState)
        // Those that end make room.
        #expect(try !receive(2, 0..<10, "terminated").isOverfull)
        #expect(try !receive(3, 70..<80).isOverfull)
    }

    @Test("RFC 4662 5.2: an inner list that a full list no longer has as an instance is gone with its resources, and counts no more")
    func prunedList() throws {
        func notification(_ version: UInt32, _ instance: String, _ users: Range<Int>) -> ResourceListNotification {
            var inner = ResourceListNotification(RLMIDocument(uri: "sip:partners@example.com", version: 0, fullState: true))
            inner.meta.resources = users.map { RLMIResource(uri: "sip:u\($0)@example.com") }
            var outer = ResourceListNotification(RLMIDocument(uri: "sip:team@example.com", version: version, fullState: true))
            outer.add(
                RLMIResource(uri: "sip:partners@example.com", instances: [RLMIInstance(id: instance, state: .active)]), cid: "n",
                content: .list(inner))
            return outer
        }
        var state = ResourceListState()
        for version in UInt32(0)..<6 {
            let outcome = state.receive(notification(version, "i\(version)", Int(version) * 3..<Int(version) * 3 + 3), limit: 8)
            #expect(!outcome.isOverfull && state.resources.count == 3 && outcome.gone.count == (version == 0 ? 0 : 3))
        }
    }

    @Test("RFC 4662 5.2: an inner list that ends several times in one message makes room once")
    func namedAgain() throws {
        var inner = ResourceListNotification(RLMIDocument(uri: "sip:partners@example.com", version: 0, fullState: true))
        inner.meta.resources = (0..<4).map { RLMIResource(uri: "sip:i\($0)@example.com") }
        var outer = ResourceListNotification(RLMIDocument(uri: "sip:team@example.com", version: 0, fullState: true))
        outer.add(
            RLMIResource(uri: "sip:partners@example.com", instances: [RLMIInstance(id: "1", state: .active)]), cid: "n",
            content: .list(inner))
        var state = ResourceListState()
        _ = state.receive(outer, limit: 8)
        let over = Self.instance("sip:partners@example.com", "terminated")
        let users = (0..<20).map { Self.instance("sip:u\($0)@example.com", "active") }.joined()
        _ = state.receive(try read(Self.list(1, full: false, over + over + over + users)), limit: 8)
        #expect(state.resources.count == 8)
    }

    @Test("RFC 4662 5.1: what is written is read again, nested lists too")
    func writing() throws {
        func document(_ text: String) -> ResourceListNotification.Content {
            .document(MIMEPart(contentType: MediaType("application", "pidf+xml"), body: Array(text.utf8)))
        }
        var inner = ResourceListNotification(RLMIDocument(uri: "sip:partners@example.com", version: 0, fullState: true))
        inner.add(
            RLMIResource(uri: Self.otto, instances: [RLMIInstance(id: "1", state: .active)]), cid: "o", content: document("<o/>"))
        var outer = ResourceListNotification(RLMIDocument(uri: "sip:team@example.com", version: 3, fullState: true))
        outer.add(RLMIResource(uri: Self.kai, instances: [RLMIInstance(id: "1", state: .active)]), cid: "k", content: document("<k/>"))
        outer.add(
            RLMIResource(uri: "sip:uma@example.org", instances: [RLMIInstance(id: "1", state: .terminated, reason: "rejected")]), cid: "u")
        outer.add(
            RLMIResource(uri: "sip:partners@example.com", instances: [RLMIInstance(id: "1", state: .active)]), cid: "n",
            content: .list(inner))
        let body = outer.body(boundary: "edge")
        let type = try #require(MediaType(body.contentType))
        #expect(type.parameters["type"] == "application/rlmi+xml" && type.parameters["start"] == "<rlmi.edge>")
        let read = try ResourceListNotification(body.bytes, contentType: type, parser: XMLParser())
        var state = ResourceListState()
        let outcome = state.receive(read)
        #expect(outcome.updates.map(\.uri) == [Self.kai, "sip:uma@example.org", Self.otto])
        #expect(outcome.updates.map(\.instanceState) == [.active, .terminated(reason: "rejected"), .active])
        #expect(read.meta.version == 3 && read.meta.resources.count == 3)
    }

    @Test("a list is the state of the first instance that names it, so that n mentions of n resources are not n times n updates")
    func listNamedTwice() throws {
        let inner = String(
            decoding: Self.list(0, full: true, Self.instance(Self.otto, "pending"), uri: "sip:partners@example.com", boundary: "b2"),
            as: UTF8.self)
        let innerType = "multipart/related;type=\"application/rlmi+xml\";start=\"<root@rls.example.com>\";boundary=\"b2\""
        let mentions = ["one", "two", "one"].map { Self.instance("sip:\($0)@example.com", "active", "cid=\"n@rls.example.com\"") }
        var state = ResourceListState()
        let outcome = try receive(
            &state, 0, full: true, mentions.joined(), parts: [Self.part("n@rls.example.com", innerType, inner)])
        #expect(outcome.updates.map(\.uri).filter { $0 == Self.otto }.count == 1)
        #expect(state.resources.contains(Self.otto))
    }

    @Test("a list that breaks a rule or a bound is refused with 400")
    func refused() throws {
        let plain = Self.list(0, full: true, Self.instance(Self.kai, "pending") + Self.instance(Self.otto, "pending"))
        #expect(throws: Refusal.self) { try read(plain, limits: .init(resources: 1)) }
        #expect(throws: Refusal.self) { try read(plain, limits: .init(depth: 0)) }
        #expect(throws: Refusal.self) { try read(Array(plain.dropLast(8))) }
        #expect(throws: Refusal.self) { try read(Self.list(0, full: true, "<resource/>")) }
        let noRoot = Array("--b1\r\n\(Self.part("x", "application/pidf+xml", "<a/>"))--b1--\r\n".utf8)
        #expect(throws: Refusal.self) { try read(noRoot) }
    }
}
