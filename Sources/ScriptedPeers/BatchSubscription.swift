/// State of a batch dialog at a scripted server (MS-PRES 3.4.5.1.3).
struct BatchSubscription {
    struct Resource {
        let uri: String
        var categories: [String]
        /// State sent last.
        var said: EnhancedState?
        var isSaid = false
        /// Instance state that was sent instead of presence.
        var instanceState: EnhancedDocuments.InstanceState?
    }

    /// Resources in the order of their subscription.
    var resources: [Resource] = []
    /// Resources named by the last SUBSCRIBE and not yet reported; nil when all are reported.
    var named: [String]?
    /// Instance states for the next notification.
    var news: [(uri: String, instanceState: EnhancedDocuments.InstanceState)] = []

    subscript(_ uri: String) -> Resource? { resources.first { $0.uri == uri } }

    /// Applies subscribe and unsubscribe actions in their order.
    mutating func apply(_ actions: [(isSubscribe: Bool, resources: [String], categories: [String])]) {
        var named: [String] = []
        for action in actions {
            for uri in action.resources {
                let place = resources.firstIndex { $0.uri == uri }
                if action.isSubscribe {
                    if !named.contains(uri) { named.append(uri) }
                    if let place {
                        resources[place].categories += action.categories.filter { !resources[place].categories.contains($0) }
                    } else {
                        resources.append(Resource(uri: uri, categories: action.categories))
                    }
                } else if let place {
                    resources[place].categories.removeAll { action.categories.contains($0) }
                    if resources[place].categories.isEmpty { resources.remove(at: place) }
                }
            }
        }
        self.named = named
    }

    mutating func said(_ uri: String, _ state: EnhancedState?) {
        guard let place = resources.firstIndex(where: { $0.uri == uri }) else { return }
        resources[place].said = state
        resources[place].isSaid = true
        resources[place].instanceState = nil
    }

    mutating func notified(_ uri: String, _ instanceState: EnhancedDocuments.InstanceState) {
        guard let place = resources.firstIndex(where: { $0.uri == uri }) else { return }
        resources[place].instanceState = instanceState
        resources[place].isSaid = false
        if instanceState != .pending { resources.remove(at: place) }
    }
}
