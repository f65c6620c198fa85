import PresenceGateway
import PresenceRules
import SIPCore
import Testing

/// A politely blocked watcher must not find out that it is blocked, nor that anything happens (RFC 5025 3.2.1, 4745 6.1).
///
/// Each history is played twice with the same watchers, in dialogs, by fetches, in batches and lists. In one world the presentity lives,
/// and its rules politely block the watchers from some moment on; in the other it is away from that moment on, and the rules allow
/// everything. Every message is compared: status, headers, body, size and virtual time.
@Suite("Polite blocks by presence rules")
struct PoliteRulesTests {
    static let span = 90_000
    static let alice = "alice@example.com"
    static let silent = "silent@example.com"
    static let blocked = ["ulla@contoso.com", "dan@example.org", "otto@fabrikam.com", "eve@contoso.com", "sam@example.org"]
    static let others = ["zoe@contoso.com", "max@example.org"]

    /// The handling of the watchers before they are blocked.
    enum Beginning: CaseIterable {
        /// Blocked from the start: the other world has a presentity that never published.
        case blocked
        /// Shown everything: the presentity of the other world withdraws its documents.
        case allowed
        /// Pending: the presentity of the other world never published, and is allowed at that moment.
        case pending
    }

    struct History {
        let seed: UInt64
        let life: SplitMix
        let beginning: Beginning
        let blockedAt: Int
        let restartsAt: [Int]
        let reloadsAt: Int?
        let spacing: TimeSpan

        init(_ seed: UInt64) {
            self.seed = seed
            var random = SplitMix(state: seed &* 37 &+ 11)
            life = SplitMix(state: random.next())
            beginning = random.pick(Beginning.allCases)
            blockedAt = beginning == .blocked ? 0 : random.number(100...6_000) * 10 + 3
            restartsAt = random.number(0...2) == 0 ? (0...random.number(0...1)).map { _ in random.number(100...8_000) * 10 + 1 } : []
            reloadsAt = random.number(0...2) == 0 ? random.number(0...8_000) * 10 + 2 : nil
            spacing = random.number(0...1) == 0 ? .zero : .seconds(5)
        }
    }

    /// Messages to each watcher, by its number.
    /// - Parameter flaw: the handling in place of polite-block, for the test of the comparison.
    static func play(_ history: History, isBlocked: Bool, shards: Int, flaw: String? = nil) -> [RecordingWatcher] {
        let rig = BlockedRig(shards: shards, isKept: !history.restartsAt.isEmpty, directory: .none) {
            $0.timing.notifySpacing = history.spacing
            $0.listServer = SIPURI("sip:\(RecordingWatcher.lists)")
        }
        let user = RuledUser(rig, publishesCategories: history.beginning == .blocked, flaw: flaw)
        let isGone = !isBlocked && history.beginning != .allowed
        if history.beginning == .pending { user.decides("confirm") }
        if !isGone { user.lives(history.life, until: isBlocked ? span : history.blockedAt) }
        rig.at(history.blockedAt) {
            if isBlocked {
                user.blocks(history.life, until: span)
            } else if history.beginning == .allowed {
                user.withdraws()
            } else {
                user.decides("allow")
            }
        }
        history.restartsAt.forEach { rig.at($0) { rig.restart() } }
        if let moment = history.reloadsAt { rig.at(moment) { rig.reload() } }
        var watchers: [RecordingWatcher] = []
        for (number, name) in (blocked + others).enumerated() {
            var random = SplitMix(state: history.seed &* 64 &+ UInt64(number))
            let forms = name.hasSuffix("example.org") ? RecordingWatcher.Form.simple : RecordingWatcher.Form.allCases.filter { !$0.isList }
            let watcher = RecordingWatcher(
                name, random.pick(forms), watching: [alice, silent], number: number, isStream: name.hasPrefix("otto"), seed: random.next(),
                rig: rig)
            watcher.plan(milliseconds: span)
            watchers.append(watcher)
        }
        rig.run(milliseconds: span + 40_000)
        return watchers
    }

    /// Compares both worlds of a history.
    /// - Returns: the differences of the blocked watchers.
    static func differences(_ seed: UInt64, shards: Int = 1, flaw: String? = nil) -> (beginning: Beginning, found: [String]) {
        let history = History(seed)
        let (blocked, away) = (
            play(history, isBlocked: true, shards: shards, flaw: flaw), play(history, isBlocked: false, shards: shards)
        )
        let found = Self.blocked.indices.compactMap { index -> String? in
            #expect(!blocked[index].transcript.isEmpty)
            return PoliteBlockingTests.difference(blocked[index].transcript, away[index].transcript).map {
                "seed \(seed), \(blocked[index].user) \(blocked[index].form), \(history.beginning) until \(history.blockedAt): \($0)"
            }
        }
        return (history.beginning, found)
    }

    private func check(_ seeds: Range<Int>, shards: Int) {
        var beginnings: [Beginning: Int] = [:]
        for seed in seeds {
            let (beginning, found) = Self.differences(UInt64(seed), shards: shards)
            beginnings[beginning, default: 0] += 1
            for one in found { Issue.record("\(one)") }
        }
        #expect(beginnings.count == Beginning.allCases.count, "\(beginnings)")
    }

    @Test(
        "RFC 5025 3.2.1 over random histories a politely blocked watcher gets, octet for octet and to the nanosecond, what a presentity shows that never published or went away [R642]",
        arguments: 0..<40)
    func learnsNothing(group: Int) { check(25 * group..<25 * (group + 1), shards: 1) }

    @Test("RFC 5025 3.2.1 the same where watchers and presentity belong to different shards", arguments: 0..<8, [2, 3])
    func ofOtherShards(group: Int, shards: Int) { check(25 * group..<25 * (group + 1), shards: shards) }

    @Test("RFC 5025 3.2.1 over further histories, as many as ISTHMUS_HISTORIES says, from the seed in ISTHMUS_HISTORY on")
    func longRun() {
        for seed in LongHistories.seeds {
            for one in Self.differences(seed).found { Issue.record("\(one)") }
        }
    }

    @Test(
        "the comparison notices watchers that are allowed, pending or refused in place of politely blocked",
        arguments: ["allow", "confirm", "block"])
    func comparisonCanFail(flaw: String) {
        let found = (0..<10).map { Self.differences(UInt64($0), flaw: flaw).found.count }
        #expect(found.count { $0 > 0 } >= 8, "\(found)")
    }
}

/// A user of a hosted simple domain that publishes in both models and changes its rules.
private final class RuledUser {
    private unowned let rig: BlockedRig
    private let publishesCategories: Bool
    private let flaw: String?
    private let address = TransportAddress(.udp, "192.0.2.30", 5060)
    private var serial = 0
    private var entityTag: String?
    private var version = 0

    init(_ rig: BlockedRig, publishesCategories: Bool, flaw: String?) {
        self.rig = rig
        self.publishesCategories = publishesCategories
        self.flaw = flaw
        rig.join(address) { [self] in receive($0) }
    }

    /// Gives the rules one handling for all watchers.
    func decides(_ handling: String) { use([Rules.rule("all", "", handling, handling == "allow" ? Rules.everything : "")]) }

    private func use(_ rules: [String], lists: [String: [String]] = [:]) {
        guard let documents = try? Rules.documents(rules, lists: lists, of: PoliteRulesTests.alice) else {
            Issue.record("the rules cannot be read")
            return
        }
        rig.use(documents, of: PoliteRulesTests.alice)
    }

    /// Blocks the watchers politely from now on, by rules of changing forms; other watchers get changing parts.
    func blocks(_ random: SplitMix, until end: Int) {
        var random = random
        block(&random)
        var moment = Int((rig.now - BlockedRig.start).nanoseconds / 1_000_000) / 10 * 10 + random.number(1...2_000) * 10 + 4
        while moment < end {
            var chance = SplitMix(state: random.next())
            rig.at(moment) { [self] in block(&chance) }
            moment += random.number(1...2_000) * 10
        }
    }

    private func block(_ random: inout SplitMix) {
        let handling = flaw ?? "polite-block"
        let grants = handling == "allow" ? Rules.everything : ""
        let blocked = PoliteRulesTests.blocked
        var rules: [String]
        var lists: [String: [String]] = [:]
        switch random.number(0...3) {
        case 0: rules = blocked.enumerated().map { Rules.rule("b\($0.offset)", Rules.one($0.element), handling, grants) }
        case 1:
            lists = ["blocked": blocked]
            rules = [Rules.rule("b", Rules.list("blocked", of: PoliteRulesTests.alice), handling, grants)]
        case 2:
            rules = [
                Rules.rule("b", "<identity>\(blocked.map { "<one id='sip:\($0)'/>" }.joined())</identity>", handling, grants),
                // A sphere and a time that lower nothing: the handling is the maximum.
                Rules.rule("work", "<sphere value='work'/>" + Rules.one(blocked[0]), "confirm"),
                Rules.rule(
                    "time",
                    Rules.one(blocked[1]) + "<validity><from>2023-11-14T22:13:30Z</from><until>2023-11-14T22:14:10Z</until></validity>",
                    "block"),
            ]
        default: rules = [Rules.rule("b", "", handling, grants)]
        }
        let other = random.pick([Rules.everything, Rules.activities, Rules.services])
        for (number, name) in PoliteRulesTests.others.enumerated() {
            rules.append(Rules.rule("o\(number)", Rules.one(name), "allow", other))
        }
        use(rules, lists: lists)
    }

    /// Publishes and withdraws documents and categories; moments end in 0, so that they never meet those of watchers.
    func lives(_ random: SplitMix, until end: Int) {
        var random = random
        var moment = 20
        while moment < end {
            var chance = SplitMix(state: random.next())
            rig.at(moment) { [self] in act(&chance) }
            moment += random.number(1...1_000) * 10
        }
    }

    private func act(_ random: inout SplitMix) {
        if publishesCategories, random.number(0...3) == 0 {
            let body = Bench.publishBody(
                PoliteRulesTests.alice, [.state(random.pick([3_500, 6_500, 15_500]), version: version), .note("secret", version: version)])
            version += 1
            return send("SERVICE", "application/msrtc-category-publish+xml", body)
        }
        let activity = random.pick(["busy", "away", "on-the-phone", nil])
        let body = Bench.pidf(
            PoliteRulesTests.alice, basic: random.pick(["open", "closed"]), activity: activity, note: random.pick(["hi", nil])
        ).replacingOccurrences(
            of: "<rpid:activities>",
            with: "<rpid:sphere><rpid:\(random.pick(["work", "home"]))/></rpid:sphere><rpid:activities>")
        let isOver = random.number(0...4) == 0
        send(
            "PUBLISH", "application/pidf+xml", entityTag != nil && isOver ? "" : body,
            expires: isOver && entityTag != nil ? 0 : random.pick([60, 90, 600]))
    }

    /// Withdraws what is published (RFC 3903 4.5).
    func withdraws() {
        if entityTag != nil { send("PUBLISH", "", "", expires: 0) }
    }

    private func send(_ method: String, _ type: String, _ body: String, expires: Int = 600) {
        serial += 1
        let name = PoliteRulesTests.alice
        rig.send(
            "\(method) sip:\(name) SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.30:5060;branch=z9hG4bKruled\(serial)\r\nMax-Forwards: 70\r\n"
                + "From: <sip:\(name)>;tag=u\r\nTo: <sip:\(name)>\r\nCall-ID: ruled\(serial)\r\nCSeq: 1 \(method)\r\n"
                + (method == "PUBLISH"
                    ? "Event: presence\r\nExpires: \(expires)\r\n" + (entityTag.map { "SIP-If-Match: \($0)\r\n" } ?? "")
                    : "Contact: <sip:192.0.2.30:5060>;+sip.instance=\"<urn:uuid:221ef77e-3a68-5570-86ed-6ea5bd4b7ff8>\"\r\n")
                + (body.isEmpty ? "" : "Content-Type: \(type)\r\n") + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)", from: address)
    }

    private func receive(_ message: SIPMessage) {
        guard case .response(let response) = message else { return }
        if let tag = response.headers.sipETag { entityTag = response.headers.expires == 0 ? nil : tag }
        if response.status.rawValue == 412 { entityTag = nil }
    }
}
