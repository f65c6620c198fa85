import EnhancedPresence
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents

/// Storing and restoring registrations and the dialogs of a user's own endpoints.
extension Gateway {
    // MARK: registrations

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

    // MARK: dialogs

    /// Restores a dialog.
    /// - Returns: false if the record cannot be read.
    func restoreHome(_ stored: StoredDialog, at now: Instant) -> Bool {
        guard let package = HomePackage(rawValue: stored.kind.rawValue), let dialog = Dialog.resumed(from: stored.dialog),
            let event = Event(stored.event), let uri = SIPURI(stored.watcher), let domain = configuration.domain(of: uri),
            domain.hosted, let subject = HomeDialog.Subject(package, stored.details)
        else { return false }
        let parties = RequestScreening.Parties(
            watcher: uri, watcherKey: stored.owner, watcherDomain: domain, presentity: uri, presentityKey: stored.owner,
            presentityDomain: domain, entity: uri, maxForwards: 69)
        // A BENOTIFY of the last process may be lost, so the endpoint gets the full state when it returns.
        let wasNotified = !stored.isUnanswered && !stored.isBestEffort
        let subscription = HomeDialog(
            localTag: dialog.id.localTag, package: package, parties: parties,
            endpoint: stored.details[HomeDialog.Detail.endpoint].flatMap { EndpointID($0) }, event: event,
            followsRegistration: stored.details[HomeDialog.Detail.followsRegistration] != nil, dialog: dialog,
            notifier: Notifier(
                restoring: homeNotifierConfiguration(bestEffort: stored.isBestEffort), expiry: stored.expiry, wasNotified: wasNotified),
            flow: Flow(local: stored.local, remote: stored.remote), subject: subject)
        subscription.notifier.becameReady()
        subscription.isDetached = stored.local.transport.isReliable
        home.dialogs.insert(subscription)
        flows.homeServer.add(subscription)
        schedule(subscription)
        return true
    }

    /// Repeats notifications that were unanswered at the restart; dialogs that wait for their endpoints are left out.
    func notifyRestoredHome(_ stored: [StoredDialog], at now: Instant) {
        for one in stored where one.isUnanswered {
            guard let subscription = home.dialogs[one.dialog.localTag], !subscription.isDetached else { continue }
            perform(subscription.notifier.stateChanged(at: now), on: subscription, at: now)
        }
    }

    /// Schedules the full state after a notification was not sent, at the latest with the next successful commit.
    func notSent(_ subscription: HomeDialog, at now: Instant) {
        guard home.dialogs[subscription.localTag] === subscription else { return }
        if store != nil { uncommitted.unsent.insert(subscription.localTag) }
        let pause = TimeSpan.seconds(configuration.timing.retryAfter)
        perform(subscription.notifier.notificationNotSent(retryIn: pause, at: now), on: subscription, at: now)
    }
}

extension Binding {
    /// Key of the binding among those of its user.
    var storedPlace: String { endpoint?.description ?? contact.uri.description }
}

extension HomeDialog {
    /// Keys of ``StoredDialog/details``.
    enum Detail {
        static let endpoint = StoredDialog.endpointDetail
        static let followsRegistration = "follows-registration"
        static let scope = "scope"
        static let groups = "groups"
        static let showsMode = "ucs"
    }

    /// The record of the dialog in the store.
    var stored: StoredDialog {
        var details = subject.details
        details[Detail.endpoint] = endpoint?.description
        if followsRegistration { details[Detail.followsRegistration] = "yes" }
        return StoredDialog(
            kind: StoredDialog.Kind(rawValue: package.rawValue), dialog: dialog.snapshot, owner: user, event: event.description,
            contentType: package.mediaType, watcher: userURI.description, isBestEffort: notifier.configuration.bestEffort,
            expiry: notifier.expiry, local: flow.local, remote: flow.remote, wasNotifiedActive: true,
            isUnanswered: notifier.isAwaitingAnswer || notifier.isRedelivering, details: details)
    }
}

extension HomeDialog.Subject {
    fileprivate var details: [String: String] {
        switch self {
        case .roamingSelf(let scope, _): [HomeDialog.Detail.scope: scope.map(\.rawValue).sorted().joined(separator: " ")]
        case .provisioning(let groups): [HomeDialog.Detail.groups: groups.joined(separator: "\n")]
        case .contacts(let showsMode, _): showsMode ? [HomeDialog.Detail.showsMode: "yes"] : [:]
        case .accessControl, .pendingWatchers: [:]
        }
    }

    fileprivate init?(_ package: HomePackage, _ details: [String: String]) {
        switch package {
        case .roamingSelf:
            guard let scope = details[HomeDialog.Detail.scope] else { return nil }
            self = .roamingSelf(
                scope: Set(scope.split(separator: " ").map { RoamingScope(rawValue: String($0)) }), pendingChanges: PresentityChange())
        case .provisioning:
            guard let groups = details[HomeDialog.Detail.groups] else { return nil }
            self = .provisioning(groups: groups.split(separator: "\n").map(String.init))
        case .contacts:
            self = .contacts(showsMode: details[HomeDialog.Detail.showsMode] != nil, pendingChanges: .nothing)
        case .accessControl:
            self = .accessControl
        case .pendingWatchers:
            self = .pendingWatchers
        }
    }
}
