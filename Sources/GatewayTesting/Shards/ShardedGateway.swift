import PresenceGateway
import SIPCore

/// All shards of a gateway process as one endpoint, as the event loops of a server drive them.
///
///     message --ShardRouter--> its shard          end of a connection, wall clock --> every shard
///     notice of a token, DNS answer --> the shard that sent the message, or asked
///     takeEnvelopes --carried by the owner, with any delay and in any order--> receive
package final class ShardedGateway: SansIOEndpoint {
    /// The shards by index.
    package let shards: [Gateway]
    private var router: ShardRouter
    /// Shards that wait for the answer to a question, in order.
    private var askers: [NameQuestion: [Int]] = [:]

    /// Shard and token of each message that was given a number in place of its token.
    private var senders: [UInt64: (shard: Int, token: UInt64)] = [:]
    private var lastNumber: UInt64 = 0

    /// - Parameters:
    ///   - shards: number of shards, at least 1.
    ///   - make: creates the shard with an index.
    package init(_ shards: Int = 1, make: (Int) -> Gateway) {
        self.shards = (0..<shards).map(make)
        router = ShardRouter(shards: shards, for: self.shards[0].configuration)
    }

    // MARK: SansIOEndpoint

    /// Gives a message to its shard.
    package func receive(_ message: InboundMessage, at now: Instant) {
        var message = message
        let shard = router.shard(of: &message)
        shards[shard].receive(message, at: now)
    }

    /// Gives a notice to the shards that it concerns.
    package func receive(_ notice: TransportNotice, at now: Instant) {
        switch notice {
        case .closed, .late:
            for shard in shards { shard.receive(notice, at: now) }
        case .carried(let number, let carrier):
            guard let (shard, token) = senders[number] else { return }
            shards[shard].receive(.carried(token: token, by: carrier), at: now)
        case .failed(let number, let reason):
            guard let (shard, token) = senders.removeValue(forKey: number) else { return }
            shards[shard].receive(.failed(token: token, reason: reason), at: now)
        case .answered(let question, _):
            guard askers[question]?.isEmpty == false, let asker = askers[question]?.removeFirst() else { return }
            shards[asker].receive(notice, at: now)
        }
    }

    /// Gives the wall clock to every shard.
    package func receive(wallClock: Instant, at now: Instant) {
        for shard in shards { shard.receive(wallClock: wallClock, at: now) }
    }

    /// Gives an envelope to its target.
    package func receive(_ envelope: ShardEnvelope, at now: Instant) { shards[envelope.target].receive(envelope, at: now) }

    /// Fires the due timers of every shard.
    package func advance(to now: Instant) {
        for shard in shards where shard.nextDeadline.map({ $0 <= now }) ?? false { shard.advance(to: now) }
    }

    /// Earliest deadline of a shard.
    package var nextDeadline: Instant? { shards.compactMap(\.nextDeadline).min() }

    /// The messages of all shards; their tokens are numbers of the process.
    package func takeOutput() -> [OutboundMessage] {
        shards.enumerated().flatMap { index, shard in
            shard.takeOutput().map { message in
                guard message.token != 0 else { return message }
                var message = message
                lastNumber += 1
                senders[lastNumber] = (index, message.token)
                message.token = lastNumber
                return message
            }
        }
    }

    /// The questions of all shards.
    package func takeQuestions() -> [NameQuestion] {
        shards.enumerated().flatMap { index, shard in
            let questions = shard.takeQuestions()
            for question in questions { askers[question, default: []].append(index) }
            return questions
        }
    }

    /// The envelopes of all shards.
    package func takeEnvelopes() -> [ShardEnvelope] { shards.flatMap { $0.takeEnvelopes() } }

    // MARK: life

    /// Restores every shard in slices of a quarter of its partitions; the shards take turns.
    @discardableResult
    package func restore(from store: (any GatewayStore)?, at now: Instant) throws(StoreFailure) -> RestoredState {
        guard let store else { return RestoredState() }
        try store.prepare(for: &router, at: now)
        for shard in shards { shard.beginRestart(slice: 1_024 / shards.count, at: now) }
        var restored = RestoredState()
        var turns = shards.map { (shard: $0, records: [StoreRecord]()) }[...]
        while let (shard, records) = turns.popFirst() {
            switch shard.continueRestart(with: records, at: now) {
            case .read(let kinds, let slice): turns.append((shard, try store.load(kinds, of: slice)))
            case .yield: turns.append((shard, []))
            case .done(let state): restored = restored + state
            }
        }
        return restored
    }

    /// Starts the keep-alive requests to partners.
    package func keepPartnersAlive(at now: Instant) { for shard in shards { shard.keepPartnersAlive(at: now) } }

    /// Applies a configuration.
    package func reconfigure(_ configuration: GatewayConfiguration, at now: Instant) {
        for shard in shards { shard.reconfigure(configuration, at: now) }
    }

    /// Users of the hosted domains.
    package var directoryState: DirectoryState { shards[0].directoryState }

    /// Replaces the users of the hosted domains.
    package func use(directory: DirectoryState, at now: Instant) { for shard in shards { shard.use(directory: directory, at: now) } }

    /// Begins to stop.
    package func shutdown(at now: Instant) { for shard in shards { shard.shutdown(at: now) } }

    /// Whether every shard has stopped.
    package var isDrained: Bool { shards.allSatisfy(\.isDrained) }

    // MARK: sums

    /// Sums of the numbers of all shards.
    package var counts: GatewayCounts {
        let fields: [WritableKeyPath<GatewayCounts, Int>] = [
            \.watcherDialogs, \.upstreamSubscriptions, \.presentities, \.publications, \.publicationBridges, \.registrations, \.homeDialogs,
            \.transactions, \.timers, \.watchedResources, \.pendingOutput, \.latenessMilliseconds, \.securityAssociations, \.tlsHandshakes,
            \.hopsDown, \.requestsWaiting, \.unverifiedUpstreams, \.storesFailing,
        ]
        return shards.map(\.counts).reduce(into: GatewayCounts()) { sum, part in
            for field in fields { sum[keyPath: field] += part[keyPath: field] }
        }
    }

    /// Sums of the table sizes of all shards.
    package var tableSizes: [String: Int] { shards.reduce(into: [:]) { $0.merge($1.tableSizes, uniquingKeysWith: +) } }

    /// Number of accepted responses.
    package var responsesReceived: UInt64 { shards.reduce(0) { $0 + $1.counters.responsesReceived } }

    /// Number of messages received and sent.
    package var messages: UInt64 {
        shards.map(\.counters).reduce(0) { $0 + $1.requestsReceived + $1.requestsSent + $1.responsesReceived + $1.responsesSent }
    }

    /// Whether a shard has a live subscription that matches.
    package func hasSubscription(matching filter: SubscriptionFilter, at now: Instant) -> Bool {
        shards.contains { !$0.subscriptions(matching: filter, limit: 1, at: now).rows.isEmpty }
    }
}
