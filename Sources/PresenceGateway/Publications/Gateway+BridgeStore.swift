import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents
import XMLCore

/// Storing and restoring relayed publications with their entity-tags, versions, instances and documents, so that nothing is published
/// twice or left behind.
extension Gateway {
    fileprivate enum Detail {
        static let tag = "tag"
        static let lapse = "lapse"
        static let expires = "expires"
        static let digest = "digest"
        static let endpoints = "endpoints"
        static let hopMarks = "hop-marks"
        static let number = "number"
        static let arrived = "arrived"
        static let computesState = "computes-state"
        static let until = "until"
        static let renew = "renew"
        static let version = "version"
        static let isUncertain = "uncertain"
    }

    private enum Kind {
        static let computed = "computed"
        static let source = "source"
        static let standing = "standing"
    }

    func storedBridge(_ user: String) -> StoredBridge? {
        publications.pidfBridge(user).flatMap { stored($0) } ?? publications.categoryBridge(user).flatMap { stored($0) }
    }

    /// Answers waiting requests and, without a store, removes all relayed publications, because no restart could restore them.
    func endBridges(at now: Instant) {
        for bridge in publications.allPIDFBridges {
            perform(bridge.promiseHeld(), on: bridge, at: now)
            guard store == nil else { continue }
            let empty = relayedPresentity(bridge.uri, stored: nil)
            perform(bridge.withdraw(leaving: empty, environment(of: bridge, at: now)), on: bridge, at: now)
            settle(bridge)
        }
        for bridge in publications.allCategoryBridges {
            perform(bridge.refuseAll(.shutdown, environment(of: bridge, at: now)), on: bridge, at: now)
            guard store == nil else { continue }
            perform(bridge.withdraw(environment(of: bridge, at: now)), on: bridge, at: now)
            settle(bridge)
        }
    }

    // MARK: storing

    private func stored(_ bridge: PIDFBridge) -> StoredBridge? {
        guard !bridge.isIdle else { return nil }
        var details = [Detail.hopMarks: bridge.dialogContext.hopMarks]
        if let standing = bridge.client.standing {
            details[Detail.tag] = standing.tag.value
            details[Detail.lapse] = String(standing.lapsesAt.nanosecondsSince1970)
            details[Detail.expires] = String(standing.expires)
        }
        details[Detail.digest] = bridge.document.acceptedDigest.map { String($0) }
        let endpoints = bridge.endpoints.union(bridge.leaving.keys).union(publications.connected(bridge.key))
        details[Detail.endpoints] = endpoints.sorted().joined(separator: ",")
        return StoredBridge(
            user: bridge.key, way: .publish, uri: bridge.uri.description, document: bridge.enhanced.storedDocument.encoded(),
            details: details,
            items: bridge.enhanced.computedInstances.map { StoredBridge.Item(kind: Kind.computed, name: $0.id.stored) })
    }

    private func stored(_ bridge: CategoryBridge) -> StoredBridge? {
        let standings = bridge.client.keptStandings
        guard !bridge.publications.sources.isEmpty || !standings.isEmpty else { return nil }
        let sources = bridge.publications.sources.map { tag, source in
            StoredBridge.Item(
                kind: Kind.source, name: tag, document: source.document,
                details: [
                    Detail.number: String(source.number), Detail.arrived: String(source.arrived.nanosecondsSince1970),
                    Detail.until: String(source.until.nanosecondsSince1970),
                ])
        }
        let instances = standings.map { id, standing in
            var details = [
                Detail.version: String(standing.version), Detail.digest: String(standing.digest),
                Detail.until: String(standing.until.nanosecondsSince1970), Detail.renew: String(standing.renewAt.nanosecondsSince1970),
            ]
            if standing.isUncertain { details[Detail.isUncertain] = "yes" }
            return StoredBridge.Item(kind: Kind.standing, name: id.stored, details: details)
        }
        var details = [Detail.hopMarks: bridge.dialogContext.hopMarks]
        if bridge.homeComputesState { details[Detail.computesState] = "yes" }
        return StoredBridge(
            user: bridge.key, way: .service, uri: bridge.uri.description, details: details,
            items: sources + instances)
    }

    // MARK: restoring

    /// Restores a relayed publication.
    /// - Returns: false if the record cannot be read, or the user's domain no longer accepts publications.
    func restore(_ stored: StoredBridge, at now: Instant) -> Bool {
        guard let uri = SIPURI(stored.uri), publishingHop(of: uri, side: stored.way == .publish ? .simple : .enterprise) != nil else {
            return false
        }
        return stored.way == .publish ? restorePIDFBridge(stored, uri, at: now) : restoreCategoryBridge(stored, uri, at: now)
    }

    private func restorePIDFBridge(_ stored: StoredBridge, _ uri: SIPURI, at now: Instant) -> Bool {
        guard let root = try? parser.parse(stored.document).root, let data = try? RoamingDataDocument(reading: root) else { return false }
        let computed = stored.items.filter { $0.kind == Kind.computed }.compactMap { PublicationID(stored: $0.name) }
        let timing = configuration.timing
        var client = PublicationClient(
            expires: timing.publication.standard, retryPause: timing.retryMinimum, longestPause: timing.retryMaximum)
        if let tag = stored.details[Detail.tag], let lapse = stored.details[Detail.lapse].flatMap({ Int64($0) }),
            let expires = stored.details[Detail.expires].flatMap({ Int($0) })
        {
            client = PublicationClient(
                restoring: .init(tag: EntityTag(tag), lapsesAt: Instant(nanosecondsSince1970: lapse), expires: expires),
                retryPause: timing.retryMinimum, longestPause: timing.retryMaximum, at: now)
        }
        let bridge = PIDFBridge(
            key: stored.user, uri: uri, enhanced: relayedPresentity(uri, stored: (data, Set(computed))), client: client,
            dialogContext: DialogContext(callID: tokens.callID(), hopMarks: stored.details[Detail.hopMarks] ?? ""),
            acceptedDigest: stored.details[Detail.digest].flatMap { UInt64($0) },
            endpoints: (stored.details[Detail.endpoints] ?? "").split(separator: ",").map { String($0) },
            returnBy: now + timing.restartGrace)
        publications.insert(bridge)
        perform(bridge.resume(environment(of: bridge, at: now)), on: bridge, at: now)
        // Paced like upstream subscriptions; a publication that is already current is refreshed on schedule.
        if !bridge.isSettled { bridge.retry(at: nextPaced(at: now)) }
        settle(bridge)
        return true
    }

    private func restoreCategoryBridge(_ stored: StoredBridge, _ uri: SIPURI, at now: Instant) -> Bool {
        var standings: [PublicationID: CategoryPublicationClient.Standing] = [:]
        for item in stored.items where item.kind == Kind.standing {
            guard let id = PublicationID(stored: item.name), let version = item.details[Detail.version].flatMap({ UInt32($0) }),
                let digest = item.details[Detail.digest].flatMap({ UInt64($0) }),
                let until = item.details[Detail.until].flatMap({ Int64($0) }), let renew = item.details[Detail.renew].flatMap({ Int64($0) })
            else { return false }
            standings[id] = .init(
                version: version, digest: digest, until: DateTime(nanosecondsSince1970: until),
                renewAt: DateTime(nanosecondsSince1970: renew), isUncertain: item.details[Detail.isUncertain] != nil)
        }
        var restored = noPublications
        for item in stored.items where item.kind == Kind.source {
            let until = item.details[Detail.until].flatMap { Int64($0) }.map { Instant(nanosecondsSince1970: $0) }
            let arrived = item.details[Detail.arrived].flatMap { Int64($0) }.map { Instant(nanosecondsSince1970: $0) }
            let number = item.details[Detail.number].flatMap { UInt64($0) }
            guard let until, let source = try? source(item.document, number: number ?? 0, arrived: arrived ?? now, until: until)
            else { return false }
            restored.restore(source, as: item.name)
        }
        let bridge = CategoryBridge(
            key: stored.user, uri: uri, publications: restored, client: categoryClient(of: uri, standings: standings),
            dialogContext: DialogContext(callID: tokens.callID(), hopMarks: stored.details[Detail.hopMarks] ?? ""),
            homeComputesState: stored.details[Detail.computesState] != nil)
        publications.insert(bridge)
        bridge.resume(environment(of: bridge, at: now))
        timers.set(flows.publications.ticket(of: bridge), at: nextPaced(at: now))
        return true
    }

    private func nextPaced(at now: Instant) -> Instant {
        let moment = flows.upstream.upstreams.freeTurn(at: now)
        flows.upstream.upstreams.takeTurn(moment, pace: configuration.timing.restorePace)
        return moment
    }
}

extension StoredBridge {
    /// The details with all times shifted.
    static func shifted(_ details: [String: String], by span: TimeSpan) -> [String: String] {
        var details = details
        for key in [Gateway.Detail.lapse, Gateway.Detail.until, Gateway.Detail.renew, Gateway.Detail.arrived] {
            guard let time = details[key].flatMap({ Int64($0) }) else { continue }
            details[key] = String((Instant(nanosecondsSince1970: time) + span).nanosecondsSince1970)
        }
        return details
    }
}
