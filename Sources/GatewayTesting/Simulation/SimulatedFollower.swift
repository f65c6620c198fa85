import SIPCore
import ScriptedPeers

/// Watcher of a simulation: subscribes again when it learns that its subscription has ended, and checks every notification.
final class SimulatedFollower {
    let watcher: ScriptedWatcher
    /// One presentity, or those of a batch or a list.
    let presentities: [SimulatedPresentity]
    let expires: UInt32
    /// Whether it wants to watch.
    var isInterested = true
    /// Observations that cannot be correct; at most 20.
    private(set) var complaints: [String] = []
    private var newest: [Int]
    private var nextTry: Instant?

    init(_ watcher: ScriptedWatcher, of presentities: [SimulatedPresentity], expires: UInt32) {
        self.watcher = watcher
        self.presentities = presentities
        self.expires = expires
        newest = presentities.map { _ in 0 }
        watcher.refreshesItself = true
        watcher.whenNotified = { [unowned self] in judge() }
    }

    // MARK: Actions

    /// Subscribes when it is not subscribed, up to 10 s after learning so, as a client does.
    func pursue(at now: Instant, random: inout SeededRandom) {
        // A resource terminated in a list stays terminated in that subscription.
        if isInterested, watcher.phase == .live, hasLostOne, random.chance(0.05) { watcher.unsubscribe(at: now) }
        guard isInterested, !watcher.isMute, watcher.phase != .live, watcher.phase != .asked else {
            nextTry = nil
            return
        }
        guard let due = nextTry else {
            nextTry = now + .milliseconds(Int.random(in: 0...10_000, using: &random))
            return
        }
        guard now >= due else { return }
        nextTry = nil
        watcher.refreshesItself = true
        watcher.subscribe(expires: expires, at: now)
    }

    private var hasLostOne: Bool { (watcher as? ListWatcher)?.entries.values.contains { $0.state == "terminated" } ?? false }

    /// Disappears without ending its subscription.
    func vanish() {
        watcher.forget()
        watcher.isMute = true
        isInterested = false
    }

    func comeBack() {
        watcher.isMute = false
        isInterested = true
    }

    func leave(at now: Instant) {
        isInterested = false
        watcher.unsubscribe(at: now)
    }

    // MARK: Checks

    /// Checks a notification: no presence of presentities that block the watcher, none older than before, none that was never published.
    private func judge() {
        guard let now = watcher.notifications.last?.time else { return }
        for (index, presentity) in presentities.enumerated() {
            guard let seen = watcher.presence(of: presentity.uri) else { continue }
            let who = "\(watcher.name) (\(watcher.watcher)) of \(presentity.uri)"
            let number = SimulatedMood.number(seen)
            if let last = presentity.blocked[watcher.watcher] {
                // Notifications from before the block may arrive later.
                let isTooNew = number.map { $0 > last } ?? (last < 0 && SimulatedMood(seen) != .offline)
                if isTooNew { complain("\(who) is blocked and saw \(seen)") }
                continue
            }
            guard let number, !presentity.mayBeHaunted(at: now) else { continue }
            if number < newest[index] {
                complain("\(who) saw n=\(number) after n=\(newest[index])")
            } else if !presentity.history.indices.contains(number) {
                complain("\(who) saw n=\(number), which was never published")
            } else if SimulatedMood(seen) != presentity.history[number], !isSignOff(seen, of: presentity) {
                complain("\(who) saw n=\(number) \(SimulatedMood(seen)), it was \(presentity.history[number]): \(seen)")
            }
            newest[index] = max(newest[index], number)
        }
    }

    /// Whether the watcher may see that the presentity has signed off, because of a block that is not acknowledged yet.
    private func isSignOff(_ seen: ObservedPresence, of presentity: SimulatedPresentity) -> Bool {
        presentity.blocking.contains(watcher.watcher) && SimulatedMood(seen) == .offline
    }

    private func complain(_ text: String) {
        if complaints.count < 20 { complaints.append(text) }
    }

    /// Whether the watcher knows that its batch shows the presentity no longer (MS-PRES 3.4.5.1.3.1), until its next refresh names it again.
    private func knowsEnd(of presentity: SimulatedPresentity) -> Bool {
        (watcher as? EnhancedWatcher)?.instanceState(on: presentity.uri)?.state == "terminated"
    }

    /// Settled presentities with outdated presence, while the watcher is subscribed.
    func delays(among settled: [SimulatedPresentity]) -> [String] {
        guard isInterested, !watcher.isMute, watcher.phase == .live else { return [] }
        return presentities.compactMap { presentity in
            guard settled.contains(where: { $0 === presentity }), presentity.blocked[watcher.watcher] == nil,
                !presentity.remoteServers.contains(where: { $0.hasLostUnheard(presentity.uri) }),
                !knowsEnd(of: presentity),
                let seen = watcher.presence(of: presentity.uri), let number = SimulatedMood.number(seen), presentity.mood != .offline,
                number != presentity.number
            else { return nil }
            return "\(watcher.name) (\(watcher.watcher)) sees n=\(number) of \(presentity.uri), the last is n=\(presentity.number)"
        }
    }

    /// Faults at the end of a run: not subscribed, or wrong presence.
    var shortcomings: [String] {
        guard isInterested, !watcher.isMute else { return [] }
        let who = "\(watcher.name) (\(watcher.watcher))"
        guard watcher.phase == .live else { return ["\(who) of \(watcher.presentity) is not subscribed: \(watcher.phase)"] }
        if watcher.subscriptionState?.state != .active {
            return ["\(who) of \(watcher.presentity): \(watcher.subscriptionState?.description ?? "never notified")"]
        }
        return presentities.compactMap { presentity in
            if let instanceState = (watcher as? EnhancedWatcher)?.instanceState(on: presentity.uri) { return "\(who): \(instanceState)" }
            if let entry = (watcher as? ListWatcher)?.entries[presentity.uri], entry.state != "active" {
                return "\(who) of \(presentity.uri): \(entry)"
            }
            guard let seen = watcher.presence(of: presentity.uri) else { return "\(who) was never told of \(presentity.uri)" }
            let isBlocked = presentity.blocked[watcher.watcher] != nil
            let expected = isBlocked ? .offline : presentity.mood
            if SimulatedMood(seen) != expected { return "\(who) sees \(presentity.uri) as \(seen), he is \(expected)" }
            if expected != .offline, presentity.hasNotes, let number = SimulatedMood.number(seen), number != presentity.number {
                return "\(who) sees n=\(number) of \(presentity.uri), the last is n=\(presentity.number)"
            }
            return nil
        }
    }
}
