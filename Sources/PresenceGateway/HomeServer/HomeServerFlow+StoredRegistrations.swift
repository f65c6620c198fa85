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

    /// Restores a binding; over a reliable transport it ends after ``GatewayTiming/restartGrace`` unless its client returns.
    /// - Returns: false if the record cannot be read.
    func restore(_ stored: StoredRegistration, at now: Instant) -> Bool {
        guard let contact = NameAddr(stored.contact) else { return false }
        var endpoint: EndpointID?
        if let text = stored.endpoint {
            endpoint = EndpointID(text)
            if endpoint == nil { return false }
        }
        home.registrar.restore(
            Binding(
                user: stored.user, endpoint: endpoint, contact: contact, callID: stored.callID, cSeq: stored.cSeq, expiry: stored.expiry,
                source: MessageSource(local: stored.local, remote: stored.remote, connection: nil),
                goneAt: stored.local.transport.isReliable ? now + configuration.timing.restartGrace : nil))
        return true
    }

    /// Remembers a user's bindings to restore them if the next change cannot be stored.
    func undoableRegistrations(_ user: String) {
        let before = home.registrar.bindings(of: user)
        ifNotKept { [unowned self] _ in
            home.registrar.reset(user, to: before)
            scheduleRegistrar()
        }
    }
}

extension Binding {
    /// Key of the binding among those of its user.
    var storedPlace: String { endpoint?.description ?? contact.uri.description }
}
