import PresenceGateway
import SIPCore
import Testing

/// A blocked watcher must not find out that it is blocked, nor that anything happens (MS-PRES 1.3.1.3.4, 4.4.2).
@Suite struct PoliteBlockingTests {
    static let span = 200_000

    /// What is known of the presentity when the watchers come.
    enum Past {
        /// It never did anything.
        case nothing
        /// Plausible values in container 32000, and some watchers in there (MS-PRES 4.4.2).
        case blocking
        /// The same, and then a life of its own.
        case life(SplitMix)
    }

    struct Outcome {
        var inContainer: [[String]]
        var inNone: [[String]]
        var seenByFriend: Int
    }

    /// Plays one history with the same watchers.
    static func play(_ seed: UInt64, _ past: Past) -> Outcome {
        let rig = BlockedRig {
            // Moments must say nothing where notifications are spaced, either.
            $0.timing.notifySpacing = seed.isMultiple(of: 2) ? .zero : .seconds(5)
            $0.domains["cloud.example.net"] = DomainConfiguration(side: .enterprise, route: Bench.enterprise, network: .publicCloud)
            $0.domains["simple.cloud.example.net"] = DomainConfiguration(side: .simple, route: Bench.simple, network: .publicCloud)
        }
        let user = LivingUser(rig)
        switch past {
        case .nothing: break
        case .blocking: user.blocks()
        case .life(let random):
            user.blocks()
            user.lives(random, milliseconds: span)
        }
        // Watchers draw from numbers of their own, so that each is the same whoever else is there.
        func watcher(_ user: String, _ number: Int, isStream: Bool = false) -> RecordingWatcher {
            var random = SplitMix(state: seed &* 64 &+ UInt64(number))
            let isSimple = user.hasSuffix("example.org") || user.hasSuffix("simple.cloud.example.net")
            let form = isSimple ? random.pick([.pidf, .xpidf]) : random.pick(RecordingWatcher.Form.allCases)
            let watcher = RecordingWatcher(user, form, number: number, isStream: isStream, seed: random.next(), rig: rig)
            watcher.plan(milliseconds: span)
            return watcher
        }
        var inContainer: [RecordingWatcher] = []
        var inNone: [RecordingWatcher] = []
        var friends: [RecordingWatcher] = []
        if case .nothing = past {
        } else {
            inContainer = [
                watcher("ulla@contoso.com", 1), watcher("dan@example.org", 2), watcher("otto@fabrikam.com", 3, isStream: true),
            ]
        }
        if case .blocking = past {
        } else {
            inNone = [watcher("zoe@cloud.example.net", 4, isStream: true), watcher("max@simple.cloud.example.net", 5)]
        }
        if case .life = past { friends = [watcher("friend@contoso.com", 6)] }
        rig.run(milliseconds: span + 70_000)
        return Outcome(
            inContainer: inContainer.map(\.transcript), inNone: inNone.map(\.transcript),
            seenByFriend: friends.reduce(0) { $0 + $1.notifications })
    }

    @Test(
        "MS-PRES 1.3.1.3.4 over random lives whoever is blocked gets, octet for octet and to the millisecond, what silence gives [R081, R089, R093]",
        arguments: 0..<22)
    func blockedWatchersLearnNothing(group: Int) {
        var seenByFriends = 0
        for history in 0..<10 {
            let seed = UInt64(1_000 * group + history)
            let alive = Self.play(seed, .life(SplitMix(state: seed &* 31 &+ 7)))
            let blocking = Self.play(seed, .blocking)
            let nothing = Self.play(seed, .nothing)
            Self.compare(alive.inContainer, blocking.inContainer, "container 32000, seed \(seed)")
            Self.compare(alive.inNone, nothing.inNone, "no container, seed \(seed)")
            #expect(!alive.inContainer.joined().isEmpty && !alive.inNone.joined().isEmpty)
            seenByFriends += alive.seenByFriend
        }
        // The lives were worth hiding.
        #expect(seenByFriends > 40)
    }

    private static func compare(_ left: [[String]], _ right: [[String]], _ place: String) {
        for (one, other) in zip(left, right) where one != other {
            let index = zip(one, other).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? min(one.count, other.count)
            func line(_ list: [String]) -> String { index < list.count ? list[index] : "nothing" }
            Issue.record("\(place), message \(index):\n\(line(one))\n--- instead of ---\n\(line(other))")
            return
        }
    }
}

/// A hosted user who blocks some watchers and then does all that a user can do.
final class LivingUser {
    static let name = RecordingWatcher.presentity
    private unowned let rig: BlockedRig
    private let address = TransportAddress(.tcp, "192.0.2.30", 5060)
    private var connection: UInt64 = 1_000
    private var serial = 0
    /// Versions by key, and what each request that is not answered was about.
    private var versions: [String: Int] = [:]
    private var asked: [String: (key: String, isRemoval: Bool)] = [:]
    private var entityTag: String?

    init(_ rig: BlockedRig) {
        self.rig = rig
        rig.join(address) { [self] in receive($0) }
    }

    /// Who is in 32000 sees somebody who is simply not there (MS-PRES 4.4.2).
    func blocks() {
        for number in ["ulla@contoso.com", "dan@example.org", "otto@fabrikam.com"].indices {
            let user = ["ulla@contoso.com", "dan@example.org", "otto@fabrikam.com"][number]
            rig.at(0) { [self] in setMembers(32_000, "user:\(user)") }
        }
        let plausible: [Bench.Publication] = [
            .state(18_500, in: 32_000),
            .init(name: "note", body: "<note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\"/>", container: 32_000),
            .init(name: "services", body: "<services xmlns=\"http://schemas.microsoft.com/2006/09/sip/service\"/>", container: 32_000),
            .init(
                name: "calendarData", body: "<calendarData xmlns=\"http://schemas.microsoft.com/2006/09/sip/calendarData\"/>",
                container: 32_000),
            .legacyInterop(18_500, in: 32_000),
            .init(
                name: "contactCard",
                body: "<contactCard xmlns=\"http://schemas.microsoft.com/2006/09/sip/contactcard\"><identity><name><displayName>Rob"
                    + "</displayName></name></identity></contactCard>", container: 32_000),
        ]
        for publication in plausible { rig.at(0) { [self] in publish(publication) } }
    }

    /// Moments end in 0, so that they never meet those of watchers.
    func lives(_ random: SplitMix, milliseconds: Int) {
        var random = random
        rig.at(10) { [self] in setMembers(400, "user:friend@contoso.com") }
        var moment = 20
        while moment < milliseconds {
            let chance = random
            rig.at(moment) { [self] in act(chance) }
            _ = random.next()
            _ = random.next()
            moment += random.number(1...1_400) * 10
        }
    }

    private func act(_ chance: SplitMix) {
        var random = chance
        let containers = [2, 3, 100, 200, 300, 400]
        switch random.number(0...19) {
        case 0...6:
            let container = random.pick(containers)
            var publication: Bench.Publication
            switch random.number(0...4) {
            case 0, 1:
                publication = .state(random.pick([3_500, 5_000, 6_500, 9_500, 15_500, 18_500]), in: container)
                // Into 2 and 3 go inputs, of which the server computes what the others see (MS-PRES 3.8.5).
                if container < 100 {
                    let type = random.pick(["userState", "machineState", "calendarState"])
                    publication.body = publication.body.replacingOccurrences(of: "aggregateState", with: type)
                }
            case 2: publication = .note("note \(random.number(1...9))", in: container)
            case 3: publication = .legacyInterop(random.pick([3_500, 6_500, 9_500, 18_500]), in: container)
            default:
                publication = .init(
                    name: "services", body: "<services xmlns=\"http://schemas.microsoft.com/2006/09/sip/service\"/>", container: container)
            }
            publication.instance = random.number(7...9)
            publication.expireType = random.pick(["static", "static", "user", "endpoint", "time"])
            if publication.expireType == "time" { publication.expires = random.number(1...60) }
            publish(publication)
        case 7, 8:
            let container = random.pick(containers)
            var removal = Bench.Publication(name: random.pick(["state", "note", "services"]), body: "", container: container)
            removal.instance = random.number(7...9)
            removal.expires = 0
            publish(removal)
        case 9:
            // Refused: nobody learns of it either.
            send("SERVICE", "application/msrtc-category-publish+xml", "<publish/>")
        case 10...12:
            let sign = random.pick(["", "", "-"])
            let member = random.pick([
                "federated", "sameEnterprise", "user:friend@contoso.com", "user:ulla@contoso.com", "user:otto@fabrikam.com",
                "domain:example.org", "domain:contoso.com", "domain:fabrikam.com",
            ])
            setMembers(random.pick([100, 200, 300, 400]), sign + member)
        case 13:
            setMembers(32_000, random.pick(["", "-"]) + "user:somebody@contoso.com")
        case 14...17:
            let activity = random.pick(["busy", "away", "on-the-phone", nil])
            let body = Bench.pidf(Self.name, basic: random.pick(["open", "closed"]), activity: activity, note: random.pick(["hi", nil]))
            let isOver = random.number(0...3) == 0
            send(
                "PUBLISH", "application/pidf+xml", entityTag != nil && isOver ? "" : body, expires: isOver ? 0 : random.pick([60, 90, 600]))
        default:
            rig.close(ConnectionID(rawValue: connection))
            connection += 1
        }
    }

    private func publish(_ publication: Bench.Publication) {
        var publication = publication
        let key = "\(publication.name)/\(publication.container)/\(publication.instance)"
        publication.version = versions[key, default: 0]
        let id = send(
            "SERVICE", "application/msrtc-category-publish+xml", Bench.publishBody(Self.name, [publication]))
        asked[id] = (key, publication.expires == 0)
        settle(id)
    }

    private func setMembers(_ container: Int, _ member: String) {
        let key = "members/\(container)"
        let id = send(
            "SERVICE", "application/msrtc-setcontainermembers+xml",
            Bench.membersBody(container, version: versions[key, default: 0], [Bench.member(member)]))
        asked[id] = (key, false)
        settle(id)
    }

    private var answers: [String: SIPResponse] = [:]

    private func receive(_ message: SIPMessage) {
        guard case .response(let response) = message, let id = response.headers.callID else { return }
        if let tag = response.headers.sipETag { entityTag = response.headers.expires == 0 ? nil : tag }
        if response.status.rawValue == 412 { entityTag = nil }
        answers[id] = response
    }

    /// Takes over what the answer says about versions.
    private func settle(_ id: String) {
        guard let (key, isRemoval) = asked.removeValue(forKey: id), let response = answers.removeValue(forKey: id) else { return }
        if response.status == .ok {
            versions[key] = isRemoval ? nil : versions[key, default: 0] + 1
        } else if let number = response.text.split(separator: "curVersion=\"").dropFirst().first?.prefix(while: { $0.isNumber }) {
            versions[key] = Int(number)
        }
    }

    @discardableResult
    private func send(_ method: String, _ type: String, _ body: String, expires: Int? = nil) -> String {
        serial += 1
        let id = "user\(serial)"
        let headers =
            method == "PUBLISH"
            ? "Event: presence\r\nExpires: \(expires ?? 600)\r\n" + (entityTag.map { "SIP-If-Match: \($0)\r\n" } ?? "")
            : "Contact: <sip:192.0.2.30:5060>;+sip.instance=\"<urn:uuid:221ef77e-3a68-5570-86ed-6ea5bd4b7ff8>\"\r\n"
        rig.send(
            "\(method) sip:\(Self.name) SIP/2.0\r\nVia: SIP/2.0/TCP 192.0.2.30:5060;branch=z9hG4bK\(id)\r\nMax-Forwards: 70\r\n"
                + "From: <sip:\(Self.name)>;tag=u\r\nTo: <sip:\(Self.name)>\r\nCall-ID: \(id)\r\nCSeq: 1 \(method)\r\n" + headers
                + (body.isEmpty ? "" : "Content-Type: \(type)\r\n") + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)",
            from: address, connection: ConnectionID(rawValue: connection))
        return id
    }
}
