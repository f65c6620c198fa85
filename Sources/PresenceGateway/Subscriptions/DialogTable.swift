import SIPCore
import SIPEvents

/// Dialogs in which the gateway is notifier, by local tag, with indexes.
struct DialogTable {
    private var byTag: [String: WatcherDialog] = [:]
    /// Dialogs of other packages than presence, by presentity, in the order of creation.
    private var byPresentity: [String: [WatcherDialog]] = [:]
    private var byEndpoint: [EndpointKey: Set<String>] = [:]
    /// Dialogs that end or wait when their connection closes.
    private var byConnection: [ConnectionID: Set<String>] = [:]
    private var numberOfWatcher: [String: Int] = [:]
    /// Number of dialogs of presence.
    private(set) var presenceCount = 0

    var count: Int { byTag.count }
    var isEmpty: Bool { byTag.isEmpty }
    var values: Dictionary<String, WatcherDialog>.Values { byTag.values }
    /// All dialogs, ordered by tag.
    var inOrder: [WatcherDialog] { byTag.values.sorted { $0.localTag < $1.localTag } }
    var watcherCount: Int { numberOfWatcher.count }
    var endpointCount: Int { byEndpoint.count }
    var connectionCount: Int { byConnection.count }

    subscript(tag: String) -> WatcherDialog? { byTag[tag] }

    /// Whether the dialog has not ended.
    func contains(_ dialog: WatcherDialog) -> Bool { dialog.isListed }

    /// Number of the watcher's dialogs.
    func count(of watcher: String) -> Int { numberOfWatcher[watcher, default: 0] }

    /// Dialogs about a presentity in the order of creation, without those of presence.
    func about(_ presentity: String) -> [WatcherDialog] { byPresentity[presentity] ?? [] }

    /// Dialogs of one endpoint, ordered by tag.
    func of(_ endpoint: EndpointKey) -> [WatcherDialog] { (byEndpoint[endpoint] ?? []).sorted().compactMap { byTag[$0] } }

    mutating func insert(_ dialog: WatcherDialog) {
        byTag.updateValue(dialog, forKey: dialog.localTag)?.list(false)
        dialog.list(true)
        numberOfWatcher[dialog.watcherKey, default: 0] += 1
        if let endpoint = dialog.endpoint { byEndpoint[endpoint, default: []].insert(dialog.localTag) }
        if dialog.presence != nil {
            presenceCount += 1
        } else {
            byPresentity[dialog.subscription.presentity, default: []].append(dialog)
        }
        bind(dialog)
    }

    /// - Returns: whether the dialog was in the table.
    mutating func remove(_ dialog: WatcherDialog) -> Bool {
        guard dialog.isListed else { return false }
        byTag[dialog.localTag] = nil
        dialog.list(false)
        unbind(dialog)
        let left = numberOfWatcher[dialog.watcherKey, default: 1] - 1
        numberOfWatcher[dialog.watcherKey] = left > 0 ? left : nil
        if let endpoint = dialog.endpoint { Self.remove(dialog.localTag, from: &byEndpoint[endpoint]) }
        guard dialog.presence == nil else {
            presenceCount -= 1
            return true
        }
        let presentity = dialog.subscription.presentity
        byPresentity[presentity]?.removeAll { $0 === dialog }
        if byPresentity[presentity]?.isEmpty == true { byPresentity[presentity] = nil }
        return true
    }

    /// Moves a dialog to the flow by which its watcher was reached.
    mutating func move(_ dialog: WatcherDialog, to flow: Flow) {
        unbind(dialog)
        dialog.reached(over: flow)
        bind(dialog)
    }

    /// Notes the end of a dialog's connection.
    mutating func disconnect(_ dialog: WatcherDialog) {
        unbind(dialog)
        dialog.disconnected()
    }

    /// Removes a connection.
    /// - Returns: tags of the dialogs that were bound to it, sorted.
    mutating func close(_ connection: ConnectionID) -> [String] { (byConnection.removeValue(forKey: connection) ?? []).sorted() }

    private mutating func bind(_ dialog: WatcherDialog) {
        guard dialog.isBoundToConnection, let connection = dialog.flow.connection else { return }
        byConnection[connection, default: []].insert(dialog.localTag)
    }

    private mutating func unbind(_ dialog: WatcherDialog) {
        guard let connection = dialog.flow.connection, byConnection[connection] != nil else { return }
        Self.remove(dialog.localTag, from: &byConnection[connection])
    }

    private static func remove(_ tag: String, from tags: inout Set<String>?) {
        tags?.remove(tag)
        if tags?.isEmpty == true { tags = nil }
    }
}
