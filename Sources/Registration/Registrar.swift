import SIPCore
import SIPEvents

/// The bindings of the users of one shard (RFC 3261 10.3, MS-SIPREGE 3.2): who is signed in where, and until when.
///
/// Pure: a REGISTER, a closed connection or the passing of time goes in; which bindings came and went comes out.
///
///     absent --REGISTER--> bound --REGISTER--> bound
///                            | Expires 0, expiry
///                            | connection closed --> lingering --REGISTER--> bound
///                            v                          | grace over
///                          ended <----------------------+
public struct Registrar: Sendable {
    public struct Policy: Hashable, Sendable {
        public var expiry: ExpiryPolicy
        /// Bindings of one user; beyond it 403.
        public var bindingsPerUser: Int
        /// Bindings of the shard; beyond it 503.
        public var bindings: Int
        /// How long a binding outlives the connection that it was made over.
        public var connectionGrace: TimeSpan

        public init(expiry: ExpiryPolicy, bindingsPerUser: Int, bindings: Int, connectionGrace: TimeSpan) {
            self.expiry = expiry
            self.bindingsPerUser = bindingsPerUser
            self.bindings = bindings
            self.connectionGrace = connectionGrace
        }
    }

    /// A binding that is no more.
    public struct Ended: Hashable, Sendable {
        public var binding: Binding
        /// The user has no binding left.
        public var isLast: Bool
    }

    /// What `presence-state` tells (MS-SIPREGE).
    public enum Action: String, Hashable, Sendable {
        case added, refreshed
    }

    public struct Outcome: Hashable, Sendable {
        /// nil: nothing was bound.
        public var action: Action?
        /// The endpoint was bound by a client that knows nothing of this one, as after a crash: the Call-ID is another one.
        public var isNewClient = false
        /// All bindings of the user, those of the request first.
        public var bindings: [Binding] = []
        public var ended: [Ended] = []
        /// Seconds granted; 0 when the request removed or asked.
        public var expires = 0
    }

    public var policy: Policy
    private var users: [String: [Binding]] = [:]
    private var connections: [ConnectionID: Set<Binding.Key>] = [:]
    private var deadlines = DeadlineQueue<Binding.Key>()
    public private(set) var count = 0

    public init(policy: Policy) { self.policy = policy }

    // MARK: questions

    /// The bindings of a user, oldest first.
    public func bindings(of user: String) -> [Binding] { users[user] ?? [] }

    /// The binding of an endpoint; nil when it is not registered.
    public func binding(of user: String, endpoint: EndpointID) -> Binding? { users[user]?.first { $0.endpoint == endpoint } }

    /// Every binding, for a store; in no order.
    public var all: [Binding] { users.values.flatMap { $0 } }

    // MARK: REGISTER

    /// Does what a REGISTER asks, whole or not at all.
    public mutating func register(
        _ request: RegistrationRequest, user: String, from source: MessageSource, at now: Instant
    ) throws(RegistrationRefusal) -> Outcome {
        var outcome = Outcome()
        switch request.wish {
        case .query:
            break
        case .removeAll:
            for binding in bindings(of: user) { try Self.checkOrder(request, after: binding) }
            for binding in bindings(of: user) { outcome.ended.append(end(binding)) }
        case .bind(let wanted):
            let grants = try check(wanted, request, user: user)
            for (requested, granted) in zip(wanted, grants) {
                apply(requested, granted: granted, request, user: user, source, at: now, to: &outcome)
            }
        }
        outcome.bindings += bindings(of: user).filter { !outcome.bindings.contains($0) }
        return outcome
    }

    /// Everything that can forbid the request; what it grants to each Contact.
    private func check(
        _ wanted: [RegistrationRequest.Requested], _ request: RegistrationRequest, user: String
    ) throws(RegistrationRefusal) -> [Int] {
        var grants: [Int] = []
        var additions = 0
        for requested in wanted {
            let known = find(requested, of: user)
            if let known { try Self.checkOrder(request, after: known) }
            switch policy.expiry.decide(requested.expires) {
            case .tooBrief(let minimum):
                var refusal = RegistrationRefusal(.intervalTooBrief, "RFC 3261 10.3: interval below the minimum")
                refusal.minimumExpires = minimum
                throw refusal
            case .grant(let seconds):
                grants.append(seconds)
                if seconds > 0, known == nil { additions += 1 }
            }
        }
        if additions > 0, bindings(of: user).count + additions > policy.bindingsPerUser {
            throw RegistrationRefusal(.forbidden, "more than \(policy.bindingsPerUser) endpoints of one user")
        }
        if additions > 0, count + additions > policy.bindings {
            throw RegistrationRefusal(.serviceUnavailable, "too many registrations on this node")
        }
        return grants
    }

    /// A request of the same client that is not newer than the last one is out of order (RFC 3261 10.3 step 7).
    private static func checkOrder(_ request: RegistrationRequest, after binding: Binding) throws(RegistrationRefusal) {
        guard request.callID == binding.callID, request.cSeq <= binding.cSeq else { return }
        throw RegistrationRefusal(.serverInternalError, "RFC 3261 10.3: CSeq is out of order")
    }

    private func find(_ requested: RegistrationRequest.Requested, of user: String) -> Binding? {
        if let endpoint = requested.endpoint { return binding(of: user, endpoint: endpoint) }
        return bindings(of: user).first { $0.endpoint == nil && $0.contact.uri.isEquivalent(to: requested.contact.uri) }
    }

    private mutating func apply(
        _ requested: RegistrationRequest.Requested, granted: Int, _ request: RegistrationRequest, user: String, _ source: MessageSource,
        at now: Instant, to outcome: inout Outcome
    ) {
        let known = find(requested, of: user)
        guard granted > 0 else {
            if let known { outcome.ended.append(end(known)) }
            return
        }
        let binding = Binding(
            user: user, endpoint: requested.endpoint, contact: requested.contact, callID: request.callID, cSeq: request.cSeq,
            expiry: now + .seconds(granted), source: source)
        if let known { remove(known) }
        outcome.isNewClient = outcome.isNewClient || known.map { $0.callID != request.callID } ?? false
        insert(binding)
        outcome.action = known == nil ? .added : outcome.action ?? .refreshed
        outcome.expires = max(outcome.expires, granted)
        outcome.bindings.append(binding)
    }

    // MARK: ends

    /// The users who have bindings, in no order.
    public var boundUsers: [String] { Array(users.keys) }

    /// Ends every binding of a user who may have none any more (MS-PRES 1.3.1.3.10: administrative offline).
    public mutating func endAll(of user: String) -> [Ended] { bindings(of: user).map { end($0) } }

    /// A connection closed: what was bound over it ends after the grace, unless it registers again.
    public mutating func connectionClosed(_ connection: ConnectionID, at now: Instant) {
        for key in connections.removeValue(forKey: connection) ?? [] {
            guard let index = users[key.user]?.firstIndex(where: { $0.key == key }) else { continue }
            users[key.user]?[index].goneAt = now + policy.connectionGrace
            if let binding = users[key.user]?[index] { deadlines.set(key, at: binding.deadline) }
        }
    }

    /// When ``advance(to:)`` next has something to do.
    public var nextDeadline: Instant? {
        mutating get { deadlines.next }
    }

    /// Ends what has expired.
    public mutating func advance(to now: Instant) -> [Ended] {
        var ended: [Ended] = []
        while let key = deadlines.popDue(at: now) {
            guard let binding = users[key.user]?.first(where: { $0.key == key }) else { continue }
            ended.append(end(binding))
        }
        return ended
    }

    /// Brings a stored binding back.
    public mutating func restore(_ binding: Binding) {
        if let known = users[binding.user]?.first(where: { $0.key == binding.key }) { remove(known) }
        insert(binding)
    }

    /// Puts a user's bindings back to what they were.
    public mutating func reset(_ user: String, to former: [Binding]) {
        for binding in bindings(of: user) { remove(binding) }
        for binding in former { insert(binding) }
    }

    // MARK: tables

    private mutating func end(_ binding: Binding) -> Ended {
        remove(binding)
        return Ended(binding: binding, isLast: users[binding.user] == nil)
    }

    private mutating func insert(_ binding: Binding) {
        users[binding.user, default: []].append(binding)
        count += 1
        if let connection = binding.source.connection { connections[connection, default: []].insert(binding.key) }
        deadlines.set(binding.key, at: binding.deadline)
    }

    private mutating func remove(_ binding: Binding) {
        let key = binding.key
        guard let index = users[key.user]?.firstIndex(where: { $0.key == key }) else { return }
        users[key.user]?.remove(at: index)
        if users[key.user]?.isEmpty == true { users[key.user] = nil }
        count -= 1
        deadlines.set(key, at: nil)
        guard let connection = binding.source.connection else { return }
        connections[connection]?.remove(key)
        if connections[connection]?.isEmpty == true { connections[connection] = nil }
    }
}
