import FederationRouting
import SIPCore
import SIPEvents
import Testing

@testable import PresenceGateway

/// An event package of a test: one number per user, which every watcher may see.
private final class CounterPackage: EventPackage {
    let token = "x-counter"
    let mediaTypes = ["text/plain"]
    /// The numbers, by the user's key.
    var numbers: [String: Int] = [:]

    func open(
        _ request: SIPRequest, to: SIPURI, over flow: Flow, by screening: RequestScreening, at now: Instant
    ) throws(Refusal) -> OpenedSubscription {
        let parties = try screening.parties(request)
        try checkAccept(request)
        return OpenedSubscription(parties: parties, subscription: CounterSubscription(self, parties.presentityKey))
    }

    func restore(
        _ stored: StoredDialog, of watcher: SIPURI, in domain: DomainConfiguration
    ) -> OpenedSubscription? {
        let user = SIPURI(stored.details["user"] ?? "") ?? watcher
        return OpenedSubscription(
            parties: RequestScreening.Parties(
                watcher: watcher, watcherKey: watcher.aorKey, watcherDomain: domain, presentity: user, presentityKey: user.aorKey,
                presentityDomain: domain, entity: user, maxForwards: 69),
            subscription: CounterSubscription(self, user.aorKey))
    }

    /// Changes the number of a user, and notifies the watchers.
    func set(_ number: Int, of user: String, in gateway: Gateway, at now: Instant) {
        numbers[user] = number
        for dialog in gateway.flows.subscriptions.dialogs.about(user) where dialog.package === self {
            gateway.flows.subscriptions.stateChanged(of: dialog, at: now)
        }
    }
}

private final class CounterSubscription: PackageSubscription {
    private let package: CounterPackage
    let presentity: String
    let contentType = "text/plain"
    let isOnlyOfEndpoint = false

    init(_ package: CounterPackage, _ presentity: String) {
        self.package = package
        self.presentity = presentity
    }

    func body(
        of dialog: WatcherDialog, naming named: [String]?, isFull: Bool, at now: Instant
    ) -> NotificationBody? {
        NotificationBody(contentType: contentType, bytes: Array("\(package.numbers[presentity] ?? 0)".utf8))
    }

    func store(in stored: inout StoredDialog) { stored.details["user"] = presentity }
}

/// An event package that is one class and one line of registration.
@Suite struct EventPackageTests {
    private let store = MemoryStore()
    private let counter: CounterPackage
    private let bench: Bench

    init() {
        let counter = CounterPackage()
        self.counter = counter
        counter.numbers["sip:carol@example.com"] = 1
        bench = Bench(store: store)
        bench.prepare { $0.flows.subscriptions.register(counter) }
    }

    private static let event = "Event: x-counter;id=7"

    /// A watcher of another domain subscribes to the package.
    private func subscribe() throws -> (accepted: SIPResponse, first: SIPRequest) {
        let text = bench.subscribe("dan@example.org", to: "carol@example.com", accept: "text/plain", via: Bench.simple)
        bench.send(text.replacingOccurrences(of: "Event: presence", with: Self.event), from: Bench.simple)
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        let first = try bench.nextRequest(.notify, at: Bench.simple)
        bench.answer(first, 200, from: Bench.simple)
        return (accepted, first)
    }

    private func set(_ number: Int) {
        counter.set(number, of: "sip:carol@example.com", in: bench.gateway, at: bench.now)
        bench.sort()
    }

    @Test("RFC 6665 5.4 a watcher of a new package is notified of its state and of a change")
    func notified() throws {
        let (_, first) = try subscribe()
        #expect(first.text == "1" && first.headers.contentType?.essence == "text/plain")
        #expect(first.headers.event?.description == "x-counter;id=7")
        set(2)
        let second = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(second.text == "2" && second.headers.cSeq?.number == (first.headers.cSeq?.number ?? 0) + 1)
    }

    @Test("a dialog of a new package survives a restart: the record names the package")
    func restarted() throws {
        let (_, first) = try subscribe()
        let kinds = store.records.values.compactMap { if case .dialog(let stored) = $0 { stored.kind.rawValue } else { nil } }
        #expect(kinds == ["x-counter"])
        bench.settle()
        #expect(try bench.restart().dialogs == 1)
        set(3)
        let next = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(next.text == "3" && next.headers.callID == first.headers.callID)
    }

    @Test("a stored dialog of a package that is not registered any more is left out, with a warning")
    func unknown() throws {
        _ = try subscribe()
        let gateway = Gateway(configuration: Bench.configuration(), key: .seeded(99), store: store)
        let restored = try gateway.restore(at: bench.now)
        #expect(restored.dialogs == 0 && restored.unreadable == 1)
        #expect(gateway.takeLogs().contains { $0.level == .warning && "\($0.message)" == "a stored record is left out" })
        #expect(gateway.subscriptions(at: bench.now).rows.isEmpty)
    }

    @Test("RFC 6665 4.2.1, 8.2.2 a new package is in Allow-Events of OPTIONS, of 489 and of REGISTER")
    func announced() throws {
        bench.send(
            "OPTIONS sip:edge1.example.net SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bKo1\r\nMax-Forwards: 70\r\n"
                + "From: <sip:dan@example.org>;tag=o\r\nTo: <sip:edge1.example.net>\r\nCall-ID: o1\r\nCSeq: 1 OPTIONS\r\n"
                + "Content-Length: 0\r\n\r\n", from: Bench.simple)
        #expect(try bench.nextResponse(200, at: Bench.simple).headers.list(.allowEvents).contains("x-counter"))
        let text = bench.subscribe("dan@example.org", to: "carol@example.com", via: Bench.simple)
        bench.send(text.replacingOccurrences(of: "Event: presence", with: "Event: dialog"), from: Bench.simple)
        let refused = try bench.nextResponse(489, at: Bench.simple)
        #expect(refused.headers.list(.allowEvents) == bench.gateway.flows.subscriptions.packages.tokens)
        let rob = SignedInEndpoint(bench, "rob@fabrikam.com", connection: 1)
        rob.register()
        #expect(
            try rob.response(200).headers.first(.allowEvents) == bench.gateway.flows.subscriptions.packages.tokens.joined(separator: ","))
    }

    @Test("a subscription to a new package is in the list of subscriptions, and is explained")
    func inspected() throws {
        _ = try subscribe()
        let row = try #require(bench.gateway.subscriptions(at: bench.now).rows.first)
        #expect(row.watcher == "sip:dan@example.org" && row.presentity == "sip:carol@example.com" && row.event == "x-counter;id=7")
        #expect(row.format == "text/plain" && row.state == .active && row.source == .own && row.notification?.answer == 200)
        let explained = bench.gateway.explain(
            watcher: try #require(SIPURI("sip:dan@example.org")), presentity: try #require(SIPURI("sip:carol@example.com")),
            at: bench.now)
        #expect(explained.subscriptions.map(\.subscription) == [row])
        #expect(explained.subscriptions.map(\.delivery) == [.current] && explained.subscriptions.map(\.view.origin) == [.own])
    }

    @Test("RFC 6665 4.1.2.3 an unsubscribe ends a dialog of a new package, and its record")
    func unsubscribed() throws {
        let (accepted, first) = try subscribe()
        let text = bench.inDialog(accepted, cSeq: 2, expires: 0, via: Bench.simple)
        bench.send(text.replacingOccurrences(of: "Event: presence", with: Self.event), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let last = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(last.headers.subscriptionState?.state == .terminated && last.headers.callID == first.headers.callID)
        bench.answer(last, 200, from: Bench.simple)
        #expect(bench.gateway.flows.subscriptions.dialogs.isEmpty && store.records.isEmpty)
    }
}
