import SIPCore

/// Next step of a restart.
package enum RestartStep: Hashable, Sendable {
    /// Read these records, and pass them on.
    case read(Set<StoreKind>, PartitionSlice)
    /// Continue; other work of the event loop may come first.
    case yield
    /// The restart is complete.
    case done(RestoredState)
}

/// Restart of a shard, in slices: at most the rows of one kind and slice are in memory beside the restored records, and the event loop
/// does other work between the steps.
///
///     phase --read--> records of a slice, by rank --restored--> next slice --...--> completed by every flow --> next phase
///
/// Phases go over all slices, because a dialog may show presentities of any partition of the shard. Until the restart is complete, messages
/// wait as in a socket that is not read; only OPTIONS is answered. Nothing is committed and no timer fires, because the tables are not whole.
final class ShardRestart: FlowsMember {
    let kernel: GatewayKernel
    let context: ShardContext
    /// All flows, which outlive it.
    unowned let flows: Flows
    private let slices: [PartitionSlice]
    private let members: [any RestartMember]
    /// The present phase, and how far it is.
    private var phases = RestartPhase.allCases[...]
    private var slicesRead = 0
    private var membersCompleted = 0
    /// Records of this phase and later ones, by rank, and the number of those that are restored.
    private var waiting: (records: [Ranked], restored: Int) = ([], 0)
    private var restart = Restart()
    /// Inputs that wait for the end of the restart, in order.
    private var held: [Input] = []

    private typealias Ranked = (record: StoreRecord, flow: any Persistent, rank: RestoreRank)

    /// Input of the shard.
    enum Input {
        case message(InboundMessage)
        case notice(TransportNotice)
        case envelope(ShardEnvelope)
    }

    /// - Parameter slices: the slices to read; empty: the caller passes all records in the first step.
    init(_ slices: [PartitionSlice], of flows: Flows, _ kernel: GatewayKernel, _ context: ShardContext) {
        self.slices = slices
        self.flows = flows
        members = flows.restartMembers
        self.kernel = kernel
        self.context = context
    }

    // MARK: steps

    /// Restores records, and continues until something is needed.
    func take(_ records: [StoreRecord], at now: Instant) -> RestartStep {
        add(records, at: now)
        while let phase = phases.first {
            if membersCompleted == 0 {
                let isWhole = phase.kinds.isEmpty || slicesRead == slices.count
                if isWhole || !phase.isOrderedAsWhole {
                    guard restoreWaiting(phase, at: now) else { return .yield }
                }
                guard isWhole else {
                    slicesRead += 1
                    return .read(phase.kinds, slices[slicesRead - 1])
                }
            }
            while membersCompleted < members.count {
                guard members[membersCompleted].complete(phase, &restart, at: now) else { return .yield }
                membersCompleted += 1
            }
            phases.removeFirst()
            (slicesRead, membersCompleted) = (0, 0)
        }
        return .done(restart.state)
    }

    /// Restores some records of a phase.
    /// - Returns: whether none is left.
    private func restoreWaiting(_ phase: RestartPhase, at now: Instant) -> Bool {
        let end = min(waiting.restored + Restart.stepLimit, waiting.records.count)
        while waiting.restored < end {
            let (record, flow, rank) = waiting.records[waiting.restored]
            guard rank.phase <= phase else { break }
            waiting.restored += 1
            if !flow.restore(record, &restart, at: now) { leaveOut(record.key) }
        }
        guard waiting.restored == waiting.records.count || waiting.records[waiting.restored].rank.phase > phase else { return false }
        // Frees the restored records.
        waiting = (Array(waiting.records[waiting.restored...]), 0)
        return true
    }

    /// Adds records with the flow of each; those of equal rank keep the order of the store.
    private func add(_ records: [StoreRecord], at now: Instant) {
        guard !records.isEmpty else { return }
        let ranked = records.compactMap { record in
            flows.persistent.lazy.compactMap { flow in flow.rank(of: record, at: now).map { (record: record, flow: flow, rank: $0) } }.first
        }
        let all = waiting.records[waiting.restored...] + ranked
        waiting = (all.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }.map(\.element), 0)
    }

    private func leaveOut(_ key: StoreKey) {
        restart.state.unreadable += 1
        log(.warning, "a stored record is left out", ["key": key.kind])
    }

    // MARK: inputs

    /// Keeps an input until the restart is complete, if it may depend on records.
    /// - Returns: false: it is to be processed now, because it is OPTIONS, or because too much waits; it is then refused.
    func hold(_ input: Input) -> Bool {
        switch input {
        case .message(var message):
            if case .success(.request(let request)) = message.parse(), request.method == .options { return false }
            guard held.count < configuration.limits.pendingOutput else {
                counters.limitsReached += 1
                return false
            }
            held.append(.message(message))
        case .notice(let notice):
            // The others are about messages sent meanwhile.
            guard case .closed = notice else { return false }
            held.append(input)
        case .envelope: held.append(input)
        }
        return true
    }

    /// Takes the inputs that wait, in order.
    func takeHeld() -> [Input] {
        defer { held = [] }
        return held
    }
}

extension RestartPhase {
    /// The records that are restored in the phase.
    fileprivate var kinds: Set<StoreKind> {
        switch self {
        case .users: [.presentity, .signOff, .registration, .contacts, .accessList, .bridge, .document]
        case .shownWatchers: [.shownWatcher]
        case .publications: [.publication]
        case .readyDialogs: [.otherDialog]
        case .upstreamSubscriptions: [.upstreamSubscription]
        case .fedDialogs: [.presenceDialog]
        case .expiry, .turns, .rights, .notifications, .registrations: []
        }
    }

    /// Whether the order by rank is that of the shard, so that the phase needs its records at once: those upstream subscriptions that lapse
    /// first are refreshed first. The dialogs, which need more memory, are not restored yet.
    fileprivate var isOrderedAsWhole: Bool { self == .upstreamSubscriptions }
}
