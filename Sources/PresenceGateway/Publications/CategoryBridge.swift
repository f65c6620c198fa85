import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents
import XMLCore

/// Relays what standard clients of a user of an enterprise domain publish with PUBLISH (RFC 3903 6) to that domain as category
/// publications (MS-PRES 3.2.4) of this gateway's endpoint.
///
///     PUBLISH --> entity-tags, documents --composed into own instances--> SERVICE --> home server
///         200 <-- the home server accepted all instances
///     503, 504 <-- otherwise: the entity-tag and its document are unchanged
///
///     free --PUBLISH--> publishing --home server has all instances--> committed, 200 --> the next queued PUBLISH
///      ^                  |--refused, pause, wait over--> publications unchanged, refusal
///      +-- expiry,        \--not stored--> the publications before; the current PUBLISH is queued again
///          timed elements
///
/// One PUBLISH is processed at a time, since each may need the entity-tag of the previous one; the others are queued. Inputs return the
/// actions that the gateway carries out, in their order.
final class CategoryBridge {
    let key: String
    let uri: SIPURI
    /// Names the bridge to the kernel; nil: it has no timer and sent no request.
    private(set) var ticket: Ticket?
    /// Acknowledged publications.
    private(set) var publications: Publications
    private(set) var client: CategoryPublicationClient
    private(set) var queue: [Held] = []
    /// The PUBLISH in progress.
    private(set) var current: Change?
    /// Number of the newest request; responses to earlier ones are ignored.
    private(set) var attempt: UInt64 = 0
    private(set) var dialogContext: DialogContext
    /// Next time at which an element of the composed document begins or ends; nil: none does.
    private(set) var nextTimedMoment: Instant?
    /// Whether the home server returned a state of its own in a container for watchers (MS-PRES 3.8.5.1.2.7).
    private(set) var homeComputesState: Bool
    /// Number of acknowledged changes that are not stored yet.
    private(set) var unstoredChanges = 0

    /// Publications with their entity-tags.
    struct Publications: Equatable {
        var table: PublicationTable
        /// By entity-tag.
        var sources: [String: Source] = [:]

        /// Adds a publication of an earlier process.
        mutating func restore(_ source: Source, as tag: String) {
            sources[tag] = source
            table.restore(EntityTag(tag), until: source.until)
        }

        /// Removes expired publications (RFC 3903 6.4).
        /// - Returns: whether there were any.
        fileprivate mutating func lapse(at now: Instant) -> Bool {
            let lapsed = table.advance(to: now)
            for tag in lapsed { sources[tag.value] = nil }
            return !lapsed.isEmpty
        }

        /// Applies a PUBLISH with an operation that ``table`` has accepted (RFC 3903 6).
        /// - Parameter read: reads the body with the sequence number of a new source.
        fileprivate mutating func apply(
            _ outcome: Outcome, until: Instant, read: (UInt64) throws(Refusal) -> Source
        ) throws(Refusal) {
            let tag = outcome.tag.value
            let number = (sources.values.map(\.number).max() ?? 0) + 1
            switch outcome.operation {
            case .create: sources[tag] = try read(number)
            case .modify(let old, _):
                sources[old.value] = nil
                sources[tag] = try read(number)
            case .refresh(let old, _):
                sources[tag] = sources.removeValue(forKey: old.value)
                sources[tag]?.until = until
            case .remove(let old): sources[old.value] = nil
            case .nothing: break
            }
        }
    }

    /// One publication.
    struct Source: Equatable {
        /// Sequence number of the body; in a conflict the newest publication wins.
        var number: UInt64
        var arrived: Instant
        var document: [UInt8]
        /// The parsed document; nil: unreadable under the current limits, so nothing of it is shown.
        let presence: PIDFDocument?
        fileprivate(set) var until: Instant

        /// The same document, as `presence` under new limits.
        func renewed(_ presence: PIDFDocument?) -> Source {
            Source(number: number, arrived: arrived, document: document, presence: presence, until: until)
        }
    }

    struct Held: Equatable {
        var request: SIPRequest
        var transaction: ServerTransactionID?
        var until: Instant
    }

    /// The publications after a PUBLISH, applied once the home server accepts.
    struct Change: Equatable {
        let held: Held
        fileprivate(set) var publications: Publications
        let tag: EntityTag
        let expires: Int
    }

    /// Effect of a PUBLISH on the entity-tags.
    struct Outcome {
        var operation: PublicationTable.Operation
        var tag: EntityTag
        var expires: Int
    }

    /// Instances for the home server, and the next time at which they change by themselves.
    struct Composition: Equatable {
        var instances: [PublicationID: XMLFragment] = [:]
        var nextTimedMoment: Instant?
    }

    /// Maximum number of queued PUBLISH requests of one user; more are refused with 503.
    static let queueLimit = 32

    init(
        key: String, uri: SIPURI, publications: Publications, client: CategoryPublicationClient, dialogContext: DialogContext,
        homeComputesState: Bool = false
    ) {
        self.key = key
        self.uri = uri
        self.publications = publications
        self.client = client
        self.dialogContext = dialogContext
        self.homeComputesState = homeComputesState
    }

    /// Publications of the PUBLISH in progress, otherwise the acknowledged ones.
    var sources: [String: Source] { (current?.publications ?? publications).sources }

    /// Whether nothing is published, and nothing remains to be removed at the home server.
    var isIdle: Bool { publications.sources.isEmpty && queue.isEmpty && current == nil && client.isIdle && unstoredChanges == 0 }

    var nextDeadline: Instant? {
        let ofClient = client.nextDeadline.map { Instant($0) }
        // Expired publications are processed after the current request.
        let lapse = current == nil ? publications.table.nextDeadline : nil
        return [ofClient, lapse, nextTimedMoment, current?.held.until, queue.map(\.until).min()].compactMap(\.self).min()
    }

    /// Takes the name by which the kernel knows the bridge; nil: the kernel forgot it.
    func name(_ ticket: Ticket?) { self.ticket = ticket }

    // MARK: requests of clients

    /// Queues a PUBLISH and processes the queue.
    func receive(_ held: Held, _ environment: Environment) -> [Action] {
        queue.append(held)
        return work(environment)
    }

    /// Takes the loop markers and Max-Forwards of the newest client request.
    func follow(_ loopMarkers: String, maxForwards: Int) { dialogContext.follow(loopMarkers, maxForwards: maxForwards) }

    /// Notes that an acknowledged change is stored.
    func changeStored() { unstoredChanges = max(0, unstoredChanges - 1) }

    /// Takes over the stored publications after a failed commit of acknowledged changes; the clients got 503, and the home server is brought
    /// back to the stored state.
    func reload(_ stored: Publications, _ environment: Environment) -> [Action] {
        guard unstoredChanges > 0 else { return [] }
        unstoredChanges = 0
        publications = stored
        // The current request is repeated, because it is based on the discarded publications.
        if let current { queue.insert(current.held, at: 0) }
        current = nil
        requestPublications(environment)
        return work(environment)
    }

    /// Refuses all requests in progress.
    func refuseAll(_ cause: RefusalCause, _ environment: Environment) -> [Action] {
        let waiting = queue
        queue = []
        return waiting.map { .refuse($0, cause) } + giveUp(cause, environment)
    }

    /// Removes all publications.
    func withdraw(_ environment: Environment) -> [Action] {
        publications.sources = [:]
        client.request([:])
        return work(environment)
    }

    // MARK: home server

    /// Handles the response to the newest SERVICE, or its absence.
    func receiveAnswer(_ answer: Answer, _ environment: Environment) -> [Action] { answered(answer, environment) + work(environment) }

    /// Begins a request to the home server.
    func beginRequest() -> DialogContext {
        dialogContext.beginRequest()
        return dialogContext
    }

    /// Numbers a request that is repeated with credentials or after a redirection.
    func nextNumber() -> UInt32 { dialogContext.nextNumber() }

    /// Notes the Request-URIs that redirected the newest request.
    func noteRedirections(_ visited: Set<String>) { dialogContext.noteRedirections(visited) }

    // MARK: time and configuration

    /// Handles expiry, the end of waits and pauses, and timed elements.
    func advance(_ environment: Environment) -> [Action] {
        let now = environment.now
        var actions: [Action] = []
        if let current, current.held.until <= now { actions += giveUp(.timeout, environment) }
        let late = queue.filter { $0.until <= now }
        queue.removeAll { $0.until <= now }
        actions += late.map { .refuse($0, .timeout) }
        if let moment = nextTimedMoment, moment <= now { requestPublications(environment) }
        return actions + work(environment)
    }

    /// Passes the restored publications to the publication client; the first request follows in its turn.
    func resume(_ environment: Environment) { requestPublications(environment) }

    /// Applies a new configuration.
    /// - Parameters:
    ///   - isSamePlace: whether the domain's configuration is unchanged: the home server's pause continues unless the instances change.
    ///   - renew: parses the sources under the new limits.
    func reconfigure(isSamePlace: Bool, renew: (Source) -> Source, _ environment: Environment) -> [Action] {
        let before = client.requestedPublications.mapValues(\.body)
        publications.sources = publications.sources.mapValues(renew)
        if let change = current { current?.publications.sources = change.publications.sources.mapValues(renew) }
        requestPublications(environment)
        if !isSamePlace || client.requestedPublications.mapValues(\.body) != before { client.tryNow() }
        return work(environment)
    }

    // MARK: steps

    /// Processes expired publications and queued requests as far as possible now.
    private func work(_ environment: Environment) -> [Action] {
        var actions = lapse(environment)
        while current == nil, !queue.isEmpty {
            let held = queue.removeFirst()
            do throws(Refusal) {
                current = try change(held, environment)
            } catch {
                actions.append(.refuse(held, .request(error)))
                continue
            }
            requestPublications(environment)
            client.tryNow()
            actions += reconcile(environment)
        }
        return current == nil ? actions + reconcile(environment) : actions
    }

    /// Computes the publications after a request (RFC 3903 6).
    private func change(_ held: Held, _ environment: Environment) throws(Refusal) -> Change {
        var changed = publications
        let outcome = try environment.receive(held.request, &changed.table)
        let until = environment.now + .seconds(outcome.expires)
        try changed.apply(outcome, until: until) { number throws(Refusal) in try environment.read(held.request.body, number, until) }
        return Change(held: held, publications: changed, tag: outcome.tag, expires: outcome.expires)
    }

    /// Sends the next request for the difference between wanted and published instances, or finishes the current PUBLISH.
    private func reconcile(_ environment: Environment) -> [Action] {
        let moment = DateTime(environment.now)
        if let document = client.next(at: moment) {
            attempt += 1
            guard environment.isRoutable else { return answered(.refused(status: 404), environment) }
            return [.keep, .publish(document, attempt: attempt)]
        }
        guard let current, !client.isAsking else { return [] }
        if client.isSettled(at: moment) { return commit(current) }
        return giveUp(.paused(retryAfter: Int(clamping: client.pause(at: moment))), environment)
    }

    private func answered(_ answer: Answer, _ environment: Environment) -> [Action] {
        let moment = DateTime(environment.now)
        var actions: [Action] = [.keep]
        switch answer {
        case .accepted(let categories, let computesState):
            actions.append(.published)
            client.accepted(categories, at: moment)
            // A published state would contradict the computed one: the form changes, and the instances are published again at once.
            if computesState, !homeComputesState {
                homeComputesState = true
                actions.append(.computesState)
                requestPublications(environment)
            }
        case .conflict(let fault):
            actions.append(.conflict(stale: fault?.operations.count ?? 0))
            client.conflicted(fault, at: moment)
        case .unavailable(let retryAfter):
            client.failed(retryAfter: retryAfter, at: moment)
        case .refused(let status):
            actions.append(.refused(status: status))
            client.refused(isChallenge: [401, 407].contains(status), at: moment)
            actions += giveUp(.homeServer(status: status), environment)
        }
        return actions + reconcile(environment)
    }

    /// Applies and acknowledges the PUBLISH that the home server accepted.
    private func commit(_ change: Change) -> [Action] {
        current = nil
        publications = change.publications
        unstoredChanges += 1
        return [.acknowledge(change)]
    }

    /// Refuses the current PUBLISH without changing the publications, because the home server refused or its state is unknown. A removal is
    /// committed all the same, and the remaining instances are removed as soon as possible.
    private func giveUp(_ cause: RefusalCause, _ environment: Environment) -> [Action] {
        guard let change = current else { return [] }
        if change.expires == 0 { return commit(change) }
        current = nil
        requestPublications(environment)
        return [.refuse(change.held, cause)]
    }

    /// Passes the wanted instances to the publication client, those of the request in progress first, with the remaining lifetime of the
    /// longest-lived source.
    private func requestPublications(_ environment: Environment) {
        let composition = environment.compose(sources, homeComputesState)
        nextTimedMoment = composition.nextTimedMoment
        guard let until = sources.values.map(\.until).max() else {
            client.request([:])
            return
        }
        let life = max((until - environment.now).seconds + Self.margin, environment.leastLife)
        client.request(
            composition.instances.mapValues {
                CategoryPublicationClient.RequestedPublication(body: $0, expires: UInt32(clamping: life), until: DateTime(until))
            })
    }

    /// Seconds by which an instance outlives its source, so that it is removed explicitly rather than by expiry.
    private static let margin = 60

    /// Removes expired publications and their instances.
    private func lapse(_ environment: Environment) -> [Action] {
        guard current == nil, publications.lapse(at: environment.now) else { return [] }
        requestPublications(environment)
        client.tryNow()
        return [.keep]
    }
}
