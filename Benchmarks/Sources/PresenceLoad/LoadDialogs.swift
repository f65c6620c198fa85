/// Load for a peer.
public struct LoadShape {
    /// Number of presentities.
    public var presentities: Int
    /// Number of connections of the watchers; a subscription uses the next one in turn.
    public var connections: Int
    /// Whether the presentities are in a remote domain, which the load plays.
    public var isBridged: Bool
    /// Whether watchers subscribe to categories with BENOTIFY, instead of PIDF with NOTIFY.
    public var isCategories: Bool

    public init(presentities: Int, connections: Int = 8, isBridged: Bool = false, isCategories: Bool = false) {
        self.presentities = presentities
        self.connections = connections
        self.isBridged = isBridged
        self.isCategories = isCategories
    }
}

/// Subscription of one watcher.
struct LoadDialog {
    let presentity: Int
    let connection: Int
    var ownSequence = 1
    /// Newest CSeq of the notifier, so that a copy counts once.
    var notifierSequence = 0
    var isAnswered = false
    var isEnding = false
    /// Request-URI, To and routes of requests within the dialog; empty before the answer.
    var target: [UInt8] = []
    var remote: [UInt8] = []
    var routes: [[UInt8]] = []

    init(presentity: Int, connection: Int) {
        self.presentity = presentity
        self.connection = connection
    }
}

/// Publication of one presentity.
struct LoadPublication {
    var sequence = 0
    var tag: [UInt8] = []
    /// Watchers with an active subscription.
    var watchers = 0
    /// Answers and notifications that the change under way still needs; 0: no change is under way.
    var missing = 0
}

/// Subscription of the measured side at the remote domain.
struct Upstream {
    let presentity: Int
    let connection: Int
    let port: Int
    let target: [UInt8]
    /// Lines of Route, From, To and Call-ID.
    let dialogHeaders: [UInt8]
    var sequence = 0
}
