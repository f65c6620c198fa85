import FederationRouting
import SIPCore
import SIPEvents

/// Tables of the upstream subscriptions: by number and tag, by domain and server, and open batches.
///
///     make --insert--> known --begin--> found by its tag --remove--> gone
///            open --> other presentities join --close--> no others join
final class Upstream {
    private var table = UpstreamTable()
    /// By the local tag of the current or last attempt.
    private var byTag: [String: UpstreamSubscription] = [:]
    private var domains: [UpstreamDomain.Key: UpstreamDomain] = [:]
    /// Batches that presentities can be added to; several if one is full.
    private var batches: [UpstreamBatchKey: [UpstreamSubscription]] = [:]
    private var lastNumber: UInt64 = 0

    private static let domainLimit = 10_000

    // MARK: lookup

    var count: Int { table.count }
    var isEmpty: Bool { table.isEmpty }
    var values: Dictionary<UInt64, UpstreamSubscription>.Values { table.values }
    /// Names of the domains with at least one upstream subscription.
    var domainNames: Dictionary<String, Set<UInt64>>.Keys { table.domains }

    /// Sizes of the tables, for the inspection of growth.
    var sizes: [String: Int] {
        [
            "upstreams": table.count, "upstreamsByTag": byTag.count, "batches": batches.count,
        ]
    }

    subscript(number: UInt64) -> UpstreamSubscription? { table[number] }

    subscript(tag tag: String) -> UpstreamSubscription? { byTag[tag] }

    /// Whether the subscription was inserted and not removed since.
    func contains(_ subscription: UpstreamSubscription) -> Bool { table[subscription.id] === subscription }

    func numbers(ofDomain name: String) -> Set<UInt64> { table.numbers(ofDomain: name) }

    /// Numbers of subscriptions with a last SUBSCRIBE accepted by this server.
    func numbers(atServer address: TransportAddress) -> Set<UInt64> { table.numbers(atServer: address) }

    // MARK: life

    /// Creates a subscription that is not in the tables yet.
    /// - Parameters:
    ///   - form: form of a single subscription; nil: the form of its domain.
    ///   - list: for a list only.
    func make(
        at address: UpstreamTarget, _ order: UpstreamOrder, form: UpstreamFormat?, list: UpstreamList?,
        policy: Subscriber.Configuration, at now: Instant
    ) -> UpstreamSubscription {
        let isBatch = address.shape == .batch
        let wanted = order.domain.form(at: now)
        var format = form ?? wanted
        if isBatch || format == .batch { format = .categories }
        lastNumber += 1
        let offersPartial = order.poll == nil && order.domain.takesPartial(at: now)
        return UpstreamSubscription(
            id: lastNumber, order, at: address,
            form: UpstreamForm(format, isBatch: isBatch, wanted: wanted, offersPartial: offersPartial), list: list,
            subscriber: Subscriber(policy))
    }

    func insert(_ subscription: UpstreamSubscription) {
        table[subscription.id] = subscription
        if !subscription.localTag.isEmpty { byTag[subscription.localTag] = subscription }
    }

    /// Starts an attempt of a subscription, with identifiers of its own.
    func begin(_ subscription: UpstreamSubscription, localTag: String, callID: String) {
        byTag[subscription.localTag] = nil
        subscription.attempt.begin(localTag: localTag, callID: callID)
        subscription.reset()
        insert(subscription)
    }

    /// Removes a subscription that is closed and uses no connection.
    func remove(_ subscription: UpstreamSubscription) {
        table[subscription.id] = nil
        byTag[subscription.localTag] = nil
    }

    /// Notes the server that accepted a SUBSCRIBE.
    func note(_ subscription: UpstreamSubscription, acceptedBy server: TransportAddress) {
        table.note(subscription, acceptedBy: server)
    }

    // MARK: batches

    /// Open batches and lists under a key.
    func open(_ key: UpstreamBatchKey) -> [UpstreamSubscription] { batches[key] ?? [] }

    /// Allows other presentities to join a batch.
    func open(_ subscription: UpstreamSubscription, as key: UpstreamBatchKey) {
        subscription.open(as: key)
        batches[key, default: []].append(subscription)
    }

    /// Excludes further presentities from a batch.
    func close(_ subscription: UpstreamSubscription) {
        guard let key = subscription.close() else { return }
        batches[key]?.removeAll { $0 === subscription }
        if batches[key]?.isEmpty ?? false { batches[key] = nil }
    }

    // MARK: domains

    /// Number of remembered domains.
    var domainCount: Int { domains.count }

    /// The domain object that upstream subscriptions share.
    func domain(_ name: String, _ configuration: DomainConfiguration, _ hop: NextHop) -> UpstreamDomain {
        let key = UpstreamDomain.Key(name: name, hop: hop)
        if let known = domains[key], known.configuration == configuration { return known }
        // Subscriptions keep their objects; `*` may cover any number of domains.
        if domains.count >= Self.domainLimit { domains = [:] }
        let domain = UpstreamDomain(name: name, configuration: configuration, hop: hop)
        domains[key] = domain
        return domain
    }

    /// Forgets the domains with another configuration now.
    func reconfigure(_ configuration: (String) -> DomainConfiguration?) {
        domains = domains.filter { configuration($0.key.name) == $0.value.configuration }
    }

    // MARK: samples

    /// The one of these subscriptions that others wait for already.
    func waitingSample(among numbers: [UInt64]) -> UpstreamSubscription? {
        numbers.lazy.compactMap { self.table[$0] }.first { $0.verification.sample != nil }
    }

    /// Chooses a subscription that can be refreshed: preferably one that was not verified within `pause`, even another at the same server.
    func sampleable(_ numbers: [UInt64], pause: TimeSpan, at now: Instant) -> UpstreamSubscription? {
        func isRested(_ subscription: UpstreamSubscription) -> Bool { subscription.verification.isRested(after: pause, at: now) }
        let fit = numbers.lazy.compactMap { self.table[$0] }.filter(\.isSampleable)
        if let rested = fit.first(where: isRested) { return rested }
        guard let first = fit.first else { return nil }
        guard let server = first.verification.server else { return first }
        return self.numbers(atServer: server).sorted().lazy.compactMap { self.table[$0] }.first { $0.isSampleable && isRested($0) } ?? first
    }

    /// The oldest subscription of a domain that expects NOTIFYs.
    func firstListening(ofDomain name: String) -> UpstreamSubscription? {
        self.numbers(ofDomain: name).lazy.compactMap { self.table[$0] }.filter(\.subscriber.isListening).min { $0.id < $1.id }
    }
}
