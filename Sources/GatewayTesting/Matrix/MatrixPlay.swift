import PresenceGateway
import SIPCore
import ScriptedPeers

extension MatrixCell {
    /// Plays the cell on its own network; throws with the transcript when the expectation is not met, and does nothing for a meaningless
    /// cell.
    package func play() async throws {
        guard standing == .conversation else { return }
        let ways = event == .lossOfPeer ? LostPresence.allCases : [.stale]
        for whenLost in ways { try await play(whenLost) }
    }

    private func play(_ whenLost: LostPresence) async throws {
        let stage = SimulatedStage(seed: 417)
        // MS-SIP is used over streams only.
        let transport: TransportProtocol = watcher.isEnterprise || source.isEnterprise ? .tcp : .udp
        let conversation = try await Conversation(on: stage, transport: transport, store: event == .restart ? MemoryStore() : nil) {
            $0.timing.notifySpacing = .zero
            $0.timing.staleAfter = .seconds(60)
            $0.timing.retryMaximum = .seconds(60)
            MatrixRemoteDomain.configure(source, &$0)
            for domain in ["contoso.com", "example.org"] {
                $0.domains[domain]?.whenLost = whenLost
                $0.domains[domain]?.publish = event == .conflict
            }
        }
        let play = MatrixPlay(
            cell: self, conversation: conversation, network: stage.network, remote: MatrixRemoteDomain(source, in: conversation))
        switch event {
        case .initial: try await play.initial()
        case .refresh: try await play.refresh()
        case .change: try await play.change()
        case .refusal: try await play.refusal()
        case .expiry: try await play.expiry()
        case .lossOfPeer: try await play.lossOfPeer(whenLost)
        case .restart: try await play.restart()
        case .resubscribe: try await play.resubscribe()
        case .conflict: try await play.conflict()
        }
        try await conversation.settles()
    }
}

/// Conversations of the matrix, each written once for all watchers and sources.
struct MatrixPlay {
    let cell: MatrixCell
    let conversation: Conversation
    let network: SimulatedNetwork
    let remote: MatrixRemoteDomain

    func initial() async throws {
        let seat = try await MatrixSeat(cell.watcher, of: remote)
        try await show(.busy)
        try await show(.away, of: remote.bystander)
        try await seat.subscribe()
        try await sees(seat, .busy)
        if seat.seesBystander {
            try await conversation.expect("the other one away") { seat.view(of: remote.bystander) == .shows(.away) }
        }
        let types = seat.watcher.notifications.filter { !$0.body.isEmpty }.map { $0.contentType ?? "none" }
        try await conversation.require("in its own format: \(types)") { !types.isEmpty && seat.contentTypes.isSuperset(of: types) }
        try await leave(seat)
    }

    func refresh() async throws {
        remote.server.manners.longestExpiry = 300
        let seat = try await watching(.busy)
        let (dialogs, opened) = (remote.server.dialogCount, remote.server.acceptedCount)
        try await conversation.pass(.seconds(2_500))
        try await conversation.require("never anything but busy: \(seat.history)") {
            seat.history == [.shows(.busy)] && seat.view == .shows(.busy)
        }
        try await conversation.require("the dialogs of the start, \(dialogs), \(opened)") {
            remote.server.dialogCount == dialogs && remote.server.acceptedCount == opened && seat.watcher.phase == .live
        }
        try await show(.away)
        try await sees(seat, .away)
        try await leave(seat)
    }

    func change() async throws {
        let seat = try await watching(.available)
        let notified = seat.watcher.notifications.count
        try await show(.busy)
        try await sees(seat, .busy)
        try await conversation.pass(.seconds(10))
        try await conversation.require("told once") { seat.watcher.notifications.count == notified + 1 }
        seat.forgetHistory()
        let moods: [SimulatedMood] = [.away, .offline, .available, .busy, .away]
        for mood in moods {
            try await show(mood)
            try await conversation.pass(.milliseconds(30))
        }
        try await sees(seat, .away)
        try await conversation.pass(.seconds(10))
        try await conversation.require("in order: \(seat.history)") {
            Self.isInOrder(seat.history, moods.map { .shows($0) }) && seat.view == .shows(.away)
        }
        if cell.source == .partial {
            try await conversation.require("asked for differences, and told in them") { conversation.simple.differences > 0 }
        }
        if let partial = seat.watcher as? PartialWatcher, remote.isWorthDifferences {
            try await conversation.require("told in differences") { partial.differences > 0 }
        }
        try await leave(seat)
    }

    func refusal() async throws {
        for (number, reason) in [(1, SubscriptionState.TerminationReason.rejected), (2, .noresource)] {
            let seat = try await watching(.busy, number: number)
            try await conversation.act { now in remote.refuse(reason, at: now) }
            try await conversation.expect("\(reason.rawValue) while it watches") { seat.view == .over(reason.rawValue) }
            if seat.seesBystander {
                try await show(.available, of: remote.bystander)
                try await conversation.expect("the other one is still told") { seat.view(of: remote.bystander) == .shows(.available) }
                try await conversation.require("and nothing of who refuses") { seat.view == .over(reason.rawValue) }
            }
            try await leave(seat)
            try await conversation.act { now in remote.forgive(at: now) }
        }
        for (number, status, reason) in [(3, SIPStatus.forbidden, "rejected"), (4, .notFound, "noresource")] {
            remote.server.manners.answer = .refuse(status)
            let seat = try await MatrixSeat(cell.watcher, of: remote, number: number)
            try await seat.subscribe()
            try await conversation.expect("\(status.rawValue) as \(reason)") { seat.view == .over(reason) }
            try await conversation.require("nobody was seen: \(seat.history)") { !seat.history.contains(.shows(.busy)) }
            try await leave(seat)
        }
    }

    func expiry() async throws {
        let seat = try await watching(.busy, expires: 300, refreshes: false)
        try await conversation.pass(.seconds(290))
        try await conversation.require("still there") { seat.view == .shows(.busy) && seat.watcher.phase == .live }
        try await conversation.expect("terminated with reason timeout", within: .seconds(15)) { seat.watcher.phase == .ended("timeout") }
        try await conversation.expect("no far leg is left", within: .seconds(10)) { remote.server.dialogCount == 0 }
    }

    func lossOfPeer(_ whenLost: LostPresence) async throws {
        remote.server.manners.longestExpiry = 120
        let seat = try await watching(.busy, expires: 1_200)
        network.takeDown(remote.server.name)
        if whenLost == .stale {
            try await conversation.expect("the loss is noticed", within: .seconds(300)) { conversation.gateway.counters.upstreamLost > 0 }
            try await conversation.pass(.seconds(50))
            try await conversation.require("the last state: \(seat.history)") { seat.history == [.shows(.busy)] }
        }
        // In a list, an instance that was active does not return to pending.
        let lost: MatrixView = whenLost == .pending && !seat.seesBystander ? .pending : .shows(.offline)
        try await conversation.expect("\(whenLost): \(lost)", within: .seconds(400)) { seat.view == lost }
        try await conversation.pass(.seconds(100))
        try await conversation.require("nothing else: \(seat.history)") { seat.history == [.shows(.busy), lost] }
        remote.server.forgetDialogs()
        network.bringUp(remote.server.name)
        try await show(.away)
        try await sees(seat, .away, within: .seconds(200))
        try await conversation.require("the watcher was kept") { seat.watcher.phase == .live }
        try await show(.busy)
        try await sees(seat, .busy)
        try await leave(seat)
    }

    func restart() async throws {
        let seat = try await watching(.busy, expires: 3_600)
        // Afterwards the store has what the watcher was notified of.
        try await conversation.pass(.seconds(60))
        let notified = seat.watcher.notifications.count
        try kill(awayFor: .seconds(2))
        try await conversation.pass(.seconds(20))
        try await conversation.require("nothing was heard of it") {
            seat.watcher.notifications.count == notified && seat.watcher.phase == .live
        }
        try await show(.away)
        try await sees(seat, .away)
        network.takeDown("gateway")
        try await show(.available)
        try kill(awayFor: .seconds(2))
        try await sees(seat, .available)
        try await conversation.require("nothing older: \(seat.history)") {
            seat.history == [.shows(.busy), .shows(.away), .shows(.available)]
        }
        // A watcher of several presentities is notified of each of them as before.
        try await show(.busy, of: remote.bystander)
        if seat.seesBystander {
            try await conversation.expect("the other one busy") { seat.view(of: remote.bystander) == .shows(.busy) }
        }
        try await leave(seat)
    }

    func resubscribe() async throws {
        let pool = remote.sendOn()
        let seat = try await watching(.busy)
        try await isAsked(at: pool)
        let opened = remote.server.acceptedCount
        var place: String?
        try await conversation.act { now in place = remote.sendAway(at: now) }
        try await conversation.expect("a subscription anew", within: .seconds(30)) { remote.server.acceptedCount > opened }
        try await isAsked(at: place)
        try await conversation.pass(.seconds(5))
        try await conversation.require("the watcher saw nothing of it: \(seat.history)") {
            seat.history == [.shows(.busy)] && seat.watcher.phase == .live
        }
        try await show(.away)
        try await sees(seat, .away)
        try await leave(seat)
    }

    private func isAsked(at place: String?) async throws {
        guard let place else { return }
        try await conversation.require("asked at \(place)") { remote.server.requests.contains { $0.requestURI == place } }
    }

    func conflict() async throws {
        let seat = try await watching(.busy)
        if cell.source.isEnterprise {
            try await publishToEnterprise(seat)
        } else {
            try await publishToStandard(seat)
        }
        try await leave(seat)
    }

    /// PUBLISH for an enterprise user, with another endpoint changing the instances in between (F3).
    private func publishToEnterprise(_ seat: MatrixSeat) async throws {
        let source = try await conversation.pidfPublisher(remote.subject)
        func publish(_ mood: SimulatedMood) async throws {
            let document = SimpleDocuments.pidf(of: remote.subject, mood.basic, activities: mood.activities)
            try await conversation.act { now in source.publish(document, at: now) }
            try await conversation.expect("answered") { !source.isBusy && source.lastAnswer?.status == .ok }
            try await sees(seat, mood)
        }
        try await publish(.available)
        try await conversation.act { _ in conversation.enterprise.home.overwrite(remote.subject) }
        try await publish(.away)
        try await conversation.require("after one 409") { conversation.enterprise.home.conflicts == 1 }
        try await conversation.act { now in source.remove(at: now) }
        try await conversation.expect("nothing is left there") { conversation.bobInstances.isEmpty }
    }

    /// SERVICE for a standard user, by an endpoint that forgets its versions and with a compositor that restarts (F4).
    private func publishToStandard(_ seat: MatrixSeat) async throws {
        let endpoint = try await conversation.categoryPublisher(remote.subject)
        func publish(_ mood: SimulatedMood, answered status: SIPStatus = .ok) async throws {
            try await conversation.act { now in endpoint.publish(availability: mood.availability, at: now) }
            try await conversation.expect("answered") { endpoint.awaited == 0 && endpoint.lastAnswer?.status == status }
        }
        try await publish(.available)
        try await sees(seat, .available)
        endpoint.forgetVersions()
        try await publish(.busy, answered: .conflict)
        try await publish(.busy)
        try await sees(seat, .busy)
        try await conversation.act { _ in conversation.simple.compositor.restart() }
        try await publish(.away)
        try await sees(seat, .away)
        try await conversation.require("after one 409 and one 412") {
            endpoint.conflicts == 1 && conversation.simple.compositor.unknownTags == 1
        }
        try await conversation.expect("over with its time", within: .seconds(400)) { conversation.aliceDocuments.isEmpty }
    }

    // MARK: steps

    private func show(_ mood: SimulatedMood, of presentity: String? = nil) async throws {
        try await conversation.act { now in remote.show(mood, of: presentity, at: now) }
    }

    private func sees(_ seat: MatrixSeat, _ mood: SimulatedMood, within span: TimeSpan = .seconds(70)) async throws {
        try await conversation.expect("\(mood) (it saw \(seat.history))", within: span) { seat.view == .shows(mood) }
    }

    /// Creates a watcher that has received the subject's first state, and the bystander as away.
    private func watching(_ mood: SimulatedMood, number: Int = 1, expires: UInt32 = 600, refreshes: Bool = true) async throws -> MatrixSeat
    {
        let seat = try await MatrixSeat(cell.watcher, of: remote, number: number)
        seat.watcher.refreshesItself = refreshes
        try await show(mood)
        try await show(.away, of: remote.bystander)
        try await seat.subscribe(expires: expires)
        try await sees(seat, mood)
        if seat.seesBystander {
            try await conversation.expect("the other one away") { seat.view(of: remote.bystander) == .shows(.away) }
        }
        // After a redirection to a pool, a single subscription becomes a batch.
        if cell.event != .resubscribe || cell.source != .category {
            try await conversation.require("asked in the form that is configured") { remote.isAskedAsConfigured }
        }
        try await conversation.pass(.seconds(1))
        let before = seat.beginHistory(with: .shows(mood))
        try await conversation.require("nobody, and then what is so: \(before), \(seat.history)") {
            before.allSatisfy { $0 == .nothing || $0 == .pending || $0 == .shows(.offline) } && seat.history == [.shows(mood)]
        }
        return seat
    }

    private func leave(_ seat: MatrixSeat) async throws {
        try await conversation.act { now in seat.watcher.unsubscribe(at: now) }
        try await conversation.expect("the end") { seat.watcher.phase != .live }
    }

    private func kill(awayFor span: TimeSpan) throws {
        let restored = try conversation.crash(on: network, awayFor: span)
        if restored.unreadable > 0 { throw ConversationError(description: "\(restored.unreadable) records cannot be read after a restart") }
    }

    /// Whether the seen states are a subsequence of the shown states, in the same order.
    private static func isInOrder(_ seen: [MatrixView], _ shown: [MatrixView]) -> Bool {
        var rest = shown[...]
        for view in seen {
            guard let place = rest.firstIndex(of: view) else { return false }
            rest = rest[(place + 1)...]
        }
        return true
    }
}
