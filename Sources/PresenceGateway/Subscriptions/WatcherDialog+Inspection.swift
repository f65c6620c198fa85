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
            redelivery: RedeliveryReport(notifier, failureReason))
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
        guard lastNotification.count > 0 else { return nil }
        return NotificationReport(
            at: DateTime(lastNotification.at), cause: lastNotification.cause, isPiggybacked: lastNotification.isPiggybacked,
            cSeq: dialog.localCSeq,
            answer: lastNotification.answer == 0 ? nil : Int(lastNotification.answer), isAwaited: notifier.isAwaitingAnswer,
            isLost: lastNotification.isLost,
            count: Int(lastNotification.count), suppressed: Int(lastNotification.suppressed))
    }
}

extension Notifier {
    fileprivate func subscriptionState(at now: Instant) -> SubscriptionReport.State {
        if case .active = status(at: now) { .active } else { .pending }
    }
}
