import SIPCore
import SIPEvents

/// Treatment of live dialogs at a stop.
package enum StopPolicy: String, Hashable, Sendable, CaseIterable {
    /// Dialogs end: watchers get `deactivated` and may subscribe elsewhere; upstream subscriptions are unsubscribed.
    case terminate
    /// Dialogs stay in the store for the next process, without a NOTIFY; without a store they end.
    case keep
}

/// Orderly stop (RFC 6665 4.2.2).
extension Gateway {
    /// Refuses new subscriptions, and ends or keeps the dialogs (``GatewayConfiguration/onStop``); complete when ``isDrained``.
    package func shutdown(at now: Instant) {
        commitLog.noteInput(at: now)
        guard !isShuttingDown else { return }
        context.stop()
        for dialog in flows.subscriptions.dialogs.inOrder {
            if let held = dialog.takeHeld() {
                refuse(
                    held.request, held.transaction,
                    .unavailable("this node is shutting down", retryAfter: configuration.timing.retryAfter), at: now)
                flows.subscriptions.remove(dialog, at: now)
                continue
            }
            if keepsDialogs { continue }
            flows.subscriptions.perform(dialog.notifier.terminate(.deactivated, at: now), on: dialog, at: now)
        }
        if keepsDialogs { flows.subscriptions.settlement.settleAll(at: now) }
        flows.publications.stop(at: now)
    }

    /// Whether a stop keeps the dialogs in the store.
    var keepsDialogs: Bool { store != nil && configuration.onStop == .keep }

    /// Whether nothing is left to be sent, stored or awaited after ``shutdown(at:)``.
    package var isDrained: Bool {
        guard isShuttingDown, kernel.output.isEmpty, commitLog.isIdle, pendingRequests.values.allSatisfy(\.isKeepAlive),
            flows.presenceSubscriptions.views.parkedCount == 0
        else { return false }
        if keepsDialogs { return flows.subscriptions.settlement.isEmpty }
        return flows.subscriptions.dialogs.isEmpty && flows.upstream.upstreams.isEmpty
    }

    /// Number of missing responses and dialog ends before ``isDrained``, at least 1; nil: output or a commit is left, or no shutdown.
    package var answersMissing: Int? {
        guard isShuttingDown, kernel.output.isEmpty, commitLog.isIdle else { return nil }
        let dialogs = keepsDialogs ? 0 : flows.subscriptions.dialogs.count + flows.upstream.upstreams.count
        return max(1, pendingRequests.count + dialogs)
    }
}
