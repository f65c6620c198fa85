import FederationRouting
import SIPCore

/// The watched presentities of a dialog, for the flows that feed them; a dialog of another package than presence watches none.
extension WatcherDialog {
    var resources: [WatchedResource] { presence?.resources ?? [] }
    /// Format of the presentities; of no meaning without any.
    var format: WatcherFormat { presence?.format ?? .categories }
    var isBatch: Bool { presence?.isBatch ?? false }
    var list: ListSubscription? { presence?.list }
    var rejected: [RejectedResource] { presence?.rejected ?? [] }
    var isReady: Bool { subscription.isReady }
    /// Whether the dialog is about several presentities, so that a rejection concerns one of them, not the dialog.
    var namesResources: Bool { presence?.namesResources ?? false }
}
