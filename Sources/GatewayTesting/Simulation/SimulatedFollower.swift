import SIPCore

/// A watcher in a simulation: it wants to see its presentities, subscribes anew when it learns that its subscription has ended, and
/// judges everything that it is told.
final class SimulatedFollower {
    let watcher: ScriptedWatcher
    /// One, or those of a batch or a list.
    let presentities: [SimulatedPresentity]
    let expires: UInt32
    /// Whether it would be watching.
    var isInterested = true
    /// What it saw that cannot be right.
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

    // MARK: What it does

    /// Subscribes where it should and does not; as a client does, a while after it learned.
    func pursue(at now: Instant, random: inout SeededRandom) {
        // Whoever was rejected in a list stays so in that subscription.
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

    /// Is gone from one moment to the next, and says nothing to anybody.
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

    // MARK: What it sees

    /// After every notification: nothing of whom it may not see, nothing older than before, nothing that was never so.
    private func judge() {
        guard let now = watcher.notifications.last?.time else { return }
        for (index, presentity) in presentities.enumerated() {
            guard let seen = watcher.presence(of: presentity.uri) else { continue }
            let who = "\(watcher.name) (\(watcher.watcher)) of \(presentity.uri)"
            let number = SimulatedMood.number(seen)
            if presentity.blocked.contains(watcher.watcher) {
                if number != nil || SimulatedMood(seen) != .offline { complain("\(who) is blocked and saw \(seen)") }
                continue
            }
            guard let number, !presentity.mayBeHaunted(at: now) else { continue }
            if number < newest[index] {
                complain("\(who) saw n=\(number) after n=\(newest[index])")
            } else if !presentity.history.indices.contains(number) {
                complain("\(who) saw n=\(number), which was never published")
            } else if SimulatedMood(seen) != presentity.history[number] {
                complain("\(who) saw n=\(number) \(SimulatedMood(seen)), it was \(presentity.history[number]): \(seen)")
            }
            newest[index] = max(newest[index], number)
        }
    }

    private func complain(_ text: String) {
        if complaints.count < 20 { complaints.append(text) }
    }

    /// What it was not told of some of its presentities, although it takes itself for subscribed.
    func delays(among settled: [SimulatedPresentity]) -> [String] {
        guard isInterested, !watcher.isMute, watcher.phase == .live else { return [] }
        return presentities.compactMap { presentity in
            guard settled.contains(where: { $0 === presentity }), !presentity.blocked.contains(watcher.watcher),
                !presentity.farServers.contains(where: { $0.hasLostUnheard(presentity.uri) }),
                let seen = watcher.presence(of: presentity.uri), let number = SimulatedMood.number(seen), presentity.mood != .offline,
                number != presentity.number
            else { return nil }
            return "\(watcher.name) (\(watcher.watcher)) sees n=\(number) of \(presentity.uri), the last is n=\(presentity.number)"
        }
    }

    /// At the end: it watches, and sees what is so.
    var shortcomings: [String] {
        guard isInterested, !watcher.isMute else { return [] }
        let who = "\(watcher.name) (\(watcher.watcher))"
        guard watcher.phase == .live else { return ["\(who) of \(watcher.presentity) is not subscribed: \(watcher.phase)"] }
        if watcher.subscriptionState?.state != .active {
            return ["\(who) of \(watcher.presentity): \(watcher.subscriptionState?.description ?? "never notified")"]
        }
        return presentities.compactMap { presentity in
            if let verdict = (watcher as? EnhancedWatcher)?.verdict(on: presentity.uri) { return "\(who): \(verdict)" }
            if let entry = (watcher as? ListWatcher)?.entries[presentity.uri], entry.state != "active" {
                return "\(who) of \(presentity.uri): \(entry)"
            }
            guard let seen = watcher.presence(of: presentity.uri) else { return "\(who) was never told of \(presentity.uri)" }
            let isBlocked = presentity.blocked.contains(watcher.watcher)
            let expected = isBlocked ? .offline : presentity.mood
            if SimulatedMood(seen) != expected { return "\(who) sees \(presentity.uri) as \(seen), he is \(expected)" }
            if expected != .offline, presentity.hasNotes, let number = SimulatedMood.number(seen), number != presentity.number {
                return "\(who) sees n=\(number) of \(presentity.uri), the last is n=\(presentity.number)"
            }
            return nil
        }
    }
}
