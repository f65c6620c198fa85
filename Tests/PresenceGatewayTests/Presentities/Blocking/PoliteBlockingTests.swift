import FederationRouting
import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing
import UserDirectory

/// A blocked watcher must not find out that it is blocked, nor that anything happens (MS-PRES 1.3.1.3.4, 4.4.2).
///
/// Each history is played in three worlds with the same watchers. In the first the user blocks them at some moment and lives on; in the
/// second the user signs off at that moment and stays away; in the third the user never did anything. A watcher that the third world
/// served alike up to that moment was never shown presence.
@Suite struct PoliteBlockingTests {
    static let span = 100_000

    /// One of the worlds of a history.
    enum World {
        case blocked
        case signedOff
        case silent
    }

    /// What all worlds of one history have in common.
    struct History {
        let seed: UInt64
        let life: SplitMix
        /// Milliseconds; nothing else happens then.
        let blockedAt: Int
        let restartsAt: [Int]
        let reloadsAt: Int?
        let directoryChangesAt: Int?
        let hasDirectory: Bool
        let usesDefaultContainer: Bool
        let isOpen: Bool
        let spacing: TimeSpan

        init(_ seed: UInt64) {
            self.seed = seed
            var random = SplitMix(state: seed &* 31 &+ 7)
            life = SplitMix(state: random.next())
            blockedAt = random.number(0...4) == 0 ? 3 : random.number(100...6_000) * 10 + 3
            // A process that ends takes its connections along: what hangs on them is gone for good before the next one is blocked.
            restartsAt = random.number(0...2) == 0 ? (0...random.number(0...1)).map { _ in random.number(0...3_000) * 10 + 63_001 } : []
            reloadsAt = random.number(0...2) == 0 ? random.number(0...9_000) * 10 + 1 : nil
            hasDirectory = random.number(0...1) == 0
            directoryChangesAt = hasDirectory && random.number(0...1) == 0 ? random.number(1...9_000) * 10 + 2 : nil
            isOpen = random.number(0...3) > 0
            usesDefaultContainer = random.number(0...3) == 0
            // Moments must say nothing where notifications are spaced, either.
            spacing = random.number(0...1) == 0 ? .zero : .seconds(5)
        }

        static let blocked = ["ulla@contoso.com", "dan@example.org", "otto@fabrikam.com", "eve@contoso.com", "sam@example.org"]
        /// By name, and one by its domain.
        static let members = blocked.dropLast().map { "user:\($0)" } + ["domain:example.org"]

        func directory(_ robs: String) -> DirectoryState {
            guard hasDirectory else { return .none }
            let users = try? [
                Fabrikam.user("rob", [.displayName: robs, .email: "rob@fabrikam.com", .workPhone: "+1 555 0100"]),
                Fabrikam.user("silent", [.displayName: "Silent"]), Fabrikam.user("otto", [.displayName: "Otto"]),
            ]
            return (try? .known(UserDirectory(users ?? [], asOf: DateTime(nanosecondsSince1970: 1_690_000_000_000_000_000)))) ?? .none
        }
    }

    /// What each watcher got, by its number.
    static func play(
        _ history: History, _ world: World, shards: Int = 1, falsifying falsified: (number: Int, isOctet: Bool)? = nil
    ) -> [RecordingWatcher] {
        let rig = BlockedRig(shards: shards, isKept: !history.restartsAt.isEmpty, directory: history.directory("Rob")) {
            $0.timing.notifySpacing = history.spacing
            $0.listServer = SIPURI("sip:\(RecordingWatcher.lists)")
            $0.domains["cloud.example.net"] = DomainConfiguration(side: .enterprise, route: Bench.enterprise, network: .publicCloud)
            $0.domains["simple.cloud.example.net"] = DomainConfiguration(side: .simple, route: Bench.simple, network: .publicCloud)
        }
        let user = LivingUser(rig, usesDefaultContainer: history.usesDefaultContainer)
        switch world {
        case .blocked:
            user.lives(history.life, isOpen: history.isOpen, until: span)
            rig.at(history.blockedAt) { user.blocks(History.members) }
        case .signedOff:
            user.lives(history.life, isOpen: history.isOpen, until: history.blockedAt)
            rig.at(history.blockedAt) { user.signsOff() }
        case .silent: break
        }
        history.restartsAt.forEach { rig.at($0) { rig.restart() } }
        if let moment = history.reloadsAt { rig.at(moment) { rig.reload() } }
        if let moment = history.directoryChangesAt { rig.at(moment) { rig.use(history.directory("Robert")) } }
        // Watchers draw from numbers of their own, so that each is the same whoever else is there.
        var watchers: [RecordingWatcher] = []
        for (number, name) in (History.blocked + ["zoe@cloud.example.net", "max@simple.cloud.example.net"]).enumerated() {
            var random = SplitMix(state: history.seed &* 64 &+ UInt64(number))
            let isSimple = name.hasSuffix("example.org") || name.hasSuffix("simple.cloud.example.net")
            let form = random.pick(isSimple ? RecordingWatcher.Form.simple : RecordingWatcher.Form.allCases.filter { !$0.isList })
            let watcher = RecordingWatcher(
                name, form, number: number, isStream: name.hasPrefix("otto") || name.hasPrefix("zoe"), seed: random.next(), rig: rig)
            if number == 0 { watcher.falsifies = falsified }
            watcher.plan(milliseconds: span)
            watchers.append(watcher)
        }
        rig.run(milliseconds: span + 40_000)
        return watchers
    }

    /// Plays a history, and compares each watcher's world with the one that it must look like.
    /// - Returns: how many blocked watchers were never shown presence, and how many were.
    ///
    /// With several shards, a watcher that was sent presence by the presentity's shard, but not yet by its own, may see a sign-off.
    static func compare(_ seed: UInt64, shards: Int = 1) -> (silent: Int, signedOff: Int, notified: Int) {
        let history = History(seed)
        let worlds = [World.blocked, .signedOff, .silent].map { play(history, $0, shards: shards) }
        var (silent, signedOff, notified) = (0, 0, 0)
        let moment = Int64(history.blockedAt) * 1_000_000
        for index in worlds[0].indices {
            let (seen, away, never) = (worlds[0][index], worlds[1][index], worlds[2][index])
            #expect(!seen.transcript.isEmpty)
            let isBlocked = index < History.blocked.count
            // Those in no container see nothing of a user who has nothing for everybody.
            guard isBlocked || !history.usesDefaultContainer else { continue }
            let before = { (watcher: RecordingWatcher) in watcher.transcript.filter { $0.at < moment } }
            let wasShown = isBlocked && difference(before(seen), before(never)) != nil
            if isBlocked { if wasShown { signedOff += 1 } else { silent += 1 } }
            if wasShown, away.transcript.contains(where: { $0.at == moment }) { notified += 1 }
            if shards > 1, difference(seen.transcript, away.transcript) == nil { continue }
            if let difference = difference(seen.transcript, (wasShown ? away : never).transcript) {
                Issue.record(
                    "seed \(seed), \(seen.user) \(seen.form), \(wasShown ? "signed off" : "never published") at \(history.blockedAt): \(difference)"
                )
            }
        }
        return (silent, signedOff, notified)
    }

    @Test(
        "MS-PRES 1.3.1.3.4 over random lives a blocked watcher gets, octet for octet and to the nanosecond, what a user gives who never published, or who signed off then [R081, R089, R093]",
        arguments: 0..<40)
    func blockedWatchersLearnNothing(group: Int) {
        var (silent, signedOff, notified) = (0, 0, 0)
        for history in 0..<25 {
            let counts = Self.compare(UInt64(25 * group + history))
            silent += counts.silent
            signedOff += counts.signedOff
            notified += counts.notified
        }
        // The histories had blocks of every kind.
        #expect(silent > 10 && signedOff > 10 && notified > 0, "\(silent) \(signedOff) \(notified)")
    }

    @Test(
        "MS-PRES 1.3.1.3.4 the same where watchers and presentity belong to different shards, whose envelopes take time",
        arguments: (0..<10).map { ($0, 3) } + (0..<5).map { ($0, 2) })
    func blockedWatchersOfOtherShards(group: Int, shards: Int) {
        var (silent, signedOff, notified) = (0, 0, 0)
        for history in 0..<25 {
            let counts = Self.compare(UInt64(25 * group + history), shards: shards)
            silent += counts.silent
            signedOff += counts.signedOff
            notified += counts.notified
        }
        #expect(silent > 10 && signedOff > 10 && notified > 0, "\(silent) \(signedOff) \(notified)")
    }

    @Test("MS-PRES 1.3.1.3.4 over further lives, as many as ISTHMUS_HISTORIES says, from the seed in ISTHMUS_HISTORY on")
    func longRun() {
        for seed in LongHistories.seeds { _ = Self.compare(seed) }
    }

    @Test("the comparison notices one octet, and one millisecond", arguments: [true, false])
    func comparisonCanFail(isOctet: Bool) throws {
        let history = History(1)
        let one = Self.play(history, .blocked)[0].transcript
        #expect(Self.difference(one, Self.play(history, .blocked)[0].transcript) == nil)
        for number in [0, one.count / 2, one.count - 1] {
            let other = Self.play(history, .blocked, falsifying: (number, isOctet))[0].transcript
            #expect(Self.difference(one, other)?.contains("message \(number)") == true)
        }
        #expect(Self.difference(one, Array(one.dropLast())) != nil)
    }

    /// The first message that differs, both ways; nil: all are alike.
    ///
    /// Messages of one moment and several dialogs leave in the order of random tokens: they are compared dialog by dialog.
    static func difference(_ left: [RecordingWatcher.Entry], _ right: [RecordingWatcher.Entry]) -> String? {
        let (left, right) = (inOrder(left), inOrder(right))
        func line(_ list: [RecordingWatcher.Entry], _ index: Int) -> String {
            index < list.count ? "\(list[index].at) ns\n\(list[index].text)" : "nothing"
        }
        for index in 0..<max(left.count, right.count) where line(left, index) != line(right, index) {
            return "message \(index):\n\(line(left, index))\n--- instead of ---\n\(line(right, index))"
        }
        return nil
    }

    private static func inOrder(_ entries: [RecordingWatcher.Entry]) -> [RecordingWatcher.Entry] {
        entries.enumerated().sorted { ($0.element.at, $0.element.callID, $0.offset) < ($1.element.at, $1.element.callID, $1.offset) }
            .map(\.element)
    }
}
