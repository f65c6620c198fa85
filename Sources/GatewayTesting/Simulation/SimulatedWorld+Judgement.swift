import PresenceGateway
import SIPCore
import ScriptedPeers

/// Ends a simulation: recovers everything, then checks that everything is correct.
extension SimulatedWorld {
    /// Ends all failures and lets time pass, longer than any subscription and any pause.
    func heal() throws {
        network.remark("quiet")
        network.conditions = .perfect
        storage.records.failure = nil
        storage.trouble?.heal()
        process.spare()
        servers.pair.heal(network)
        try live(for: .seconds(1))
        for server in servers.all {
            server.manners.answer = .accept
            // A server that grants a pending subscription notifies its watcher (RFC 6665 4.2.2).
            if server.manners.isPending {
                server.manners.isPending = false
                for presentity in users.presentities { server.notifyAgain(presentity.uri, at: network.now) }
            }
            server.manners.shortestExpiry = 0
            server.manners.unreadableDocuments = 0
        }
        servers.standard.compositor.answer = .accept
        servers.partner.home.answer = .accept
        // Other presentities publish nothing new: their missed states must arrive without a change.
        for presentity in users.presentities where presentity.number > 0 && random.chance(0.5) {
            presentity.change(to: SimulatedMood.allCases.randomElement(using: &random) ?? .busy, at: network.now)
        }
        // Presentities that are not carried, with a last publication accepted before the quiet period, or within its first second.
        let settled = users.presentities.filter { !$0.isRelayed && $0.isTaken && !$0.mayBeHaunted(at: network.now) }
        try live(for: .seconds(60))
        try judgeDelivery(of: settled)
        for _ in 0..<3 {
            try live(for: .seconds(40))
            for presentity in users.presentities where presentity.number > 0 && !presentity.isTaken { presentity.publish(at: network.now) }
        }
        try live(for: .seconds(1400))
    }

    /// Checks 60 s after all peers are back: every watcher sees the current presence, or knows that the subscription has ended.
    private func judgeDelivery(of settled: [SimulatedPresentity]) throws {
        let judged = settled.filter { presentity in
            guard presentity.isTaken, !presentity.mayBeHaunted(at: network.now) else { return false }
            return !presentity.remoteServers.contains { $0 === servers.pair.dead } || !servers.pair.isFailureUnnoticed(at: network.now)
        }
        let late = users.followers.filter { !wasEndedByBenotify($0) }.flatMap { $0.delays(among: judged) }
        try report(late, "60 s after the quiet began")
    }

    /// Whether the gateway ended a subscription with BENOTIFY: a final BENOTIFY that is lost with its connection is not noticed by either
    /// side (MS-SIP 3.5).
    private func wasEndedByBenotify(_ follower: SimulatedFollower) -> Bool {
        guard (follower.watcher as? EnhancedWatcher)?.offersBenotify == true else { return false }
        let filter = SubscriptionFilter(watcher: follower.watcher.watcher)
        return !gateway.hasSubscription(matching: filter, at: network.now + clock.lead)
    }

    /// Checks all watchers, dialogs and counts.
    /// - Returns: Number of live watchers.
    func judge() throws -> Int {
        var wrong = users.followers.flatMap { $0.complaints + $0.shortcomings } + faults
        wrong += witnesses.sequences.faults
        // All presence and dialog endings must come from servers that were asked.
        wrong += witnesses.forger.believed.map { "a forged answer was believed: \($0)" }
        let counts = gateway.counts
        let live = users.followers.filter { $0.watcher.phase == .live }.count
        if counts.watcherDialogs != live {
            let rows = gateway.shards.flatMap { $0.subscriptions(at: network.now + clock.lead).rows }
            wrong.append("\(counts.watcherDialogs) watcher dialogs for \(live) live watchers: \(Set(rows.map(\.watcher)).sorted())")
        }
        let served = living.reduce(0) { $0 + $1.dialogCount }
        if counts.upstreamSubscriptions != served {
            wrong.append("\(counts.upstreamSubscriptions) far legs, \(served) dialogs at their servers")
        }
        try report(wrong, "after the quiet")
        return live
    }

    /// Ends all subscriptions and publications, and checks that no state is left.
    func end() throws {
        network.remark("everybody leaves")
        for follower in users.followers { follower.leave(at: network.now) }
        for presentity in users.presentities { presentity.leave(at: network.now) }
        // Longer than any granted lifetime.
        try network.run(for: .seconds(8_000))
        var wrong = users.followers.flatMap(\.complaints) + faults + witnesses.forger.believed.map { "a forged answer was believed: \($0)" }
        var counts = gateway.counts
        // Hosted users keep their watchers as subscribers (MS-PRES 3.6.5).
        if counts.presentities > users.presentities.filter(\.isHosted).count {
            wrong.append("\(counts.presentities) presentities are left")
        }
        counts.presentities = 0
        // Presence for blocked watchers is static.
        let hasBlocks = !users.blocks.isEmpty || users.presentities.contains { !$0.blocked.isEmpty }
        let blockers = users.presentities.count { presentity in
            !presentity.blocked.isEmpty || users.blocks.contains { $0.presentity === presentity }
        }
        if counts.publications % 3 == 0, counts.publications <= 3 * blockers { counts.publications = 0 }
        // A watcher that is blocked later sees the publications of then until they expire.
        counts.timers = max(0, counts.timers - users.blocks.count)
        if counts != GatewayCounts() { wrong.append("left behind: \(counts)") }
        for server in living where server.dialogCount > 0 {
            wrong.append("\(server.name) has \(server.dialogCount) dialogs left")
        }
        // Watchers that have seen presence are remembered for a later block; sign-offs only exist where there is a block.
        let remembered = hasBlocks ? ["shown_watchers", "sign_offs", "timers"] : ["shown_watchers"]
        let sizes = gateway.tableSizes.filter { $0.value > 0 && $0.key != "presentities" && !remembered.contains($0.key) }
        if !sizes.isEmpty { wrong.append("not empty: \(sizes.sorted { $0.key < $1.key })") }
        let records = storage.records.records.keys.filter { key in
            switch key {
            case .presentity, .shownWatcher, .signOff: false
            default: true
            }
        }
        if !records.isEmpty { wrong.append("still kept: \(records)") }
        try report(wrong, "at the end")
    }

    /// Servers that are up.
    private var living: [ScriptedNotifier] { servers.all.filter { $0 !== servers.pair.dead } }

    private func report(_ wrong: [String], _ moment: String) throws {
        if !wrong.isEmpty { throw SimulationFailure("\(moment): " + wrong.joined(separator: "\n")) }
    }
}
