import EnhancedPresence
import PresenceDocuments
import Testing

@Suite struct DelegateSetTests {
    private static func change(
        _ presentity: inout EnhancedPresentity, version: UInt32, _ change: DelegateChange, from: String = Fixture.bob
    ) -> EnhancedPresenceRefusal? {
        do throws(EnhancedPresenceRefusal) {
            let change = try presentity.setDelegates(
                SetDelegatesDocument(version: version, change: change), by: PublishingEndpoint(from: from, to: Fixture.bob),
                isUser: { $0.domain == "contoso.com" && $0.text != "gone@contoso.com" })
            #expect(change.delegatesChanged && !change.isEmpty)
            return nil
        } catch {
            return error
        }
    }

    private static let dan = "sip:dan@contoso.com"

    /// Dan is the only delegate, in version 1.
    private static func withDan() -> EnhancedPresentity {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        #expect(change(&presentity, version: 0, DelegateChange(uri: dan, action: .add, mayPublish: true)) == nil)
        return presentity
    }

    @Test("MS-PRES 3.9.5.1 the first change names version 0, allow is true and an absent child is false [R330, R334, R337, R338]")
    func add() {
        let presentity = Self.withDan()
        #expect(
            presentity.delegates.document
                == DelegatesDocument(version: 1, delegates: [DelegateElement(uri: "dan@contoso.com", publish: true, redelegate: false)]))
    }

    @Test("MS-PRES 3.9.5.1 add of one who is there and modify of one who is not both write the entry [R334]")
    func overwrite() {
        var presentity = Self.withDan()
        #expect(Self.change(&presentity, version: 1, DelegateChange(uri: Self.dan, action: .add, mayRedelegate: true)) == nil)
        #expect(Self.change(&presentity, version: 2, DelegateChange(uri: "carol@contoso.com", action: .modify, mayPublish: true)) == nil)
        #expect(presentity.delegates.entries.map(\.mayPublish) == [false, true])
        #expect(presentity.delegates.entries.map(\.mayRedelegate) == [true, false])
        #expect(presentity.delegates.version == 3)
    }

    @Test("MS-PRES 3.9.5.3 the last delegate removed leaves an empty element with its version [R337]")
    func remove() {
        var presentity = Self.withDan()
        #expect(Self.change(&presentity, version: 1, DelegateChange(uri: Self.dan, action: .remove)) == nil)
        #expect(presentity.delegates.document == DelegatesDocument(version: 2))
        #expect(
            String(decoding: presentity.delegates.document.encoded(), as: UTF8.self)
                == #"<delegates xmlns="http://schemas.microsoft.com/2007/09/sip/delegates" version="2"/>"#)
    }

    @Test("MS-PRES 3.9.5.4 another version is 409 with diagnostic 2141 and both versions, and nothing changes [R332]")
    func stale() {
        var presentity = Self.withDan()
        let before = presentity
        let refusal = Self.change(&presentity, version: 0, DelegateChange(uri: "sip:carol@contoso.com", action: .add))
        #expect(refusal?.status == 409)
        #expect(refusal?.diagnostic == Diagnostic(id: 2141, reason: "Delegate version is out of date"))
        #expect(refusal?.fault == FaultDocument(operations: [FaultOperation(index: 1, version: 0, currentVersion: 1)]))
        #expect(presentity == before)
    }

    @Test(
        "MS-PRES 3.9.5.4 the delegator as delegate is 400, an unknown user 404, removal of a non-delegate 403, From and To that differ 403 [R331, R333, R335]",
        arguments: [
            ("sip:bob@CONTOSO.com", DelegateChange.Action.add, Fixture.bob, 400), ("dan@fabrikam.com", .add, Fixture.bob, 404),
            ("gone@contoso.com", .modify, Fixture.bob, 404), ("nobody", .add, Fixture.bob, 404),
            ("carol@contoso.com", .remove, Fixture.bob, 403), ("gone@contoso.com", .remove, Fixture.bob, 404),
            ("carol@contoso.com", .add, "sip:eve@contoso.com", 403),
        ])
    func errors(_ uri: String, _ action: DelegateChange.Action, _ from: String, _ status: Int) {
        var presentity = Self.withDan()
        let before = presentity
        #expect(Self.change(&presentity, version: 1, DelegateChange(uri: uri, action: action), from: from)?.status == status)
        #expect(presentity == before)
    }

    @Test("MS-PRES 3.9.5.4 the message about a user as own delegate says what is not possible")
    func ownDelegate() {
        var presentity = Self.withDan()
        let refusal = Self.change(&presentity, version: 1, DelegateChange(uri: "sip:bob@contoso.com", action: .add))
        #expect(refusal?.message == "users cannot be their own delegates (MS-PRES 3.9.5.4)")
    }

    @Test("MS-PRES 3.9.5.4 one delegate too many is 413, but those who are there may change [R336]")
    func limit() {
        var presentity = Self.withDan()
        var policy = presentity.policy
        policy.roaming.delegateLimit = 1
        presentity.use(policy)
        let before = presentity
        #expect(Self.change(&presentity, version: 1, DelegateChange(uri: "carol@contoso.com", action: .add))?.status == 413)
        #expect(presentity == before)
        #expect(Self.change(&presentity, version: 1, DelegateChange(uri: Self.dan, action: .modify)) == nil)
    }

    @Test("MS-PRES 2.2.2.3.3 a change of delegates is a delegates part only, in full [R133, R134]")
    func notification() throws {
        var presentity = Self.withDan()
        let change = try presentity.setDelegates(
            SetDelegatesDocument(version: 1, change: DelegateChange(uri: "carol@contoso.com", action: .add)), by: Fixture.laptop,
            isUser: { _ in true })
        let data = presentity.roamingData(after: change, scope: [.categories, .subscribers, .delegates], at: Fixture.start)
        #expect(data == RoamingDataDocument(delegates: presentity.delegates.document))
        #expect(data.delegates?.delegates.count == 2)
    }

    @Test("a set read from its stored document is the same again, with its version")
    func restored() throws {
        var presentity = Self.withDan()
        #expect(Self.change(&presentity, version: 1, DelegateChange(uri: "carol@contoso.com", action: .add, mayRedelegate: true)) == nil)
        let data = try RoamingDataDocument(parsing: presentity.storedDocument.encoded())
        let restored = EnhancedPresentity(
            uri: Fixture.bob, categories: data.categories, containers: data.containers, subscribers: data.subscribers,
            delegates: data.delegates)
        #expect(restored.delegates == presentity.delegates)
    }

    @Test("MS-PRES 4.4.2 the parts stand in the order categories, containers, subscribers, delegates; others are absent [R124]")
    func order() throws {
        var presentity = Self.withDan()
        _ = try presentity.publish(Fixture.request(Fixture.publication(.note, 200)), by: Fixture.laptop, at: Fixture.start)
        let all = presentity.roamingData(scope: [.delegates, .subscribers, .containers, .categories], at: Fixture.start).encoded()
        let text = String(decoding: all, as: UTF8.self)
        let places = try ["<categories", "<containers", "<subscribers", "<delegates"].map {
            try #require(text.firstRange(of: $0)).lowerBound
        }
        #expect(places == places.sorted())
        let some = presentity.roamingData(scope: [.delegates, .containers], at: Fixture.start)
        #expect(some.categories == nil && some.subscribers == nil && some.containers != nil && some.delegates != nil)
    }
}
