import SIPCore

/// Somebody who is watched in a simulation, and what he truly shows.
final class SimulatedPresentity {
    /// Where he publishes.
    enum Home {
        case enterprise(EnhancedServer)
        case simple(SimplePresenceServer)
        /// Several servers with the same presentities.
        case pair([SimplePresenceServer])
        /// At the gateway, by PUBLISH or by SERVICE.
        case source(PIDFPublisher)
        case endpoint(CategoryPublisher)
    }

    let uri: String
    let home: Home
    /// Whether the gateway only carries what he publishes to the server of his domain.
    let isCarried: Bool
    /// Whether his notes reach watchers: an enterprise server that speaks PIDF only writes none.
    let hasNotes: Bool
    /// Whom he blocks politely.
    var blocked: Set<String> = []
    /// Of the last publication.
    private(set) var number = 0
    /// By the number of the publication; the first is what shows before it.
    private(set) var history: [SimulatedMood] = [.offline]
    private var isShowing = false
    private var refreshAt: Instant?
    /// Until then publications that nobody can name may be composed into what watchers see.
    private var hauntedUntil: Instant?

    init(_ uri: String, home: Home, isCarried: Bool = false, hasNotes: Bool = true) {
        self.uri = uri
        self.home = home
        self.isCarried = isCarried
        self.hasNotes = hasNotes
    }

    /// What everybody should see.
    var mood: SimulatedMood { isShowing ? history[number] : .offline }

    /// Whether he publishes at the gateway, and may be refused there.
    var isPublishing: Bool {
        switch home {
        case .enterprise, .simple, .pair: false
        case .source, .endpoint: true
        }
    }

    /// Whether the gateway is his home server.
    var isHosted: Bool { isPublishing && !isCarried }

    /// Whether another enterprise is his home, and he is subscribed to there (MS-PRES 3.4.5.1.3.1).
    var isOfEnterprise: Bool {
        switch home {
        case .enterprise: true
        case .simple, .pair, .endpoint: false
        case .source: isCarried
        }
    }

    /// The servers of other domains that are asked for him.
    var farServers: [ScriptedNotifier] {
        switch home {
        case .enterprise(let server): [server]
        case .simple(let server): [server]
        case .pair(let servers): servers
        case .source, .endpoint: []
        }
    }

    /// Whether no publication waits for its answer; one at a time, so that their order is certain.
    private var isIdle: Bool {
        switch home {
        case .enterprise, .simple, .pair: true
        case .source(let publisher): !publisher.isBusy
        case .endpoint(let publisher): publisher.awaited == 0
        }
    }

    /// Whether the last publication was taken.
    var isTaken: Bool {
        switch home {
        case .enterprise, .simple, .pair: true
        case .source(let publisher): isIdle && publisher.lastAnswer?.status?.isSuccess ?? false
        case .endpoint(let publisher): isIdle && publisher.lastAnswer?.status?.isSuccess ?? false
        }
    }

    /// Whether publications that nobody can name may be composed into what watchers see, until they lapse (RFC 3903 4.1).
    func mayBeHaunted(at now: Instant) -> Bool {
        // What is refused may have been shown before the gateway takes it back.
        if isCarried, number > 0, !isTaken { return true }
        if case .source(let publisher) = home, let last = publisher.lastUnanswered, now < last + Self.haunting { return true }
        return hauntedUntil.map { now < $0 } ?? false
    }

    /// As long as a publication that nobody can name lives, and what is told of it then is on its way.
    private static let haunting = TimeSpan.seconds(Int(sourceLifetime) + 40)

    /// The gateway dies: what it had in its hands may live there without anybody who knows its entity-tag.
    func noteDeath(at now: Instant) {
        if case .source = home, !isIdle { hauntedUntil = now + Self.haunting }
    }

    /// Keeps what is published alive.
    func refresh(at now: Instant) {
        if isCarried, number > 0, isIdle, !isTaken { hauntedUntil = now + Self.haunting }
        guard case .source(let publisher) = home, isShowing, !publisher.isBusy, let due = refreshAt, now >= due else { return }
        publish(at: now)
    }

    /// Publishes something new, or once more what was not taken.
    func change(to mood: SimulatedMood, at now: Instant) {
        guard isIdle else { return }
        if isTaken || number == 0 { show(mood, at: now) } else { publish(at: now) }
    }

    func show(_ mood: SimulatedMood, at now: Instant) {
        number += 1
        history.append(mood)
        publish(at: now)
    }

    /// Publishes the last state, again if need be.
    func publish(at now: Instant) {
        isShowing = true
        let mood = history[number]
        let note = "n=\(number)"
        switch home {
        case .enterprise(let server): server.set(uri, EnhancedState(mood.availability, note: note), at: now)
        case .simple(let server): server.set(uri, document(mood, note), at: now)
        case .pair(let servers): for server in servers { server.set(uri, document(mood, note), at: now) }
        case .source(let publisher):
            refreshAt = now + .seconds(100)
            publisher.publish(document(mood, note), expires: Self.sourceLifetime, at: now)
        case .endpoint(let publisher):
            publisher.publish(availability: mood.availability, note: note, lifetime: Int(Self.lifetime), at: now)
        }
    }

    /// Shows nothing any more; an endpoint has no word for that.
    func withdraw(at now: Instant) {
        switch home {
        case .enterprise(let server): server.set(uri, nil, at: now)
        case .simple(let server): server.set(uri, nil, at: now)
        case .pair(let servers): for server in servers { server.set(uri, nil, at: now) }
        case .source(let publisher): publisher.remove(at: now)
        case .endpoint: return
        }
        isShowing = false
    }

    /// Withdraws, or lets what it shows end soon.
    func leave(at now: Instant) {
        guard case .endpoint(let publisher) = home else { return withdraw(at: now) }
        if number > 0 { publisher.publish(availability: mood.availability, note: "n=\(number)", lifetime: 60, at: now) }
    }

    /// Seconds that a publication of PIDF lives.
    private static let sourceLifetime: UInt32 = 240
    /// Seconds that a publication of categories lives: longer than any simulation.
    private static let lifetime: UInt32 = 80_000

    private func document(_ mood: SimulatedMood, _ note: String) -> String {
        SimpleDocuments.pidf(of: uri, mood.basic, activities: mood.activities, note: note)
    }
}
