import SIPCore

/// Somebody who is watched in a simulation, and what he truly shows.
final class SimulatedPresentity {
    /// Where he publishes.
    enum Home {
        case enterprise(EnhancedServer)
        case simple(SimplePresenceServer)
        /// At the gateway, by PUBLISH or by SERVICE.
        case source(PIDFPublisher)
        case endpoint(CategoryPublisher)
    }

    let uri: String
    let home: Home
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
    /// The gateway died with a publication in its hands: it may live there without anybody who knows its entity-tag.
    private var isAbandoned = false

    init(_ uri: String, home: Home, hasNotes: Bool = true) {
        self.uri = uri
        self.home = home
        self.hasNotes = hasNotes
    }

    /// What everybody should see.
    var mood: SimulatedMood { isShowing ? history[number] : .offline }

    var isHosted: Bool {
        switch home {
        case .enterprise, .simple: false
        case .source, .endpoint: true
        }
    }

    /// Whether the last publication was taken; one at a time, so that their order is certain.
    var isTaken: Bool {
        switch home {
        case .enterprise, .simple: true
        case .source(let publisher): !publisher.isBusy && publisher.lastAnswer?.status?.isSuccess ?? false
        case .endpoint(let publisher): publisher.awaited == 0 && publisher.lastAnswer?.status?.isSuccess ?? false
        }
    }

    /// Whether publications that nobody can name may be composed into what watchers see, until they lapse (RFC 3903 4.1).
    var mayBeHaunted: Bool {
        if case .source(let publisher) = home { isAbandoned || publisher.unansweredCount > 0 } else { false }
    }

    /// The gateway dies.
    func noteDeath() {
        if case .source(let publisher) = home, publisher.isBusy { isAbandoned = true }
    }

    /// Keeps what is published alive.
    func refresh(at now: Instant) {
        guard case .source(let publisher) = home, isShowing, !publisher.isBusy, let due = refreshAt, now >= due else { return }
        publish(at: now)
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
        case .source(let publisher):
            refreshAt = now + .seconds(100)
            publisher.publish(document(mood, note), expires: 240, at: now)
        case .endpoint(let publisher):
            publisher.publish(availability: mood.availability, note: note, lifetime: Int(Self.lifetime), at: now)
        }
    }

    /// Shows nothing any more; only a server or a source of PIDF can say so.
    func withdraw(at now: Instant) {
        switch home {
        case .enterprise(let server): server.set(uri, nil, at: now)
        case .simple(let server): server.set(uri, nil, at: now)
        case .source(let publisher): publisher.remove(at: now)
        case .endpoint: return
        }
        isShowing = false
    }

    /// Seconds that a publication of categories lives: longer than any simulation.
    static let lifetime: UInt32 = 80_000

    private func document(_ mood: SimulatedMood, _ note: String) -> String {
        SimpleDocuments.pidf(of: uri, mood.basic, activities: mood.activities, note: note)
    }
}
