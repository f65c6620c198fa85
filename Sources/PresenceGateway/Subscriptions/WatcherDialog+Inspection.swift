import PresenceDocuments
import SIPCore
import SIPEvents

/// Reports of a dialog, for operators.
extension WatcherDialog {
    /// The row of a list of subscriptions.
    func report(_ row: SubscriptionRow, at now: Instant) -> SubscriptionReport {
        var report = SubscriptionReport(
            watcher: watcherKey, presentity: row.presentity, event: event.description,
            format: subscription.contentType, categories: [], shape: .single, state: state(at: now), source: .own,
            knowledge: .known, callID: dialog.id.callID, localTag: localTag, remoteTag: dialog.id.remoteTag,
            expires: DateTime(notifier.expiry), peer: flow.remote.description,
            isBestEffort: notifier.configuration.bestEffort, notification: notification,
            redelivery: RedeliveryReport(notifier, history.failureReason))
        subscription.describe(row, in: &report, of: self)
        return report
    }

    func state(at now: Instant) -> SubscriptionReport.State {
        if notifier.isEnding { return .ending }
        if held != nil || notifier.isFetching { return .polling }
        if isAway { return .away }
        return notifier.subscriptionState(at: now)
    }

    var notification: NotificationReport? {
        let last = history.last
        guard last.count > 0 else { return nil }
        return NotificationReport(
            at: DateTime(last.at), cause: last.cause, isPiggybacked: last.isPiggybacked,
            cSeq: dialog.localCSeq,
            answer: last.answer == 0 ? nil : Int(last.answer), isAwaited: notifier.isAwaitingAnswer,
            isLost: last.isLost,
            count: Int(last.count), suppressed: Int(last.suppressed))
    }
}

extension Notifier {
    fileprivate func subscriptionState(at now: Instant) -> SubscriptionReport.State {
        if case .active = status(at: now) { .active } else { .pending }
    }
}
