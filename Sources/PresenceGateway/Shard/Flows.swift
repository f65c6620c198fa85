import SIPCore

/// The numbers of the flows in tickets.
extension FlowID {
    static let border = FlowID(rawValue: 1)
    static let subscriptions = FlowID(rawValue: 2)
    static let presentities = FlowID(rawValue: 3)
    static let upstream = FlowID(rawValue: 4)
    static let publications = FlowID(rawValue: 5)
    static let homeServer = FlowID(rawValue: 6)
}

/// The flows of a shard; an object, so that an access costs one reference.
final class Flows {
    let border: BorderFlow
    let subscriptions: SubscriptionsFlow
    let presenceSubscriptions: PresenceSubscriptions
    let watcherInformation: WatcherInformation
    let presentities: PresentitiesFlow
    let upstream: UpstreamFlow
    let publications: PublicationsFlow
    let homeServer: HomeServerFlow
    let documents: DocumentsFlow
    /// Answers to the ports of the flows.
    private let answers: PortAnswers
    private let sources: PresenceSources
    let inspection: ShardInspection
    /// The flows with stored records, in the order of their steps after a restart and a failed commit.
    let persistent: [any Persistent]
    private(set) lazy var decidingDocuments = DecidingDocuments(self, answers.kernel, answers.context)
    private(set) lazy var ruleMembers = RuleMembers(self, answers.kernel, answers.context)
    private(set) lazy var withdrawnRights = WithdrawnRights(self, answers.kernel, answers.context)
    /// Answers to the kernel.
    private(set) lazy var host = FlowsHost(self, answers.kernel, answers.context)
    /// The flows by number, from 1.
    let clients: [any KernelClient]
    /// The flows that serve requests, in the order of Allow.
    var handlers = RequestHandlers()

    init(_ kernel: GatewayKernel, _ context: ShardContext) {
        let answers = PortAnswers(kernel, context)
        let sources = PresenceSources(kernel, context)
        border = BorderFlow(kernel, context, answers)
        subscriptions = SubscriptionsFlow(kernel, context, answers)
        presenceSubscriptions = PresenceSubscriptions(
            kernel, context, notifier: subscriptions, admission: sources, hosted: sources, remote: sources,
            keptLists: sources)
        homeServer = HomeServerFlow(kernel, context, answers)
        watcherInformation = WatcherInformation(kernel, context, notifier: subscriptions, admission: sources, sources: sources)
        subscriptions.use(.standard(presenceSubscriptions, watcherInformation, homeServer))
        presentities = PresentitiesFlow(kernel, context, answers)
        upstream = UpstreamFlow(kernel, context, answers)
        publications = PublicationsFlow(kernel, context, answers)
        documents = DocumentsFlow(kernel, context, answers)
        clients = [border.probes, subscriptions, presentities, upstream, publications, homeServer]
        persistent = [homeServer, documents, publications, presentities, subscriptions, upstream]
        inspection = ShardInspection(
            kernel, context,
            [subscriptions, presenceSubscriptions, watcherInformation, upstream, presentities, publications, homeServer, documents, border])
        (self.answers, self.sources) = (answers, sources)
        answers.connect(self)
        sources.connect(self)
        documents.add(decidingDocuments)
        handlers.add(subscriptions)
        handlers.add(upstream)
        handlers.add(publications)
        handlers.add(homeServer)
        handlers.add(OptionsHandler(answers))
    }

    /// The parts with steps in a restart, in their order.
    var restartMembers: [any RestartMember] { [withdrawnRights] + persistent }

    /// Handles a value of another shard.
    func receive(_ value: any Sendable, at now: Instant) {
        switch value as? WatchMessage {
        case .watch(let watch): presentities.remoteWatchers.begin(watch, at: now)
        case .unwatch(let watch): presentities.remoteWatchers.end(watch)
        case .views(let view): presenceSubscriptions.views.receive(view, at: now)
        case .refused(let watch, let refusal): presenceSubscriptions.views.refused(watch, refusal, at: now)
        case .rejected(let watch): presenceSubscriptions.views.rejected(watch, at: now)
        case .ended(let watch): presenceSubscriptions.views.ended(watch, at: now)
        case nil: break
        }
    }

    /// The stored record of a key; nil: nothing to store.
    func record(of key: StoreKey) -> StoreRecord? {
        for flow in persistent {
            if let record = flow.record(of: key) { return record }
        }
        return nil
    }
}
