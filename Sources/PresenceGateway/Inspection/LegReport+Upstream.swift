import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

extension LegReport {
    /// Creates the report of an upstream subscription for one of its resources.
    /// - Parameter hopMarks: the loop markers of its SUBSCRIBE.
    init(_ leg: UpstreamSubscription, _ resource: UpstreamResource?, hopMarks: String) {
        self.init(
            side: leg.domain.side.rawValue, route: leg.domain.hop.description, format: leg.format.rawValue,
            shape: leg.shape.name, resources: leg.resources.count, target: leg.target.description, callID: leg.callID,
            localTag: leg.localTag, remoteTag: leg.dialog?.id.remoteTag,
            state: leg.restsUntil != nil ? .resting : leg.startsAt == nil ? State(leg.subscriber.standing) : .queued,
            unverifiedSince: leg.unverifiedSince(resource).map { DateTime($0) }, restoredAt: leg.restoredAt.map { DateTime($0) },
            unreadable: resource?.unreadable?.problem,
            refreshesAt: leg.subscriber.asksAt.map { DateTime($0) },
            lapsesAt: leg.subscriber.lapsesAt.map { DateTime($0) },
            retriesAt: (leg.subscriber.restsUntil ?? leg.restsUntil ?? leg.startsAt).map { DateTime($0) },
            failures: leg.subscriber.failures,
            standing: resource?.standing.name ?? "unheard", staleAt: resource?.staleAt.map { DateTime($0) },
            whenLost: leg.domain.configuration.whenLost.rawValue,
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

extension UpstreamResource.Standing {
    fileprivate var name: String {
        switch self {
        case .unheard: "unheard"
        case .active: "active"
        case .pending: "pending"
        }
    }
}

extension LegReport.State {
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

extension Gateway {
    /// Adds an event of an upstream subscription, or of one of its resources, to the journal.
    func note(
        _ event: JournalEntry.Event, _ leg: UpstreamSubscription, _ resource: UpstreamResource? = nil, status: Int? = nil,
        rule: @autoclosure () -> String, at now: Instant
    ) {
        note(
            event, watcher: leg.watcher.aorKey, presentity: (resource ?? leg.only)?.key ?? "", callID: leg.callID, status: status,
            rule: rule(), at: now)
    }

    func note(_ event: JournalEntry.Event, _ leg: UpstreamSubscription, _ failure: Subscriber.Failure, at now: Instant) {
        note(event, leg, status: failure.status, rule: failure.words, at: now)
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
