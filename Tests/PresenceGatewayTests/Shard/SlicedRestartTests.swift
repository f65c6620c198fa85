import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import Testing

@testable import PresenceGateway

@Suite("A restart in slices of partitions")
struct SlicedRestartTests {
    let words = HostedPresentityTests()
    static let client = HostedPresentityTests.client

    /// A store with publications, watchers of hosted presentities, and upstream subscriptions that lapse in another order than that of
    /// their partitions.
    private func filled(_ users: Int = 12) throws -> (store: MemoryStore, now: Instant) {
        let store = MemoryStore()
        let bench = Bench(store: store)
        for number in 0..<users {
            words.publish(
                bench, "alice\(number)@example.com", body: Bench.pidf("alice\(number)@example.com", activity: "busy"),
                expires: 600 + number)
            words.service(bench, "rob\(number)@fabrikam.com", words.state(6_500))
            for presentity in ["alice\(number)@example.com", "rob\(number)@fabrikam.com"] {
                bench.send(bench.subscribe("ann@example.org", to: presentity, via: Bench.simple), from: Bench.simple)
            }
            try answerNotifications(bench)
            try bench.watch("ulla\(number)@contoso.com")
            bench.answer(
                try bench.nextRequest(.subscribe, at: Bench.enterprise), 200, from: Bench.enterprise,
                headers: [(.expires, "\(1_000 + (number * 7) % users)")])
            try answerNotifications(bench)
        }
        bench.pass(.seconds(1))
        return (store, bench.now)
    }

    private func answerNotifications(_ bench: Bench) throws {
        while !bench.isQuiet(at: Bench.simple) {
            if case .request(let request) = try bench.next(at: Bench.simple) { bench.answer(request, 200, from: Bench.simple) }
        }
    }

    private func gateway(_ store: MemoryStore, limit: Int? = nil, defersCommits: Bool = false) -> Gateway {
        var configuration = Bench.configuration()
        if let limit { configuration.limits.pendingOutput = limit }
        return Gateway(configuration: configuration, key: .seeded(7), store: store, defersCommits: defersCommits)
    }

    private func copy(_ store: MemoryStore) throws -> MemoryStore {
        let copy = MemoryStore()
        try copy.commit(store.records.values.map(StoreChange.put))
        return copy
    }

    /// First lines and users of all messages in the next 100 s, in order.
    private func output(_ gateway: Gateway, from start: Instant) throws -> [String] {
        var lines: [String] = []
        var now = start
        while true {
            for message in gateway.takeOutput() {
                guard case .request(let request) = try SIPParser.parse(message.bytes).get() else { continue }
                lines.append("\(request.method) \(request.headers.to?.uri.aorKey ?? "") \(request.headers.from?.uri.aorKey ?? "")")
            }
            guard let next = gateway.nextDeadline, next < start + .seconds(100) else { return lines }
            now = max(now, next)
            gateway.advance(to: now)
        }
    }

    private func subscribe(_ presentity: String, _ number: Int) -> InboundMessage {
        message(Bench().subscribe("ann@example.org", to: presentity, via: Bench.simple, callID: "restart\(number)"), number)
    }

    private func message(_ text: String, _ number: Int) -> InboundMessage {
        InboundMessage(
            bytes: Array(text.replacingOccurrences(of: "branch=z9hG4bK", with: "branch=z9hG4bKs\(number)").utf8), local: Bench.local,
            remote: Bench.simple)
    }

    private func options(_ number: Int) -> InboundMessage {
        message(
            "OPTIONS sip:192.0.2.1 SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bKo\(number)\r\nMax-Forwards: 70\r\n"
                + "From: <sip:probe@example.org>;tag=o\(number)\r\nTo: <sip:192.0.2.1>\r\nCall-ID: o\(number)\r\nCSeq: 1 OPTIONS\r\n"
                + "Content-Length: 0\r\n\r\n", number)
    }

    private func statuses(_ output: [OutboundMessage]) throws -> [Int] {
        try output.compactMap {
            guard case .response(let response) = try SIPParser.parse($0.bytes).get() else { return nil }
            return response.status.rawValue
        }
    }

    /// Continues a restart to its end.
    /// - Parameter between: called before each step.
    @discardableResult
    private func finish(
        _ gateway: Gateway, _ store: MemoryStore, at now: Instant, between: (RestartStep) throws -> Void = { _ in }
    ) throws -> RestoredState {
        var step = gateway.continueRestart(at: now)
        while true {
            try between(step)
            switch step {
            case .read(let kinds, let slice): step = gateway.continueRestart(with: try store.load(kinds, of: slice), at: now)
            case .yield: step = gateway.continueRestart(at: now)
            case .done(let state): return state
            }
        }
    }

    @Test("any size of slices gives the tables, messages and order of refreshes of a restart as a whole", arguments: [7, 64, 1_000])
    func sizes(_ size: Int) throws {
        let (store, now) = try filled()
        let later = now + .seconds(2)
        let (one, other) = (try copy(store), try copy(store))
        let (whole, sliced) = (gateway(one), gateway(other))
        let state = try whole.restore(at: later)
        sliced.beginRestart(slice: size, at: later)
        #expect(try finish(sliced, other, at: later) == state)
        #expect(state.dialogs == 36 && state.upstreamSubscriptions == 12 && state.publications >= 24)
        #expect(sliced.tableSizes == whole.tableSizes)
        let lines = try output(whole, from: later)
        #expect(lines.filter { $0.hasPrefix("SUBSCRIBE") }.count >= 12)
        #expect(try output(sliced, from: later) == lines)
        #expect(Set(other.records.keys) == Set(one.records.keys))
        for key in one.records.keys { #expect(sliced.flows.record(of: key)?.key == whole.flows.record(of: key)?.key) }
    }

    @Test("records of one kind and slice are read at a time, each once")
    func reads() throws {
        let (store, now) = try filled()
        let gateway = gateway(store)
        gateway.beginRestart(slice: 512, at: now)
        var read: [StoreKey: Int] = [:]
        var slices = 0
        try finish(gateway, store, at: now) {
            guard case .read(let kinds, let slice) = $0 else { return }
            slices += 1
            for record in try store.load(kinds, of: slice) { read[record.key, default: 0] += 1 }
        }
        #expect(slices == 6 * 8)
        #expect(Set(read.keys) == Set(store.records.keys))
        #expect(read.values.allSatisfy { $0 == 1 })
    }

    @Test("OPTIONS is answered during a restart; SUBSCRIBE waits for its end, and nothing is committed or timed before")
    func meanwhile() throws {
        let (store, now) = try filled()
        let gateway = gateway(store, defersCommits: true)
        gateway.beginRestart(slice: 1_024, at: now)
        var number = 0
        try finish(gateway, store, at: now) { step in
            if case .done = step { return }
            number += 1
            gateway.receive(options(number), at: now)
            gateway.receive(subscribe("alice\(number)@example.com", number), at: now)
            let found = try statuses(gateway.takeOutput())
            #expect(found == [200])
            #expect(gateway.takeStoreRequests().isEmpty)
            #expect(gateway.nextDeadline == nil)
        }
        #expect(number >= 24)
        var answered = try statuses(gateway.takeOutput())
        for _ in 0..<4 {
            for case .commit(let commit, _, let changes) in gateway.takeStoreRequests() {
                try store.commit(changes)
                gateway.receive(.committed(number: commit), at: now)
            }
            answered += try statuses(gateway.takeOutput())
        }
        #expect(answered == Array(repeating: 200, count: number))
        #expect(gateway.counts.watcherDialogs == 36 + number)
    }

    @Test("more messages than the limit of waiting ones are refused with 503 and Retry-After during a restart (RFC 3261 21.5.4)")
    func limit() throws {
        let (store, now) = try filled(2)
        let gateway = gateway(store, limit: 20)
        gateway.beginRestart(at: now)
        var refusals: [SIPResponse] = []
        for number in 1...22 {
            gateway.receive(subscribe("alice0@example.com", number), at: now)
            for message in gateway.takeOutput() {
                if case .response(let response) = try SIPParser.parse(message.bytes).get() { refusals.append(response) }
            }
        }
        #expect(refusals.map(\.status.rawValue) == [503, 503])
        #expect(refusals.allSatisfy { $0.headers.first(.retryAfter) != nil })
        #expect(gateway.counters.limitsReached == 2)
        try finish(gateway, store, at: now)
        let answers = try statuses(gateway.takeOutput())
        #expect(answers.count == 20)
        #expect(answers.contains(200))
    }

    @Test("a connection that closed during a restart is closed for the requests that came over it before", arguments: [true, false])
    func closedConnection(_ closes: Bool) throws {
        let (store, now) = try filled(2)
        let gateway = gateway(store)
        gateway.beginRestart(at: now)
        let source = TransportAddress(.tcp, "192.0.2.30", 40_000)
        let text = Bench().categorySubscribe(
            "rob1@fabrikam.com", to: "rob0@fabrikam.com", extra: "Supported: ms-benotify\r\nProxy-Require: ms-benotify\r\n", via: source)
        let connection = ConnectionID(rawValue: 5)
        gateway.receive(
            InboundMessage(bytes: Array(text.utf8), local: Bench.localTCP, remote: source, connection: connection), at: now)
        if closes { gateway.receive(.closed(connection, .byPeer), at: now) }
        try finish(gateway, store, at: now)
        _ = gateway.takeOutput()
        #expect(gateway.tableSizes["dialogsOfConnection"] == (closes ? 0 : 1))
    }

    @Test("values of other shards wait for the end of a restart")
    func envelopes() throws {
        let (store, now) = try filled(2)
        let gateway = Gateway(configuration: Bench.configuration(), shard: 0, shards: 2, key: .seeded(7), store: store)
        var router = ShardRouter(shards: 2)
        try store.prepare(for: &router, at: now)
        gateway.beginRestart(at: now)
        let uri = try #require(SIPURI("sip:alice0@example.com"))
        let watch = Watch(
            id: WatchID(shard: 1, number: 1), presentity: uri, key: uri.aorKey, entity: uri, categories: [.state], format: .categories,
            watcher: WatcherIdentity(uri: "sip:w@fabrikam.com", network: .sameEnterprise),
            hidesIdentity: false, subscriber: nil, isRequest: true, isPoll: false)
        gateway.receive(ShardEnvelope(from: 1, to: 0, sequence: 1, WatchMessage.watch(watch)), at: now)
        _ = gateway.takeOutput()
        #expect(gateway.takeEnvelopes().isEmpty)
        #expect(gateway.tableSizes["remoteWatchers"] == 0)
        try finish(gateway, store, at: now)
        _ = gateway.takeOutput()
        #expect(gateway.takeEnvelopes().map(\.target) == [1])
    }

    @Test("a restart of many dialogs yields the event loop while it restores and notifies")
    func yields() throws {
        let (store, now) = try filled(3)
        guard case .dialog(let sample)? = store.records.values.first(where: { $0.key.kind == "dialog" }) else {
            Issue.record("no dialog")
            return
        }
        let dialogs = (0..<1_200).map { number in
            var one = sample
            one.dialog.localTag = "p000\(number)"
            one.dialog.callID = "many\(number)"
            return StoreChange.put(.dialog(one))
        }
        try store.commit(dialogs)
        let gateway = gateway(store)
        gateway.beginRestart(slice: 4_096, at: now)
        var yields = 0
        let state = try finish(gateway, store, at: now) { if case .yield = $0 { yields += 1 } }
        #expect(state.dialogs == 1_209)
        #expect(yields >= 4)
    }

    @Test("a restart whose store cannot be read leaves the gateway without a restart in progress")
    func unreadable() throws {
        let (store, now) = try filled(1)
        let gateway = gateway(store)
        store.loadFailure = StoreFailure("gone")
        #expect(throws: StoreFailure.self) { try gateway.restore(at: now) }
        #expect(gateway.restart == nil)
    }

    @Test("dialogs are read with the partition that the present configuration assigns them to, and the router finds them")
    func assignment() throws {
        let (store, now) = try filled(6)
        // A domain whose watchers are at home here now: their dialogs go by the watcher.
        var configuration = Bench.configuration()
        configuration.domains["example.org"] = DomainConfiguration(side: .enterprise, hosted: true, network: .sameEnterprise)
        var router = ShardRouter(shards: 1, for: configuration)
        try store.prepare(for: &router, at: now)
        let home = PartitionSlice.partition(ofUser: "sip:ann@example.org")
        let dialogs: Set<StoreKind> = [.presenceDialog, .upstreamSubscription]
        #expect(try store.load(dialogs, of: PartitionSlice(home...home, of: 0, among: 1)).count == 24)
        var before = ShardRouter(shards: 1, for: Bench.configuration())
        try store.prepare(for: &before, at: now)
        #expect(try store.load(dialogs, of: PartitionSlice(home...home, of: 0, among: 1)).count < 24)
    }

    @Test("slices have each partition of a shard once", arguments: [(1, 64), (3, 128), (7, 1), (2, 4_096), (5, 1_000)])
    func slices(_ shards: Int, _ size: Int) {
        var found: [Int: Int] = [:]
        for shard in 0..<shards {
            for slice in PartitionSlice.slices(of: shard, among: shards, size: size) {
                let own = slice.numbers.filter { slice.contains($0) }
                #expect(own.count <= size)
                for partition in own {
                    #expect(partition % shards == shard)
                    found[partition, default: 0] += 1
                }
            }
        }
        #expect(found.count == Partition.count)
        #expect(found.values.allSatisfy { $0 == 1 })
    }
}
