import Registration
import SIPCore

/// Answers to the notifier; the requirements that are missing here are answers to other flows.
extension PortAnswers: SubscriptionsPorts {
    func isRemoteEnd(_ key: String, _ request: SIPRequest, _ flow: Flow) -> Bool { flows.border.isRemoteEnd(key, request, flow) }
    func binding(of user: String, endpoint: EndpointID) -> Binding? {
        flows.homeServer.home.registrar.binding(of: user, endpoint: endpoint)
    }

    func park(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, needing drafts: @autoclosure () -> [WatchDraft],
        for dialog: ParkedDialog, at now: Instant
    ) -> Bool {
        flows.presenceSubscriptions.views.park(request, transaction, flow, needing: drafts(), for: dialog, at: now)
    }

    func parkedTimerDue(_ ticket: Ticket, at now: Instant) { flows.presenceSubscriptions.views.timerDue(ticket, at: now) }
}
