import EnhancedPresence
import Registration
import SIPCore
import SIPEvents

/// Answers to the home server; the requirements that are missing here have defaults.
extension PortAnswers: HomeServerPorts {
    var eventPackages: [String] { flows.subscriptions.packages.tokens }

    func ownDialogs(of user: String) -> [WatcherDialog] { flows.subscriptions.dialogs.about(user) }

    func stateChanged(of dialog: WatcherDialog, at now: Instant) { flows.subscriptions.stateChanged(of: dialog, at: now) }

    func deactivate(_ dialog: WatcherDialog, at now: Instant) {
        flows.subscriptions.perform(dialog.notifier.terminate(.deactivated, content: .full, at: now), on: dialog, at: now)
    }

    func endDialogs(of endpoint: EndpointKey, at now: Instant) { flows.subscriptions.redelivery.dialogsEnd(of: endpoint, at: now) }

    func moveDialogs(to binding: Binding, at now: Instant) { flows.subscriptions.redelivery.dialogsFollow(binding, at: now) }

    func hasUnregisteredEndpoints(_ user: String) -> Bool { flows.presentities.endpoints.hasUnregistered(user) }

    func endpointsEnded(_ endpoints: [String], of user: String, isLast: Bool, at now: Instant) {
        flows.presentities.endpointsEnded(endpoints, of: user, isLast: isLast, at: now)
    }

    func publishedState(of owner: DataOwner) -> EnhancedPresentity {
        (flows.presentities.record(owner.key) ?? flows.presentities.table.make(owner.key, owner.uri)).enhanced
    }

    func dropIdleRecords() { flows.presentities.settleAll() }
}
