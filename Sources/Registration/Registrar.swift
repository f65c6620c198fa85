import SIPCore
import SIPEvents

/// The bindings of the users of one shard (RFC 3261 10.3, MS-SIPREGE 3.2).
///
/// Pure: inputs are REGISTER requests, closed connections and the time; results are the added and ended bindings.
///
///     absent --REGISTER--> bound --REGISTER--> bound
///                            | Expires 0, expiry
///                            | connection closed --> lingering --REGISTER--> bound
///                            v                          | grace over
///                          ended <----------------------+
public struct Registrar: Sendable {
    /// Limits of a registrar; a change applies to later requests.
    public struct Policy: Hashable, Sendable {
        /// Minimum, maximum and default interval.
        public var expiry: ExpiryPolicy
        /// Largest number of bindings of one user; 403 beyond it.
        public var bindingsPerUser: Int
        /// Largest number of bindings of the shard; 503 beyond it.
        public var bindings: Int
        /// How long a binding outlives its connection.
        public var connectionGrace: TimeSpan

        /// Creates a policy.
        public init(expiry: ExpiryPolicy, bindingsPerUser: Int, bindings: Int, connectionGrace: TimeSpan) {
            self.expiry = expiry
            self.bindingsPerUser = bindingsPerUser
            self.bindings = bindings
            self.connectionGrace = connectionGrace
        }
    }

    /// A binding that ended.
    public struct Ended: Hashable, Sendable {
        /// The binding as it was.
        public var binding: Binding
        /// Whether the user has no binding left.
        public var isLast: Bool
    }

    /// The value of `presence-state` in the response (MS-SIPREGE).
    public enum Action: String, Hashable, Sendable {
        case added, refreshed
    }

    /// The result of a REGISTER.
    public struct Outcome: Hashable, Sendable {
        /// `added` or `refreshed`; nil if nothing was bound.
        public var action: Action?
        /// Whether the endpoint was bound with another Call-ID before: the client restarted and has lost its state.
        package var isNewClient = false
        /// All bindings of the user, those of the request first.
        public var bindings: [Binding] = []
        /// Bindings that the request removed.
        package var ended: [Ended] = []
        /// The longest granted interval in seconds; 0 for a removal or a query.
        public var expires = 0
    }

    /// The limits in force.
    public var policy: Policy
    private var users: [String: [Binding]] = [:]
    private var connections: [ConnectionID: Set<Binding.Key>] = [:]
    private var deadlines = DeadlineQueue<Binding.Key>()
    /// Number of bindings of all users.
    public private(set) var count = 0

    /// Creates a registrar without bindings.
    public init(policy: Policy) { self.policy = policy }

    // MARK: Queries

    /// The bindings of a user in the order of their last REGISTER or of ``restore(_:)``; empty for an unknown user.
    public func bindings(of user: String) -> [Binding] { users[user] ?? [] }

    /// The binding of an endpoint; nil if it is not registered.
    public func binding(of user: String, endpoint: EndpointID) -> Binding? { users[user]?.first { $0.endpoint == endpoint } }

    /// All bindings in no particular order.
    public var all: [Binding] { users.values.flatMap { $0 } }

    // MARK: REGISTER

    /// Applies a REGISTER completely, or refuses it and changes nothing.
    /// - Throws: 423 below the minimum interval, 403 or 503 at a limit of ``Policy``, 500 for a CSeq that is out of order.
    public mutating func register(
        _ request: RegistrationRequest, user: String, from source: MessageSource, at now: Instant
    ) throws(RegistrationRefusal) -> Outcome {
        var outcome = Outcome()
        switch request.operation {
        case .query:
            break
        case .removeAll:
            for binding in bindings(of: user) { try Self.checkOrder(request, after: binding) }
            for binding in bindings(of: user) { outcome.ended.append(end(binding)) }
        case .bind(let wanted):
            let grants = try check(wanted, request, user: user)
            var added: Set<Binding.Key> = []
            for (requested, granted) in zip(wanted, grants) {
                apply(requested, granted: granted, request, user: user, source, at: now, added: &added, to: &outcome)
            }
            outcome.expires = outcome.bindings.map { Int(($0.expiry - now).seconds) }.max() ?? 0
            if !outcome.bindings.isEmpty { outcome.action = added.isEmpty ? .refreshed : .added }
        }
        outcome.bindings += bindings(of: user).filter { !outcome.bindings.contains($0) }
        return outcome
    }

    /// Checks everything that can refuse the request, and returns the granted interval of each Contact in seconds.
    private func check(
        _ wanted: [RegistrationRequest.Requested], _ request: RegistrationRequest, user: String
    ) throws(RegistrationRefusal) -> [Int] {
        var grants: [Int] = []
        var additions: [RegistrationRequest.Requested] = []
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
                // One more than allowed is enough to know: the client chooses the number of Contacts.
                guard seconds > 0, known == nil, additions.count <= policy.bindingsPerUser else { continue }
                if !additions.contains(where: { Self.isSameBinding($0, requested) }) { additions.append(requested) }
            }
        }
        if !additions.isEmpty, bindings(of: user).count + additions.count > policy.bindingsPerUser {
            throw RegistrationRefusal(.forbidden, "more than \(policy.bindingsPerUser) endpoints of one user")
        }
        if !additions.isEmpty, count + additions.count > policy.bindings {
            throw RegistrationRefusal(.serviceUnavailable, "too many registrations on this node")
        }
        return grants
    }

    /// Refuses a request that repeats the Call-ID of the binding without a higher CSeq (RFC 3261 10.3 step 7).
    private static func checkOrder(_ request: RegistrationRequest, after binding: Binding) throws(RegistrationRefusal) {
        guard request.callID == binding.callID, request.cSeq <= binding.cSeq else { return }
        throw RegistrationRefusal(.serverInternalError, "RFC 3261 10.3: CSeq is out of order")
    }

    /// Whether two Contacts of a request are of one binding; by URI without an endpoint (RFC 3261 10.3).
    private static func isSameBinding(_ one: RegistrationRequest.Requested, _ other: RegistrationRequest.Requested) -> Bool {
        guard one.endpoint == other.endpoint else { return false }
        return one.endpoint != nil || one.contact.uri.isEquivalent(to: other.contact.uri)
    }

    private func find(_ requested: RegistrationRequest.Requested, of user: String) -> Binding? {
        if let endpoint = requested.endpoint { return binding(of: user, endpoint: endpoint) }
        return bindings(of: user).first { $0.endpoint == nil && $0.contact.uri.isEquivalent(to: requested.contact.uri) }
    }

    /// Applies one Contact. A binding of an earlier Contact of the same request is replaced or ended like any other, also in the
    /// outcome (RFC 3261 10.3).
    /// - Parameter added: The bindings that the request has added so far.
    private mutating func apply(
        _ requested: RegistrationRequest.Requested, granted: Int, _ request: RegistrationRequest, user: String, _ source: MessageSource,
        at now: Instant, added: inout Set<Binding.Key>, to outcome: inout Outcome
    ) {
        let known = find(requested, of: user)
        let isAdded = known.map { added.remove($0.key) != nil } ?? true
        if let known { outcome.bindings.removeAll { $0.key == known.key } }
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
        if isAdded { added.insert(binding.key) }
        outcome.bindings.append(binding)
    }

    // MARK: Ends

    /// The keys of the users that have bindings, in no particular order.
    package var boundUsers: [String] { Array(users.keys) }

    /// Ends all bindings of a user (MS-PRES 1.3.1.3.10: administrative offline).
    package mutating func endAll(of user: String) -> [Ended] { bindings(of: user).map { end($0) } }

    /// Marks the bindings of a closed connection to end after ``Policy/connectionGrace`` unless the endpoint registers
    /// again.
    public mutating func connectionClosed(_ connection: ConnectionID, at now: Instant) {
        for key in connections.removeValue(forKey: connection) ?? [] {
            guard let index = users[key.user]?.firstIndex(where: { $0.key == key }) else { continue }
            users[key.user]?[index].goneAt = now + policy.connectionGrace
            if let binding = users[key.user]?[index] { deadlines.set(key, at: binding.deadline) }
        }
    }

    /// Time at which ``advance(to:)`` has work; nil without bindings.
    public var nextDeadline: Instant? {
        mutating get { deadlines.next }
    }

    /// Ends the bindings that are due, and returns them.
    public mutating func advance(to now: Instant) -> [Ended] {
        var ended: [Ended] = []
        while let key = deadlines.popDue(at: now) {
            guard let binding = users[key.user]?.first(where: { $0.key == key }) else { continue }
            ended.append(end(binding))
        }
        return ended
    }

    /// Adds a stored binding; replaces a binding of the same endpoint or Contact.
    package mutating func restore(_ binding: Binding) {
        if let known = users[binding.user]?.first(where: { $0.key == binding.key }) { remove(known) }
        insert(binding)
    }

    /// Replaces the bindings of a user with former ones, to undo a request that could not be stored.
    package mutating func reset(_ user: String, to former: [Binding]) {
        for binding in bindings(of: user) { remove(binding) }
        for binding in former { insert(binding) }
    }

    // MARK: Tables

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
