import SIPCore
import SIPEvents

/// What a stop does to the dialogs that live.
public enum StopPolicy: String, Hashable, Sendable, CaseIterable {
    /// They end: watchers are told `deactivated` and may subscribe elsewhere, far legs are given up.
    case terminate
    /// They stay in the store, for the next process; nobody hears anything. Without a store they end.
    case keep
}

/// The end of a gateway that is not killed (RFC 6665 4.2.2).
extension Gateway {
    /// Takes no new subscription any more, and ends the dialogs or leaves them to the next process, as the configuration says
    /// (``GatewayConfiguration/onStop``). Done when ``isDrained``.
    public func shutdown(at now: Instant) {
        desk.now = now
        guard !isShuttingDown else { return }
        isShuttingDown = true
        for dialog in dialogs.values.sorted(by: { $0.localTag < $1.localTag }) {
            if let held = dialog.held {
                refuse(
                    held.request, held.transaction,
                    .unavailable("this node is shutting down", retryAfter: configuration.timing.retryAfter), at: now)
                remove(dialog, at: now)
                continue
            }
            if keepsDialogs { continue }
            perform(dialog.notifier.terminate(.deactivated, at: now), on: dialog, at: now)
        }
        endBridges(at: now)
        if keepsDialogs { return }
        for subscription in home.dialogs.all {
            perform(subscription.notifier.terminate(.deactivated, at: now), on: subscription, at: now)
        }
    }

    /// Whether a stop leaves the dialogs to the next process.
    var keepsDialogs: Bool { store != nil && configuration.onStop == .keep }

    /// Whether nothing is left to be sent, kept or awaited after ``shutdown(at:)``.
    public var isDrained: Bool {
        guard isShuttingDown, output.isEmpty, desk.isIdle, awaiting.values.allSatisfy(\.isKeepAlive) else { return false }
        return keepsDialogs || (dialogs.isEmpty && home.dialogs.count == 0 && upstreams.isEmpty)
    }

    /// How many answers of peers are missing until ``isDrained``, at least 1; nil: something is left to be sent or kept here.
    public var answersMissing: Int? {
        guard isShuttingDown, output.isEmpty, desk.isIdle else { return nil }
        let dialogs = keepsDialogs ? 0 : dialogs.count + home.dialogs.count + upstreams.count
        return max(1, awaiting.count + dialogs)
    }
}
