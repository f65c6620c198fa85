import SIPCore

/// The watchers' dialogs to the kernel.
final class SubscriptionsFlow: KernelClient {
    unowned let gateway: Gateway
    private var dialogs = Slab<WatcherDialog>()

    init(_ gateway: Gateway) {
        self.gateway = gateway
    }

    /// Gives a dialog its ticket.
    func add(_ watcher: WatcherDialog) { watcher.ticket = Ticket(.subscriptions, dialogs.insert(watcher)) }

    func remove(_ watcher: WatcherDialog) {
        gateway.timers.set(watcher.ticket, at: nil)
        dialogs.remove(watcher.ticket.key)
    }

    func timerDue(_ ticket: Ticket, at now: Instant) {
        guard let watcher = dialogs[ticket.key] else { return }
        watcher.timerAt = nil
        gateway.advance(watcher, at: now)
        gateway.schedule(watcher)
    }
}
