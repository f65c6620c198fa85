import PresenceGateway
import SIPCore
import ScriptedPeers

/// Causes failures and changes in a simulated world.
extension SimulatedWorld {
    /// Publishes the first presence, and starts some of the watchers.
    func begin() throws {
        for presentity in users.presentities where random.chance(0.8) { presentity.show(anyMood(), at: network.now) }
        try live(for: .seconds(1))
        if random.chance(0.4) { try block() }
        for follower in users.followers where random.chance(0.3) { follower.isInterested = false }
        try live(for: .seconds(Int.random(in: 0...12, using: &random)))
    }

    /// Lets time pass: watchers subscribe, publications are refreshed, and a dead gateway is restarted.
    func live(for span: TimeSpan) throws {
        let end = network.now + span
        repeat {
            let step = min(end, network.now + .seconds(5))
            if try network.run(atMost: step - network.now, until: { process.isDead }) { try revive(after: anyDowntime()) }
            for presentity in users.presentities { presentity.refresh(at: network.now) }
            for follower in users.followers { follower.pursue(at: network.now, random: &random) }
            for block in users.blocks { block.pursue(at: network.now) }
        } while network.now < end
    }

    private func revive(after span: TimeSpan) throws {
        network.remark("the gateway is dead for \(span.nanoseconds / 1_000_000) ms")
        for presentity in users.presentities { presentity.noteDeath(at: network.now) }
        network.takeDown(Self.gatewayName)
        try network.run(for: span)
        try start()
    }

    private func anyDowntime() -> TimeSpan {
        random.chance(0.1)
            ? .seconds(Int.random(in: 20...300, using: &random)) : .milliseconds(Int.random(in: 0...8000, using: &random))
    }

    private func anyMood() -> SimulatedMood { SimulatedMood.allCases.randomElement(using: &random) ?? .available }

    /// Blocks one watcher politely at a hosted user with an endpoint: container 32000 shows it an offline user (MS-PRES 4.4.2).
    private func block() throws {
        for presentity in users.presentities {
            guard presentity.isHosted, case .endpoint(let publisher) = presentity.home,
                let follower = users.followers.filter({ $0.presentities.contains { $0 === presentity } }).randomElement(using: &random)
            else { continue }
            presentity.blocked = [follower.watcher.watcher: -1]
            network.remark("\(presentity.uri) blocks \(follower.watcher.watcher)")
            publisher.setMembers(container: 32_000, version: 0, adding: [follower.watcher.watcher], at: network.now)
            publisher.publish(SimulatedBlock.offline, at: network.now)
        }
        try live(for: .seconds(1))
    }

    /// With a store engine, causes one of its failures at random, and has a hosted user block a watcher that may have seen its presence.
    func strikeStore() {
        guard let trouble = storage.trouble else { return }
        trouble.maybeStrike()
        guard users.blocks.isEmpty, trouble.random.chance(0.1) else { return }
        for presentity in users.presentities where presentity.blocked.isEmpty {
            let candidates = users.followers.filter { $0.presentities.contains { $0 === presentity } }
            guard let follower = candidates.randomElement(using: &trouble.random),
                let block = SimulatedBlock(of: follower.watcher.watcher, by: presentity)
            else { continue }
            network.remark("\(presentity.uri) blocks \(block.watcher)")
            users.blocks.append(block)
        }
    }

    // MARK: Events

    /// Causes one random event.
    /// - Returns: 1 when the event kills the gateway, otherwise 0.
    func disturb() throws -> Int {
        let now = network.now
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<24:
            guard let presentity = users.presentities.randomElement(using: &random) else { break }
            network.remark("\(presentity.uri) publishes")
            presentity.change(to: anyMood(), at: now)
        case 24..<27:
            guard let presentity = users.presentities.randomElement(using: &random), presentity.isTaken else { break }
            network.remark("\(presentity.uri) shows nothing")
            presentity.withdraw(at: now)
        case 27..<45: disturbFollower()
        case 45..<60: try disturbServer()
        case 60..<76: try disturbNetwork()
        case 76..<88:
            kill()
            return 1
        case 88..<91: try stop()
        case 91..<95: reload()
        case 95..<98:
            let fails = storage.records.failure == nil
            network.remark(fails ? "the store fails" : "the store works again")
            storage.records.failure = fails ? StoreFailure("disk full") : nil
        default:
            network.remark("time passes")
            try live(for: .seconds(Int.random(in: 600...2400, using: &random)))
        }
        return 0
    }

    private func disturbFollower() {
        guard let follower = users.followers.randomElement(using: &random) else { return }
        let now = network.now
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<2 where !follower.watcher.isMute:
            network.remark("\(follower.watcher.name) vanishes")
            follower.vanish()
            if random.chance(0.7) { network.closeConnections(of: follower.watcher.name) }
        case 2..<4:
            network.remark("\(follower.watcher.name) leaves")
            follower.leave(at: now)
        case 4..<6:
            network.remark("\(follower.watcher.name) refreshes")
            follower.watcher.refresh(expires: follower.expires, at: now)
        default:
            network.remark("\(follower.watcher.name) is there")
            follower.comeBack()
        }
    }

    private func disturbServer() throws {
        guard let server = servers.all.randomElement(using: &random) else { return }
        let now = network.now
        switch Int.random(in: 0..<16, using: &random) {
        case 14, 15: flawDocuments(of: server)
        case 0..<2:
            // A process that forgot its dialogs was restarted, so its connections have ended.
            network.remark("\(server.name) forgets its dialogs")
            server.forgetDialogs()
            network.closeConnections(of: server.name)
        case 2..<4:
            guard server !== servers.pair.dead else { return }
            network.remark("\(server.name) is down")
            network.takeDown(server.name)
            try live(for: anyDowntime())
            if random.chance(0.5) { server.forgetDialogs() }
            network.bringUp(server.name)
            network.remark("\(server.name) is up")
        case 4..<6:
            let reasons: [SubscriptionState.TerminationReason] = [.deactivated, .timeout, .probation, .giveup, .noresource, .rejected]
            guard let reason = reasons.randomElement(using: &random), let presentity = users.presentities.randomElement(using: &random)
            else {
                return
            }
            network.remark("\(server.name) ends subscriptions to \(presentity.uri): \(reason.rawValue)")
            server.terminate(presentity.uri, reason, retryAfter: random.chance(0.5) ? 20 : nil, at: now)
        case 6..<8:
            let statuses: [SIPStatus] = [.serviceUnavailable, .serverInternalError, .temporarilyUnavailable, .notFound, .forbidden]
            server.manners.answer = random.chance(0.3) ? .silence : .refuse(statuses.randomElement(using: &random) ?? .forbidden)
            network.remark("\(server.name) answers \(server.manners.answer)")
        case 8:
            server.manners.isPending.toggle()
            network.remark("\(server.name) says \(server.manners.isPending ? "pending" : "active")")
            for presentity in users.presentities { server.notifyAgain(presentity.uri, at: now) }
        case 9:
            server.manners.notifiesBeforeAnswering.toggle()
        case 10:
            server.manners.announcesExpiry.toggle()
            server.manners.shortestExpiry = random.chance(0.5) ? 300 : 0
        case 11, 12: disturbPublishing()
        default:
            // Only category responses can express a redirection.
            guard let enterprise = server as? EnhancedServer, enterprise.forms.contains(.categories) else { return }
            network.remark("presentities of \(server.name) move to another pool")
            for presentity in users.presentities {
                if case .enterprise(let home) = presentity.home, home === enterprise {
                    let isKnown = enterprise.elsewhere[presentity.uri] != nil
                    enterprise.elsewhere[presentity.uri] = isKnown ? nil : .some("sip:pool2.\(server.name).example.com;gruu")
                }
            }
        }
    }

    /// Changes the behavior of the servers to which publications are relayed.
    private func disturbPublishing() {
        guard users.presentities.contains(where: \.isRelayed) else { return }
        let refusal: SIPStatus = [.serviceUnavailable, .serverInternalError, .forbidden].randomElement(using: &random) ?? .forbidden
        switch Int.random(in: 0..<9, using: &random) {
        case 0..<2:
            network.remark("the compositor accepts")
            servers.standard.compositor.answer = .accept
        case 2:
            servers.standard.compositor.answer = random.chance(0.5) ? .silence : .refuse(refusal)
            network.remark("the compositor answers \(servers.standard.compositor.answer)")
        case 3:
            network.remark("the compositor starts anew")
            servers.standard.compositor.restart()
        case 4, 5:
            network.remark("the home server accepts")
            servers.partner.home.answer = .accept
        case 6:
            servers.partner.home.answer = random.chance(0.3) ? .conflict : random.chance(0.5) ? .silence : .refuse(refusal)
            network.remark("the home server answers \(servers.partner.home.answer)")
        case 7:
            network.remark("the home server starts anew")
            servers.partner.home.restart()
        default:
            for presentity in users.presentities where presentity.isRelayed && presentity.isOfEnterprise {
                network.remark("somebody else writes the instances of \(presentity.uri)")
                servers.partner.home.overwrite(presentity.uri)
            }
        }
    }

    private func disturbNetwork() throws {
        let names = stations.peers.map(\.name)
        switch Int.random(in: 0..<10, using: &random) {
        case 8, 9:
            guard let name = names.randomElement(using: &random) else { return }
            var conditions = network.conditions
            conditions.refusal = random.chance(0.5) ? "connection refused" : "TLS handshake failed: certificate has expired"
            network.remark("\(name) takes no connection: \(conditions.refusal ?? "")")
            if random.chance(0.7) { network.closeConnections(of: name) }
            network.setConditions(conditions, from: Self.gatewayName, to: name)
            try live(for: random.chance(0.5) ? .milliseconds(1_500) : .seconds(Int.random(in: 1...90, using: &random)))
            network.setConditions(nil, from: Self.gatewayName, to: name)
            network.remark("\(name) takes connections again")
        case 0..<4:
            network.conditions = [.perfect, .poor, .poor, .terrible].randomElement(using: &random) ?? .poor
            network.remark("the network has a loss of \(network.conditions.loss)")
        case 4, 5:
            guard let name = names.randomElement(using: &random) else { return }
            network.remark("\(name) is cut off")
            network.setConditions(.partitioned, between: Self.gatewayName, and: name)
            try live(for: .seconds(Int.random(in: 1...60, using: &random)))
            network.setConditions(nil, between: Self.gatewayName, and: name)
            network.remark("\(name) is within reach")
        case 6:
            guard let name = names.randomElement(using: &random) else { return }
            network.remark("connections of \(name) end")
            network.closeConnections(of: name)
        default:
            network.remark("connections of the gateway end")
            network.closeConnections(of: Self.gatewayName)
        }
    }

    private func kill() {
        let inputs = Int.random(in: 0...3, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            network.remark("kill -9")
            process.kill()
        case 1:
            network.remark("kill -9 before a commit")
            process.die(.beforeCommit(inputs: inputs))
        default:
            network.remark("kill -9 after a commit")
            process.die(.afterCommit(inputs: inputs))
        }
    }

    /// Stops the gateway with SIGTERM: depending on the configuration it terminates its dialogs within 20 s or leaves them to the next
    /// process.
    private func stop() throws {
        network.remark("the gateway is told to stop: \(configuration.onStop)")
        process.shutdown(at: network.now)
        _ = try network.run(atMost: .seconds(20)) { process.isDead || gateway.isDrained }
        process.kill()
    }

    private func reload() {
        configuration.timing.notifySpacing = random.chance(0.5) ? .zero : .seconds(5)
        configuration.timing.staleAfter = .seconds(random.chance(0.5) ? 180 : 30)
        network.remark("the configuration is read again")
        process.reconfigure(configuration, at: network.now)
    }
}
