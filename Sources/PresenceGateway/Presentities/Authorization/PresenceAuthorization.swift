import EnhancedPresence
import FederationRouting
import PresenceDocuments
import PresenceRules
import SIPCore

/// Decides by the documents of presentities of hosted simple domains which watchers see what (RFC 4745, RFC 5025, PKT-SP-PRS 6.3.5).
///
///     documents --compiled--> policy of the presentity --decide--> access of a watcher, and the next moment at which it may change
///
/// Rights of the configuration (`allow`, `deny`) are checked before.
final class PresenceAuthorization: ShardMember {
    /// Kind of the tickets of policies.
    static let ticketKind: UInt8 = 2

    let kernel: GatewayKernel
    let context: ShardContext
    /// Sphere of a presentity, by its key.
    private let sphere: (_ key: String, _ now: Instant) -> PresentitySphere
    private var policies: [String: Policy] = [:] { didSet { renewIsNeeded() } }
    /// Whether a decision can be another one than to show everything: the only cost where there are no rules.
    private(set) var isNeeded = false
    private var named = Slab<Policy>()

    init(
        _ kernel: GatewayKernel, _ context: ShardContext, sphere: @escaping (_ key: String, _ now: Instant) -> PresentitySphere
    ) {
        self.kernel = kernel
        self.context = context
        self.sphere = sphere
        renewIsNeeded()
    }

    private func renewIsNeeded() {
        isNeeded = !policies.isEmpty || configuration.domains.values.contains { $0.unruledHandling.map { $0 != .allow } ?? false }
    }

    /// Rules of one presentity, and what its present watchers depend on.
    private final class Policy {
        let key: String
        let documents: UserDocuments
        private(set) var rules: CompiledRules
        /// Access objects by their grants, so that watchers with equal grants share a view.
        private var accesses: [PresenceGrants: WatchAccess] = [:]
        /// Next moment at which the access of a watcher may change.
        private(set) var due: Instant?
        private(set) var dependsOnSphere = false
        var ticket: Ticket?

        init(_ key: String, _ documents: UserDocuments, _ canonical: @escaping @Sendable (SIPURI) -> SIPURI) {
            self.key = key
            self.documents = documents
            rules = Self.compiled(documents, canonical)
        }

        func compile(_ canonical: @escaping @Sendable (SIPURI) -> SIPURI) { rules = Self.compiled(documents, canonical) }

        private static func compiled(
            _ documents: UserDocuments, _ canonical: @escaping @Sendable (SIPURI) -> SIPURI
        ) -> CompiledRules {
            CompiledRules(documents.rules, lists: documents.lists, canonical: canonical)
        }

        /// Forgets what earlier decisions depended on, before all watchers are decided about again.
        func beginReview() {
            due = nil
            dependsOnSphere = false
        }

        /// Largest number of access objects that are kept; beyond it equal grants may have several.
        private static let accessLimit = 256

        func note(_ decision: Decision) {
            due = .earliest(due, decision.holdsUntil)
            dependsOnSphere = dependsOnSphere || decision.dependsOnSphere
        }

        func access(to grants: PresenceGrants) -> WatchAccess {
            if let known = accesses[grants] { return known }
            if accesses.count >= Self.accessLimit { accesses = [:] }
            let access = WatchAccess(to: grants)
            accesses[grants] = access
            return access
        }
    }

    // MARK: documents

    /// Number of entries by table.
    var sizes: [String: Int] { ["presencePolicies": policies.count] }

    /// Replaces the documents of a user; nil: the user has none. The caller reviews the user's watchers.
    func use(_ documents: UserDocuments?, of key: String) {
        if let former = policies.removeValue(forKey: key), let ticket = former.ticket {
            timers.set(ticket, at: nil)
            named.remove(ticket.key)
        }
        guard let documents else { return }
        let policy = Policy(key, documents, canonical)
        policies[key] = policy
        for problem in policy.rules.problems.prefix(Self.loggedProblems) {
            log(.notice, "presence rule has a part without effect", ["presentity": key, "problem": problem.description])
        }
    }

    private static let loggedProblems = 10

    /// Compiles all rules again, because domains with aliases may have changed.
    func configurationChanged() {
        renewIsNeeded()
        for policy in policies.values { policy.compile(canonical) }
    }

    private var canonical: @Sendable (SIPURI) -> SIPURI {
        let identities = configuration.identities
        return { identities.identity(of: $0).uri }
    }

    // MARK: decisions

    /// Decides about a watcher.
    /// - Parameter reasons: largest number of rules that do not match and are reported with their reasons.
    /// - Returns: nil: rules do not decide about this presentity, and every watcher sees everything.
    func decide(
        about watcher: RuleWatcher, of key: String, _ uri: SIPURI, reasons: Int = 0, at now: Instant
    ) -> Decision? {
        guard let unruled = configuration.domain(uri.domainKey)?.unruledHandling else { return nil }
        if let policy = policies[key] { return decide(about: watcher, by: policy, unruled, reasons: reasons, at: now) }
        guard unruled != .allow || reasons > 0 else { return nil }
        return Self.noRules.decide(watcher, in: DecisionContext(now: now, unruled: unruled))
    }

    private func decide(
        about watcher: RuleWatcher, by policy: Policy, _ unruled: UnruledHandling, reasons: Int = 0, at now: Instant
    ) -> Decision {
        policy.rules.decide(
            watcher, in: DecisionContext(now: now, sphere: sphere(policy.key, now), unruled: unruled), reasons: reasons)
    }

    private static let noRules = CompiledRules(nil)

    /// The access of a watcher; nil: it sees everything.
    /// - Parameter isWatching: whether the watcher is to follow later changes of the decision.
    func access(
        of watcher: @autoclosure () -> RuleWatcher, to key: String, _ uri: SIPURI, isWatching: Bool, at now: Instant
    ) -> WatchAccess? {
        guard isNeeded, let unruled = configuration.domain(uri.domainKey)?.unruledHandling else { return nil }
        guard let policy = policies[key] else {
            switch unruled {
            case .allow: return nil
            case .confirm: return .confirm
            case .block: return .block
            }
        }
        let decision = decide(about: watcher(), by: policy, unruled, at: now)
        if isWatching {
            policy.note(decision)
            schedule(policy)
        }
        switch decision.handling {
        case .block: return .block
        case .confirm: return .confirm
        case .politeBlock: return .politeBlock
        case .allow: return decision.grants == .everything ? nil : policy.access(to: decision.grants)
        }
    }

    /// Begins to decide about all watchers of a presentity again.
    func beginReview(of key: String) {
        guard let policy = policies[key] else { return }
        policy.beginReview()
        schedule(policy)
    }

    /// Whether the access of a watcher may depend on the sphere of the presentity.
    func dependsOnSphere(_ key: String) -> Bool { isNeeded && policies[key]?.dependsOnSphere == true }

    /// The presentity of a timer; nil: its documents were replaced.
    func presentity(of ticket: Ticket) -> String? { named[ticket.key]?.key }

    private func schedule(_ policy: Policy) {
        guard policy.due != nil || policy.ticket != nil else { return }
        let ticket = policy.ticket ?? Ticket(.presentities, kind: Self.ticketKind, named.insert(policy))
        policy.ticket = ticket
        timers.set(ticket, at: policy.due)
    }
}

extension RuleWatcher {
    /// The watcher of a dialog; anonymous if it asked for privacy of its identity (RFC 3325 9.3).
    init(_ identity: WatcherIdentity, hidesIdentity: Bool) {
        let uri = hidesIdentity ? nil : SIPURI("sip:" + identity.address.text)
        self = uri.map { RuleWatcher($0) } ?? .anonymous
    }
}
