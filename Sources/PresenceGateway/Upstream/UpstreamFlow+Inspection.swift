import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

extension UpstreamReport {
    /// Creates the report of an upstream subscription for one of its resources.
    /// - Parameter hopMarks: the loop markers of its SUBSCRIBE.
    init(_ subscription: UpstreamSubscription, _ resource: UpstreamResource?, hopMarks: String) {
        self.init(
            side: subscription.domain.side.rawValue, route: subscription.domain.hop.description, format: subscription.format.rawValue,
            shape: subscription.shape.name, resources: subscription.resources.count, target: subscription.target.description,
            callID: subscription.callID,
            localTag: subscription.localTag, remoteTag: subscription.dialog?.id.remoteTag,
            state: State(subscription),
            unverifiedSince: subscription.unverifiedSince(resource).map { DateTime($0) },
            restoredAt: subscription.verification.restoredAt.map { DateTime($0) },
            unreadable: resource?.unreadable?.problem,
            refreshesAt: subscription.subscriber.asksAt.map { DateTime($0) },
            lapsesAt: subscription.subscriber.lapsesAt.map { DateTime($0) },
            retriesAt: (subscription.subscriber.restsUntil ?? subscription.phase.deadline).map { DateTime($0) },
            failures: subscription.subscriber.failures,
            standing: resource?.authorization.name ?? "unheard", staleAt: resource?.staleAt.map { DateTime($0) },
            whenLost: subscription.domain.configuration.whenLost.rawValue,
            hopMarks: hopMarks.split(separator: ",").map { String($0.drop { $0 == " " }) })
    }
}

extension UpstreamSubscription.Shape {
    fileprivate var name: String {
        switch self {
        case .single: "single"
        case .batch: "batch"
        case .list: "list"
        }
    }
}

extension UpstreamResource.Authorization {
    fileprivate var name: String {
        switch self {
        case .unheard: "unheard"
        case .active: "active"
        case .pending: "pending"
        }
    }
}

extension UpstreamReport.State {
    fileprivate init(_ subscription: UpstreamSubscription) {
        switch subscription.phase {
        case .live: self.init(subscription.subscriber.standing)
        case .rests: self = .resting
        case .starts, .leaves, .moves: self = .queued
        }
    }

    fileprivate init(_ standing: Subscriber.Standing) {
        switch standing {
        case .idle: self = .queued
        case .asking: self = .asking
        case .waiting: self = .waiting
        case .established: self = .established
        case .refreshing: self = .refreshing
        case .resting: self = .resting
        case .leaving: self = .leaving
        case .over: self = .over
        }
    }
}

extension UpstreamFlow {
    var sizes: [String: Int] { upstreams.sizes.merging(verifier.sizes) { $1 } }

    var tables: [TableSize] {
        [TableSize(name: "upstream_subscriptions", entries: upstreams.count, limit: configuration.limits.upstreamSubscriptions)]
    }

    func count(in counts: inout GatewayCounts) {
        counts.upstreamSubscriptions = upstreams.count
        counts.unverifiedUpstreams = upstreams.values.count(where: { $0.doubtedSince != nil })
    }

    /// Adds an event of an upstream subscription, or of one of its resources, to the journal.
    func note(
        _ event: JournalEntry.Event, _ subscription: UpstreamSubscription, _ resource: UpstreamResource? = nil, status: Int? = nil,
        rule: @autoclosure () -> String, at now: Instant
    ) {
        note(
            event, watcher: subscription.watcher.aorKey, presentity: (resource ?? subscription.only)?.key ?? "",
            callID: subscription.callID, status: status,
            rule: rule(), at: now)
    }

    func note(_ event: JournalEntry.Event, _ subscription: UpstreamSubscription, _ failure: Subscriber.Failure, at now: Instant) {
        note(event, subscription, status: failure.status, rule: failure.words, at: now)
    }
}

extension Subscriber.Failure {
    fileprivate var status: Int? {
        if case .refused(let status) = self { status } else { nil }
    }

    /// Description for operators.
    var words: String {
        switch self {
        case .refused(let status): "the far side answered the SUBSCRIBE with \(status)"
        case .terminated(let reason): "the far side ended it: \(reason?.rawValue ?? "without a reason") (RFC 6665 4.1.3)"
        case .silent: "the far side did not answer, or sent no NOTIFY in time (RFC 6665 4.1.2)"
        case .lapsed: "it was not refreshed in time (RFC 6665 4.1.2.2)"
        }
    }
}
