import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// Relays what enterprise clients of a user of a simple domain publish with SERVICE (MS-PRES 3.2) to that domain's compositor as one
/// publication (RFC 3903 4).
///
///     SERVICE --> instances, versions, lifetimes --view of a watcher there--> PIDF --PUBLISH--> compositor
///        200 <-- the compositor accepted, or the wait ended: the state is kept, and PUBLISH is repeated until accepted
///        refusal <-- the compositor refused for good: the change is undone
///
///     settled --publish, another document--> held --published--> settled, 200
///        ^                                    |--postponed, wait over--> repeated, 200
///        |                                    |--refused, not stored--> undone, refusal
///        +--published-- retried <--refused, and no request is held: again after ``Environment/retryPause``
///
/// The instances and their versions are kept here: for its clients, this gateway is the user's presence server. Inputs return the actions
/// that the gateway carries out, in their order.
final class PIDFBridge {
    let key: String
    let uri: SIPURI
    /// Names the bridge to the kernel; nil: it has no timer and sent no request.
    private(set) var ticket: Ticket?
    /// The current instances.
    private(set) var enhanced: EnhancedPresentity
    /// The instances acknowledged to clients, restored after a refusal; equal to ``enhanced`` unless requests are held.
    private(set) var accepted: EnhancedPresentity
    private(set) var client: PublicationClient
    private(set) var document: RelayedDocument
    /// Number of the newest request; responses to earlier ones are ignored.
    private(set) var attempt: UInt64 = 0
    /// SERVICE requests that wait for the compositor.
    private(set) var held: [Held] = []
    /// Endpoints without a connection, with the time by which they must return.
    private(set) var leaving: [String: Instant] = [:]
    /// Time of the next attempt after a refusal or a restart.
    private(set) var retryAt: Instant?
    private(set) var dialogContext: DialogContext
    /// Number of changes that were acknowledged without a request and are not stored yet.
    private(set) var unstoredChanges = 0

    struct Held: Equatable {
        var request: SIPRequest
        var transaction: ServerTransactionID?
        /// The 200 with the committed versions.
        var response: SIPResponse
        /// The instances after the request, and the generation of the document that shows them.
        fileprivate(set) var enhanced: EnhancedPresentity
        var generation: UInt64
        var until: Instant
    }

    /// Maximum number of waiting SERVICE requests of one user; more are refused with 503.
    static let heldLimit = 32

    init(key: String, uri: SIPURI, enhanced: EnhancedPresentity, client: PublicationClient, dialogContext: DialogContext) {
        self.key = key
        self.uri = uri
        self.enhanced = enhanced
        accepted = enhanced
        self.client = client
        document = RelayedDocument()
        self.dialogContext = dialogContext
    }

    /// Restores a relayed publication of an earlier process.
    /// - Parameter endpoints: endpoints that must return until `returnBy`.
    convenience init(
        key: String, uri: SIPURI, enhanced: EnhancedPresentity, client: PublicationClient, dialogContext: DialogContext,
        acceptedDigest: UInt64?, endpoints: some Sequence<String>, returnBy: Instant
    ) {
        self.init(key: key, uri: uri, enhanced: enhanced, client: client, dialogContext: dialogContext)
        document = RelayedDocument(acceptedDigest: acceptedDigest)
        for endpoint in endpoints { leaving[endpoint] = returnBy }
    }

    /// Whether nothing is published, and nothing remains to be removed at the compositor.
    var isIdle: Bool { !isPublished && client.isIdle && held.isEmpty && unstoredChanges == 0 }

    /// Whether an instance published by a client is live; computed instances alone do not count.
    var isPublished: Bool { enhanced.pairs.contains { enhanced.instances(of: $0).contains { !$0.isComputed } } }

    /// Whether the compositor has the wanted state, and no request is outstanding.
    var isSettled: Bool { document.isShown && !client.isAsking && client.isWanted == (document.wanted != nil) }

    var nextDeadline: Instant? {
        let byTime = enhanced.nextDeadline.map { Instant($0) }
        return [byTime, client.nextDeadline, held.map(\.until).min(), leaving.values.min(), retryAt].compactMap(\.self).min()
    }

    /// Takes the name by which the kernel knows the bridge; nil: the kernel forgot it.
    func name(_ ticket: Ticket?) { self.ticket = ticket }

    // MARK: requests of clients

    /// Applies a publication of a client; it is answered at once if the compositor has the resulting document already.
    /// - Parameter answer: the 200 for the instances after the change.
    func publish(
        _ request: Request, _ environment: Environment, answer: (EnhancedPresentity, PresentityChange) -> SIPResponse
    ) throws(EnhancedPresenceRefusal) -> [Action] {
        let change = try enhanced.publish(request.document, by: request.sender, at: DateTime(environment.now))
        if let endpoint = request.endpoint { leaving[endpoint] = nil }
        let response = answer(enhanced, change)
        let generation = document.generation
        compose(environment)
        if isSettled {
            accepted = enhanced
            unstoredChanges += 1
            return [.keep, .accept(response, request.transaction)]
        }
        held.append(
            Held(
                request: request.request, transaction: request.transaction, response: response, enhanced: enhanced,
                generation: document.generation, until: request.until))
        guard generation != document.generation || !client.isAsking else { return [.keep] }
        return [.keep] + drive(environment)
    }

    /// Takes the loop markers and Max-Forwards of the newest client request.
    func follow(_ loopMarkers: String, maxForwards: Int) { dialogContext.follow(loopMarkers, maxForwards: maxForwards) }

    /// Notes that a change is stored that was acknowledged without a request.
    func changeStored() { unstoredChanges = max(0, unstoredChanges - 1) }

    /// Takes over the stored instances after a failed commit of changes that the compositor did not see.
    func reload(_ stored: EnhancedPresentity, _ environment: Environment) -> [Action] {
        guard unstoredChanges > 0 else { return [] }
        unstoredChanges = 0
        accepted = stored
        // Held requests are refused, which restores the accepted instances.
        guard held.isEmpty else { return [] }
        enhanced = stored
        let ended = endLives(environment)
        compose(environment)
        return isSettled ? ended : ended + drive(environment)
    }

    /// Answers all held requests: their changes are kept, and published as soon as the compositor accepts.
    func promiseHeld() -> [Action] { answerHeld(upTo: document.generation) }

    /// Replaces all instances with `empty` and removes the publication.
    func withdraw(leaving empty: EnhancedPresentity, _ environment: Environment) -> [Action] {
        enhanced = empty
        compose(environment)
        return drive(environment)
    }

    /// Applies a change of the configuration to the current instances, the acknowledged ones, and those of held requests.
    func forEachStanding(_ change: (inout EnhancedPresentity) -> Void) {
        change(&enhanced)
        change(&accepted)
        for index in held.indices { change(&held[index].enhanced) }
    }

    /// Starts the grace period of endpoints after their last connection closed.
    func endpointsLeft(_ endpoints: [String], returnBy: Instant) {
        for endpoint in endpoints { leaving[endpoint] = returnBy }
    }

    // MARK: compositor

    /// Handles the final response to the newest PUBLISH; `expires`, `minimumExpires` and `retryAfter` are in seconds.
    func receiveAnswer(
        status: Int, tag: EntityTag?, expires: Int?, minimumExpires: Int? = nil, retryAfter: Int? = nil, _ environment: Environment
    ) -> [Action] {
        take(
            client.receiveAnswer(
                status: status, tag: tag, expires: expires, minimumExpires: minimumExpires, retryAfter: retryAfter, at: environment.now),
            environment)
    }

    /// Handles a PUBLISH that was not answered.
    func publishFailed(_ environment: Environment) -> [Action] { take(client.publishFailed(at: environment.now), environment) }

    /// Undoes a publication that could not be stored: no request was sent, and the compositor has the previous state.
    func notStored(_ environment: Environment) -> [Action] {
        document.notSent()
        var actions = refuseHeld(.notStored, environment)
        actions += take(client.publishFailed(at: environment.now), environment)
        if document.wanted != nil, document.isShown {
            client.revert(at: environment.now)
        } else {
            actions += drive(environment)
        }
        return actions
    }

    /// Begins a request to the compositor.
    func beginRequest() -> DialogContext {
        dialogContext.beginRequest()
        return dialogContext
    }

    /// Numbers a request that is repeated with credentials or after a redirection.
    func nextNumber() -> UInt32 { dialogContext.nextNumber() }

    /// Notes the Request-URIs that redirected the newest request.
    func noteRedirections(_ visited: Set<String>) { dialogContext.noteRedirections(visited) }

    // MARK: time

    /// Handles expiry, the end of waits and pauses, and refreshes.
    func advance(_ environment: Environment) -> [Action] {
        let now = environment.now
        var actions = endLives(environment)
        let generation = document.generation
        compose(environment)
        if let due = held.map(\.until).min(), due <= now { actions += promiseHeld() }
        if let retryAt, retryAt <= now {
            actions += drive(environment)
        } else if generation != document.generation {
            actions += drive(environment)
        } else {
            actions += take(client.advance(to: now), environment)
        }
        return actions
    }

    /// Applies what ended while no process ran.
    func resume(_ environment: Environment) -> [Action] {
        let actions = endLives(environment)
        compose(environment)
        return actions
    }

    /// Plans the next attempt.
    func retry(at moment: Instant) { retryAt = moment }

    // MARK: steps

    /// Publishes the current document, or removes the publication if there is none.
    private func drive(_ environment: Environment) -> [Action] {
        retryAt = nil
        let actions = take(
            document.wanted == nil ? client.withdraw(at: environment.now) : client.publish(at: environment.now), environment)
        // There was no publication to remove.
        return client.isIdle ? actions + promiseHeld() : actions
    }

    private func take(_ steps: [PublicationClient.Action], _ environment: Environment) -> [Action] {
        var actions: [Action] = []
        for step in steps {
            switch step {
            case .publish(let tag, let hasBody, let expires):
                actions += publish(ifMatch: tag, hasBody: hasBody, expires: expires, environment)
            case .published:
                actions.append(.published)
                actions += answerHeld(upTo: document.published() ?? (client.isAsking ? 0 : document.generation))
            case .postponed(let until):
                document.postponed()
                actions.append(.postponed(until: until))
                actions += promiseHeld()
            case .refused(let status):
                actions += refused(status, environment)
            case .over:
                document.ended()
                actions += promiseHeld()
            }
        }
        return steps.allSatisfy(\.isRefresh) ? actions : actions + [.keep]
    }

    private func publish(ifMatch tag: EntityTag?, hasBody: Bool, expires: Int, _ environment: Environment) -> [Action] {
        attempt += 1
        guard environment.isRoutable else {
            return take(client.receiveAnswer(status: 404, tag: nil, expires: nil, at: environment.now), environment)
        }
        if hasBody || expires == 0 { document.send(isRemoval: !hasBody) }
        return [.publish(ifMatch: tag, body: hasBody ? document.wanted : nil, expires: expires, attempt: attempt)]
    }

    private func refused(_ status: Int, _ environment: Environment) -> [Action] {
        let tried = document.refused(isOver: client.entityTag == nil)
        var actions: [Action] = [.refused(status: status)]
        if !held.isEmpty {
            actions += refuseHeld(.compositor(status: status), environment)
            if document.wanted == nil { actions += take(client.withdraw(at: environment.now), environment) }
        } else if let tried, tried != document.generation {
            return actions + drive(environment)
        }
        // No client waits for the result; the remaining state is tried again at long intervals.
        if !isSettled { retryAt = environment.now + environment.retryPause }
        return actions
    }

    /// Renders the document; a difference starts a new generation.
    private func compose(_ environment: Environment) {
        guard let network = environment.network else { return }
        let elements = shown(to: network)
        document.compose(elements.isEmpty ? nil : environment.render(elements))
    }

    /// Answers every held request up to a generation with its 200.
    private func answerHeld(upTo generation: UInt64) -> [Action] {
        let ready = held.filter { $0.generation <= generation }
        held.removeAll { $0.generation <= generation }
        if let last = ready.last { accepted = last.enhanced }
        return ready.map { .answer($0.response, $0.transaction) }
    }

    /// Undoes the changes that were not acknowledged, and refuses all held requests.
    private func refuseHeld(_ cause: RefusalCause, _ environment: Environment) -> [Action] {
        let waiting = held
        held = []
        enhanced = accepted
        let ended = endLives(environment)
        compose(environment)
        return ended + waiting.map { .refuse($0.request, $0.transaction, cause) }
    }

    /// Removes expired instances, and those of endpoints that did not return in time (MS-PRES 3.2.5.5, 3.2.6.1).
    private func endLives(_ environment: Environment) -> [Action] {
        let moment = DateTime(environment.now)
        var isChanged = false
        forEachStanding { if !$0.expire(at: moment).isEmpty { isChanged = true } }
        let gone = leaving.filter { $0.value <= environment.now }.keys.sorted()
        for endpoint in gone {
            leaving[endpoint] = nil
            let isLast = leaving.isEmpty && environment.connected.isEmpty
            forEachStanding { _ = $0.endpointEnded(endpoint, isLast: isLast, at: moment) }
        }
        return isChanged || !gone.isEmpty ? [.keep] : []
    }
}

extension PublicationClient.Action {
    /// Whether the request only refreshes, which changes no stored state.
    fileprivate var isRefresh: Bool {
        if case .publish(_?, hasBody: false, let expires) = self { expires > 0 } else { false }
    }
}
