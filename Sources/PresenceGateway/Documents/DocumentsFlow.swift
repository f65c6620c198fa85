import EnhancedPresence
import PresenceDocuments
import SIPCore
import XCAP

/// XCAP documents of the users of a shard: requests come in as values, and responses leave once the changes that they depend on are
/// stored. It knows no HTTP and no credentials: the edge authenticates the user.
final class DocumentsFlow: ShardMember, Persistent, Inspectable {
    let kernel: GatewayKernel
    let context: ShardContext
    var homes = HomeDirectories()
    private let processor: XCAPProcessor?
    private unowned let policies: any ContainerPolicies
    private var rates = SearchRates()
    private var observers: [Observer] = []

    private struct Observer {
        weak var flow: (any DocumentObserver)?
    }

    init(_ kernel: GatewayKernel, _ context: ShardContext, _ policies: any ContainerPolicies) {
        self.policies = policies
        self.kernel = kernel
        self.context = context
        processor = context.configuration.xcapRoot.flatMap { XCAPRoot($0) }.map {
            XCAPProcessor(root: $0, usages: ApplicationUsage.offered)
        }
    }

    // MARK: requests

    /// Answers a request; the answer is passed on once, possibly after this call.
    func receive(_ request: DocumentRequest, at now: Instant, answer: @escaping (DocumentAnswer) -> Void) {
        counters.documentRequests += 1
        do throws(DocumentRefusal) {
            try checkRate(request, at: now)
            try perform(request, at: now, answer: answer)
        } catch {
            log(
                .debug, "document request refused", ["method": request.method, "status": String(error.answer.status), "rule": error.reason])
            answer(error.answer)
        }
    }

    private func checkRate(_ request: DocumentRequest, at now: Instant) throws(DocumentRefusal) {
        guard !rates.take(request.user, limit: configuration.limits.documentRequestsPerSecond, at: now) else { return }
        counters.documentRequestsRefused += 1
        throw DocumentRefusal(429, retryAfter: 1, "RFC 6585 4: more requests in this second than limits.document-requests-per-second")
    }

    private func perform(
        _ received: DocumentRequest, at now: Instant, answer: @escaping (DocumentAnswer) -> Void
    ) throws(DocumentRefusal) {
        guard let processor else { throw DocumentRefusal(404, "no documents are served here") }
        let request: XCAPRequest
        let usage: ApplicationUsage
        do throws(XCAPRefusal) {
            let method = XCAPMethod(rawValue: received.method)
            let resolved = try processor.resolve(method, target: received.target)
            usage = resolved.usage
            // RFC 7231 3.1.1.5: a whole document without Content-Type, as `curl -T` sends it, is taken as the type of its usage.
            let type = received.contentType ?? (resolved.uri.node == nil ? usage.mediaType : nil)
            request = XCAPRequest(
                method, resolved.uri, contentType: type,
                conditions: try XCAPConditions(ifMatch: received.ifMatch, ifNoneMatch: received.ifNoneMatch, limits: processor.limits),
                body: received.body)
        } catch {
            throw DocumentRefusal(error.response)
        }
        let owned = try checkOwner(request, of: received.user)
        do throws(Refusal) {
            try kernel.checkStore(changesNothing: owned.method == .get || owned.method == .head, at: now)
        } catch {
            throw DocumentRefusal(answer: DocumentAnswer(error), reason: error.explanation)
        }
        let response = try change(owned, usage, processor, of: received.user, at: now)
        let sent = DocumentAnswer(response)
        let reply = WaitingReply(send: { answer(sent) }, refuse: { answer(DocumentAnswer($0)) })
        kernel.reply(reply, in: CommitScope(received.user, received.user, ofDialog: nil))
    }

    /// The request with the canonical address of its user, which is the owner of the document.
    /// - Throws: 403 for the home directory of another user, whether that user exists or not, and for the union of all list services; 404
    ///   for users of other servers.
    private func checkOwner(_ request: XCAPRequest, of user: String) throws(DocumentRefusal) -> XCAPRequest {
        guard let named = request.uri.document.user else {
            guard request.uri.document.auid == ApplicationUsage.capabilities.auid else {
                throw DocumentRefusal(403, "RFC 4826 4.4.8: the union of all list services shows the lists of others")
            }
            return request
        }
        guard let uri = SIPURI(named.description), configuration.domain(of: uri)?.hosted == true,
            let owner = XUI(configuration.canonical(uri).aorKey)
        else { throw DocumentRefusal(404, "RFC 4825 6.2: the user is of no domain of this server") }
        guard owner.description == user else {
            throw DocumentRefusal(403, "RFC 4825 8: a user reaches the own home directory only")
        }
        var request = request
        request.uri.document.tree = .users(owner)
        return request
    }

    /// Performs a request and applies its change.
    private func change(
        _ request: XCAPRequest, _ usage: ApplicationUsage, _ processor: XCAPProcessor, of user: String, at now: Instant
    ) throws(DocumentRefusal) -> XCAPResponse {
        let place = HomeDirectories.Place(usage, request.uri.document)
        if place == .presenceRules, let memberships = policies.memberships(of: user) {
            return try changeMemberships(memberships, request, usage, processor, of: user, at: now)
        }
        let stored = document(request.uri.document, place, usage, processor, of: user)
        // Another shard may take a service URI between the check and the change; the repeated request then finds it taken.
        for _ in 0..<3 {
            let response = processor.perform(request, on: stored, usage: usage, facts: facts(for: user))
            var changed: StoredXCAPDocument?
            switch response.change {
            case .none: return response
            case .store(let document):
                try checkMeaning(of: document.octets, usage, of: user)
                changed = StoredXCAPDocument(
                    user: user, auid: place.auid, name: place.name, tag: document.tag.value, mediaType: usage.mediaType,
                    octets: document.octets)
                try checkRoom(for: document, at: place, of: user)
            case .remove: break
            }
            if usage.auid == ApplicationUsage.rlsServices.auid {
                guard context.serviceURIs.claim(serviceURIs(in: changed), of: user) else { continue }
            }
            apply(changed, place, of: user, at: now)
            return response
        }
        throw DocumentRefusal(503, retryAfter: 1, "service URIs of other users change too often")
    }

    /// Performs a request about the ruleset of a user whose watchers containers decide about.
    private func changeMemberships(
        _ memberships: [ContainerID: ContainerMembership], _ request: XCAPRequest, _ usage: ApplicationUsage, _ processor: XCAPProcessor,
        of user: String, at now: Instant
    ) throws(DocumentRefusal) -> XCAPResponse {
        func stored(_ octets: [UInt8]?) -> StoredDocument? {
            octets.map { StoredDocument(octets: $0, tag: EntityTag(of: $0, at: request.uri.document, after: nil)) }
        }
        let rules = ContainerRules(memberships, in: configuration)
        var response = processor.perform(request, on: stored(rules.octets), usage: usage, facts: facts(for: user))
        var octets: [UInt8]?
        switch response.change {
        case .none: return response
        case .store(let document): octets = document.octets
        case .remove: break
        }
        do {
            let changes = try rules.changes(to: octets)
            if !changes.isEmpty { try policies.change(changes, of: user, at: now) }
        } catch let conflict as XCAPConflict {
            throw DocumentRefusal(XCAPResponse(conflict))
        } catch let refusal as Refusal {
            throw DocumentRefusal(answer: DocumentAnswer(refusal), reason: refusal.explanation)
        } catch {
            throw DocumentRefusal(500, "\(error)")
        }
        counters.documentChanges += 1
        // What is shown next may differ from what was put: it is computed.
        if octets != nil {
            response.entityTag = stored(ContainerRules(policies.memberships(of: user) ?? [:], in: configuration).octets)?.tag
        }
        return response
    }

    /// The document of a request: computed, or the current one of the user.
    private func document(
        _ selector: DocumentSelector, _ place: HomeDirectories.Place, _ usage: ApplicationUsage, _ processor: XCAPProcessor,
        of user: String
    ) -> StoredDocument? {
        let computed: [UInt8]
        switch usage.auid {
        case ApplicationUsage.capabilities.auid: computed = XCAPCapabilities.document(of: processor.usages)
        case ApplicationUsage.directory.auid:
            guard let owner = selector.user else { return nil }
            let entries = homes.documents(of: user).map { document in
                XCAPDirectory.Entry(
                    document: DocumentSelector(auid: document.auid, tree: .users(owner), path: [document.name]),
                    tag: EntityTag(value: document.tag), size: document.octets.count)
            }
            computed = XCAPDirectory.document(of: entries, root: processor.root)
        default:
            return homes.current(place, of: user).map { StoredDocument(octets: $0.octets, tag: EntityTag(value: $0.tag)) }
        }
        return StoredDocument(octets: computed, tag: EntityTag(of: computed, at: selector, after: nil))
    }

    private func facts(for user: String) -> UsageFacts {
        let (configuration, directory, services) = (configuration, directory, context.serviceURIs)
        return UsageFacts(
            isServiceURITaken: { uri in
                let key = SIPURI(uri).map { configuration.canonical($0).aorKey } ?? uri
                return directory.names(key) || services.isTaken(key, byOthersThan: user)
            },
            isHosted: { configuration.domain($0)?.hosted == true })
    }

    /// Keys of the list services of a document, by the canonical names of domains; empty without a document.
    func serviceURIs(in document: StoredXCAPDocument?) -> Set<String> {
        guard let document else { return [] }
        return Set(
            RLSServicesIndex.serviceURIs(in: document.octets).map { uri in SIPURI(uri).map { configuration.canonical($0).aorKey } ?? uri })
    }

    /// Checks that presence rules have an effect: a rule that is kept without one would deceive its owner.
    private func checkMeaning(of octets: [UInt8], _ usage: ApplicationUsage, of user: String) throws(DocumentRefusal) {
        guard ApplicationUsage.isOfPresenceRules(usage.auid) else { return }
        guard let uri = SIPURI(user), configuration.domain(uri.domainKey)?.unruledHandling != nil else {
            throw DocumentRefusal(
                XCAPResponse(.constraint("RFC 5025 3: containers, and no presence rules, decide about the watchers of this user")))
        }
        do {
            _ = try PresenceRulesDocument.decode(octets)
        } catch {
            throw DocumentRefusal(XCAPResponse(.constraint("RFC 5025 3: \(error)")))
        }
    }

    /// Checks the limits of a user and of the shard before a document is stored.
    private func checkRoom(for document: StoredDocument, at place: HomeDirectories.Place, of user: String) throws(DocumentRefusal) {
        let others = homes.documents(of: user).filter { $0.auid != place.auid || $0.name != place.name }
        let isNew = homes.current(place, of: user) == nil
        let limits = configuration.limits
        var refusal: DocumentRefusal?
        if isNew, others.count >= limits.documentsPerUser {
            refusal = DocumentRefusal(413, "the user has limits.documents-per-user documents")
        } else if others.reduce(document.octets.count, { $0 + $1.octets.count }) > limits.documentBytesPerUser {
            refusal = DocumentRefusal(413, "the documents of the user would exceed limits.document-bytes-per-user")
        } else if isNew, homes.count >= limits.documents {
            refusal = DocumentRefusal(503, retryAfter: configuration.timing.retryAfter, "limits.documents is reached")
        }
        guard let refusal else { return }
        counters.limitsReached += 1
        throw refusal
    }

    private func apply(_ document: StoredXCAPDocument?, _ place: HomeDirectories.Place, of user: String, at now: Instant) {
        counters.documentChanges += 1
        homes.set(current: document, place, of: user)
        keep(.document(user: user, auid: place.auid, name: place.name))
        whenKept(at: now) { [weak self] moment in self?.noteStored(document, place, of: user, at: moment) }
    }

    // MARK: rules

    /// The ruleset that a user keeps, with changes that are not stored yet; nil: none.
    func currentRules(of user: String) -> [UInt8]? { homes.current(.presenceRules, of: user)?.octets }

    /// Replaces the ruleset of a user by request of the user's Microsoft client.
    /// - Throws: 413 and 503 for the limits of documents.
    func replaceRules(_ octets: [UInt8], of user: String, at now: Instant) throws(Refusal) {
        let place = HomeDirectories.Place.presenceRules
        guard let owner = XUI(user) else { throw .forbidden("RFC 4825 6.2: the user has no home directory", errorID: 2004) }
        let selector = DocumentSelector(auid: place.auid, tree: .users(owner), path: [place.name])
        let before = homes.current(place, of: user).map { EntityTag(value: $0.tag) }
        let document = StoredDocument(octets: octets, tag: EntityTag(of: octets, at: selector, after: before))
        do {
            try checkRoom(for: document, at: place, of: user)
        } catch {
            throw Refusal(error.answer.status == 413 ? .requestEntityTooLarge : .serviceUnavailable, error.reason, errorID: 2012)
        }
        apply(
            StoredXCAPDocument(
                user: user, auid: place.auid, name: place.name, tag: document.tag.value,
                mediaType: ApplicationUsage.omaPresenceRules.mediaType, octets: octets), place, of: user, at: now)
    }

    // MARK: other flows

    /// Notes the document that the store has, and tells the observers if it is another one.
    func noteStored(_ document: StoredXCAPDocument?, _ place: HomeDirectories.Place, of user: String, at now: Instant) {
        let isOther = homes.set(stored: document, place, of: user)
        if place.auid == ApplicationUsage.rlsServices.auid {
            // A later change may wait for its commit.
            context.serviceURIs.keep(
                only: serviceURIs(in: document).union(serviceURIs(in: homes.current(place, of: user))), of: user)
        }
        guard isOther else { return }
        for observer in observers { observer.flow?.documentChanged(auid: place.auid, name: place.name, of: user, at: now) }
    }

    /// Tells the observers which users have restored documents.
    func noteRestored() {
        for user in homes.users { for observer in observers { observer.flow?.documentsRestored(of: user) } }
    }

    func add(_ observer: any DocumentObserver) { observers.append(Observer(flow: observer)) }
}

/// Refusal of a document request, with a reason for logs.
private struct DocumentRefusal: Error {
    let answer: DocumentAnswer
    let reason: String

    init(answer: DocumentAnswer, reason: String) {
        self.answer = answer
        self.reason = reason
    }

    init(_ status: Int, retryAfter: Int? = nil, _ reason: String) {
        self.init(answer: DocumentAnswer(refusing: status, retryAfter: retryAfter), reason: reason)
    }

    init(_ response: XCAPResponse) { self.init(answer: DocumentAnswer(response), reason: response.reason ?? "") }
}
