import EnhancedPresence
import Registration
import SIPCore
import SIPEvents

/// Storing and restoring registrations.
extension HomeServerFlow {
    /// Marks a binding that was added, changed or removed for the next commit.
    func keep(_ binding: Binding) { keep(.registration(user: binding.user, place: binding.storedPlace)) }

    func storedRegistration(_ user: String, _ place: String) -> StoredRegistration? {
        home.registrar.bindings(of: user).first { $0.storedPlace == place }.map { binding in
            StoredRegistration(
                user: user, place: place, endpoint: binding.endpoint?.description, contact: binding.contact.description,
                callID: binding.callID, cSeq: binding.cSeq, expiry: binding.expiry, local: binding.source.local,
                remote: binding.source.remote)
        }
    }

    // MARK: restart

    func rank(of record: StoreRecord, at now: Instant) -> RestoreRank? {
        switch record {
        case .registration, .contacts, .accessList: RestoreRank(phase: .users)
        default: nil
        }
    }

    func restore(_ record: StoreRecord, _ restart: inout Restart, at now: Instant) -> Bool {
        switch record {
        case .registration(let stored):
            guard restore(stored, at: now) else { return false }
            restart.state.registrations += 1
            return true
        case .contacts(let list): return home.lists.restore(contactsOf: list)
        case .accessList(let list): return home.lists.restore(accessControlOf: list)
        default: return false
        }
    }

    func complete(_ phase: RestartPhase, _ restart: inout Restart, at now: Instant) -> Bool {
        if phase == .registrations { advanceRegistrar(at: now) }
        return true
    }

    /// Restores a binding; over a reliable transport it ends after ``GatewayTiming/restartGrace`` unless its client returns.
    /// - Returns: false if the record cannot be read.
    private func restore(_ stored: StoredRegistration, at now: Instant) -> Bool {
        let source = MessageSource(local: stored.local, remote: stored.remote, connection: nil)
        let goneAt = stored.local.transport.isReliable ? now + configuration.timing.restartGrace : nil
        guard let binding = binding(stored, from: source, goneAt: goneAt) else { return false }
        home.registrar.restore(binding)
        return true
    }

    private func binding(_ stored: StoredRegistration, from source: MessageSource, goneAt: Instant?) -> Binding? {
        guard let contact = NameAddr(stored.contact) else { return nil }
        var endpoint: EndpointID?
        if let text = stored.endpoint {
            endpoint = EndpointID(text)
            if endpoint == nil { return nil }
        }
        return Binding(
            user: stored.user, endpoint: endpoint, contact: contact, callID: stored.callID, cSeq: stored.cSeq, expiry: stored.expiry,
            source: source, goneAt: goneAt)
    }

    // MARK: failed commits

    /// Takes the stored registrations and lists in place of those of a failed commit.
    func reload(_ stored: StoredRecords, at now: Instant) -> (() -> Void)? {
        for user in stored.users.keys.sorted() {
            for key in stored.users[user] ?? [] {
                switch (key, stored[key]) {
                case (.contacts, .contacts(let list)?): _ = home.lists.restore(contactsOf: list)
                case (.contacts, _): home.lists.set(ContactList(policy: configuration.roamingPolicy), of: user)
                case (.accessList, .accessList(let list)?): _ = home.lists.restore(accessControlOf: list)
                case (.accessList, _): home.lists.set(AccessControlList(policy: configuration.roamingPolicy), of: user)
                case (.registration(_, let place), let record): reload(user, place, record, at: now)
                default: break
                }
            }
        }
        scheduleRegistrar()
        return nil
    }

    /// A binding that is still known keeps its connection, and one that a REGISTER removed gets that of the user's endpoint.
    private func reload(_ user: String, _ place: String, _ record: StoreRecord?, at now: Instant) {
        var bindings = home.registrar.bindings(of: user)
        let known = bindings.first { $0.storedPlace == place }
        bindings.removeAll { $0.storedPlace == place }
        let left = leaving.removeValue(forKey: .registration(user: user, place: place))
        if case .registration(let stored)? = record {
            var source = MessageSource(local: stored.local, remote: stored.remote, connection: nil)
            var goneAt = stored.local.transport.isReliable ? now + configuration.timing.restartGrace : nil
            if let live = known?.source ?? left, live.remote == stored.remote {
                source = live
                goneAt = known?.goneAt
            }
            if let binding = binding(stored, from: source, goneAt: goneAt) { bindings.append(binding) }
        }
        home.registrar.reset(user, to: bindings)
    }
}

extension Binding {
    /// Key of the binding among those of its user.
    var storedPlace: String { endpoint?.description ?? contact.uri.description }
}
