import SIPCore
import ScriptedPeers

/// Presentity of a simulation, with the history of its true presence.
final class SimulatedPresentity {
    /// Server or client that holds the presence.
    enum Home {
        case enterprise(EnhancedServer)
        case simple(SimplePresenceServer)
        /// Several servers with the same presentities.
        case pair([SimplePresenceServer])
        /// Publishes at the gateway: `source` by PUBLISH, `endpoint` by SERVICE.
        case source(PIDFPublisher)
        case endpoint(CategoryPublisher)
    }

    let uri: String
    let home: Home
    /// Whether the gateway relays the publications to the server of the presentity's domain.
    let isRelayed: Bool
    /// Whether notes reach watchers: an enterprise server with only PIDF writes none.
    let hasNotes: Bool
    /// Politely blocked watchers, each with the number of the newest publication that it may have seen before; -1: none.
    var blocked: [String: Int] = [:]
    /// Watchers with a block that is not acknowledged yet: they see the presentity, or that it has signed off.
    var blocking: Set<String> = []
    /// Whether the store of the gateway may hold a publication that was refused with 503, since the outcome of its commit is unknown.
    var hasUnknownOutcomes = false
    /// Number of the last publication.
    private(set) var number = 0
    /// Presence by publication number; entry 0 is the presence before the first.
    private(set) var history: [SimulatedMood] = [.offline]
    private var isShowing = false
    private var refreshAt: Instant?
    /// Time until which orphaned publications (with an unknown entity-tag) may be part of the visible presence.
    private var hauntedUntil: Instant?

    init(_ uri: String, home: Home, isRelayed: Bool = false, hasNotes: Bool = true) {
        self.uri = uri
        self.home = home
        self.isRelayed = isRelayed
        self.hasNotes = hasNotes
    }

    /// Presence that every watcher should see.
    var mood: SimulatedMood { isShowing ? history[number] : .offline }

    /// Whether the presentity publishes at the gateway, which may refuse it.
    var isPublishing: Bool {
        switch home {
        case .enterprise, .simple, .pair: false
        case .source, .endpoint: true
        }
    }

    /// Whether the gateway is the home server.
    var isHosted: Bool { isPublishing && !isRelayed }

    /// Whether the home server is another enterprise, so that watchers are redirected there (MS-PRES 3.4.5.1.3.1).
    var isOfEnterprise: Bool {
        switch home {
        case .enterprise: true
        case .simple, .pair, .endpoint: false
        case .source: isRelayed
        }
    }

    /// Servers of other domains to which the gateway subscribes for the presentity.
    var remoteServers: [ScriptedNotifier] {
        switch home {
        case .enterprise(let server): [server]
        case .simple(let server): [server]
        case .pair(let servers): servers
        case .source, .endpoint: []
        }
    }

    /// Whether no publication awaits a response; one at a time keeps their order certain.
    private var isIdle: Bool {
        switch home {
        case .enterprise, .simple, .pair: true
        case .source(let publisher): !publisher.isBusy
        case .endpoint(let publisher): publisher.awaited == 0
        }
    }

    /// Whether the last publication was accepted.
    var isTaken: Bool {
        switch home {
        case .enterprise, .simple, .pair: true
        case .source(let publisher): isIdle && publisher.lastAnswer?.status?.isSuccess ?? false
        case .endpoint(let publisher): isIdle && publisher.lastAnswer?.status?.isSuccess ?? false
        }
    }

    /// Whether orphaned publications may be part of the visible presence, until they expire (RFC 3903 4.1).
    func mayBeHaunted(at now: Instant) -> Bool {
        // A refused publication may have been visible before the gateway withdrew it.
        if isRelayed, number > 0, !isTaken { return true }
        if case .source(let publisher) = home {
            let moments = [publisher.lastUnanswered, hasUnknownOutcomes ? publisher.lastUnavailable : nil]
            if moments.contains(where: { $0.map { now < $0 + Self.haunting } ?? false }) { return true }
        }
        return hauntedUntil.map { now < $0 } ?? false
    }

    /// Lifetime of an orphaned publication, plus 40 s for its last notifications.
    private static let haunting = TimeSpan.seconds(Int(sourceLifetime) + 40)

    /// Records the death of the gateway: a publication in progress may remain as an orphan.
    func noteDeath(at now: Instant) {
        if case .source = home, !isIdle { hauntedUntil = now + Self.haunting }
    }

    /// Refreshes the publication when due.
    func refresh(at now: Instant) {
        if isRelayed, number > 0, isIdle, !isTaken { hauntedUntil = now + Self.haunting }
        guard case .source(let publisher) = home, isShowing, !publisher.isBusy, let due = refreshAt, now >= due else { return }
        publish(at: now)
    }

    /// Publishes a new state, or the last one again if it was not accepted.
    func change(to mood: SimulatedMood, at now: Instant) {
        guard isIdle else { return }
        if isTaken || number == 0 { show(mood, at: now) } else { publish(at: now) }
    }

    func show(_ mood: SimulatedMood, at now: Instant) {
        number += 1
        history.append(mood)
        publish(at: now)
    }

    /// Publishes the last state, possibly again.
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

    /// Removes the presence; does nothing for an endpoint, which cannot.
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

    /// Removes the presence, or shortens its lifetime to 60 s.
    func leave(at now: Instant) {
        guard case .endpoint(let publisher) = home else { return withdraw(at: now) }
        if number > 0 { publisher.publish(availability: mood.availability, note: "n=\(number)", lifetime: 60, at: now) }
    }

    /// Lifetime of a PIDF publication in seconds.
    private static let sourceLifetime: UInt32 = 240
    /// Lifetime of a category publication in seconds: longer than any simulation.
    private static let lifetime: UInt32 = 80_000

    private func document(_ mood: SimulatedMood, _ note: String) -> String {
        SimpleDocuments.pidf(of: uri, mood.basic, activities: mood.activities, note: note)
    }
}
