import SIPCore

/// Batches: several resources in one dialog, each with its own state (MS-PRES 3.4.5.1.3).
extension EnhancedServer {
    // MARK: Script actions

    /// Resources of every batch dialog, with the Request-URI that opened it.
    package var batches: [(pool: String, resources: [String])] {
        dialogs.compactMap { dialog in dialog.batch.map { (dialog.parties.pool, $0.resources.map(\.uri)) } }
    }

    /// Replaces a presentity's presence by an instance state and notifies its watchers; nil restores the presence.
    package func judge(_ presentity: String, _ instanceState: EnhancedDocuments.InstanceState?, at now: Instant) {
        instanceStates[presentity] = instanceState
        for dialog in dialogs where watches(dialog, presentity) {
            if let instanceState, let uri = dialog.batch?.resources.first(where: { same($0.uri, presentity) })?.uri {
                dialog.batch?.news.append((uri, instanceState))
                dialog.batch?.notified(uri, instanceState)
            }
            notify(dialog, at: now)
        }
    }

    /// Moves a user to another pool and redirects its watchers there (MS-PRES 3.4.5.1.3.1).
    package func move(_ presentity: String, to pool: String?, at now: Instant) {
        elsewhere[presentity] = .some(pool)
        for dialog in dialogs where watches(dialog, presentity) {
            guard let uri = dialog.batch?.resources.first(where: { same($0.uri, presentity) })?.uri else { continue }
            dialog.batch?.news.append((uri, .elsewhere(pool: pool)))
            dialog.batch?.notified(uri, .elsewhere(pool: pool))
            notify(dialog, at: now)
        }
    }

    // MARK: The dialog

    func changeBatch(_ dialog: Dialog, by request: SIPRequest) -> SIPStatus? {
        guard Self.isBatch(request) else { return nil }
        if request.body.isEmpty {
            fault("a batch SUBSCRIBE without a body (MS-PRES 3.4.5.3)")
            return .badRequest
        }
        var batch = dialog.batch ?? BatchSubscription()
        batch.apply(EnhancedDocuments.actions(request.body))
        if batch.resources.count > batchLimit { return .requestEntityTooLarge }
        dialog.batch = batch
        return nil
    }

    /// Body of the response to a SUBSCRIBE: presence or instance state of each named resource (MS-PRES 4.5).
    func batchAnswer(_ dialog: Dialog) -> (String, [UInt8]) {
        let named = dialog.batch?.named ?? dialog.batch?.resources.map(\.uri) ?? []
        dialog.batch?.named = nil
        var notified: [(uri: String, instanceState: EnhancedDocuments.InstanceState)] = []
        var documents: [String] = []
        for uri in named {
            if let instanceState = instanceState(on: uri, askedAt: dialog.parties.pool) {
                notified.append((uri, instanceState))
                dialog.batch?.notified(uri, instanceState)
            } else if let resource = dialog.batch?[uri] {
                documents.append(categories(uri, resource.categories))
                dialog.batch?.said(uri, state(of: uri))
            }
        }
        return Self.related(dialog, notified, documents)
    }

    /// Body of the next notification: new instance states, or changed categories of one resource (MS-PRES 2.2.2.4.3).
    func batchBody(_ dialog: Dialog) -> (contentType: String, bytes: [UInt8])? {
        guard let batch = dialog.batch else { return nil }
        if batch.named != nil {
            let (type, bytes) = batchAnswer(dialog)
            return (type, bytes)
        }
        if !batch.news.isEmpty {
            dialog.batch?.news = []
            let (type, bytes) = Self.related(dialog, batch.news, [])
            return (type, bytes)
        }
        guard let (uri, names) = firstChange(batch) else { return nil }
        dialog.batch?.said(uri, state(of: uri))
        return ("application/msrtc-event-categories+xml", Array(categories(uri, names).utf8))
    }

    func hasMoreOfBatch(_ dialog: Dialog) -> Bool {
        dialog.batch.map { $0.named == nil && (!$0.news.isEmpty || firstChange($0) != nil) } ?? false
    }

    private func firstChange(_ batch: BatchSubscription) -> (String, [String])? {
        for resource in batch.resources where resource.instanceState == nil || instanceStates[resource.uri] == nil {
            let current = state(of: resource.uri)
            if !resource.isSaid { return (resource.uri, resource.categories) }
            let names = Self.changes(resource.said, current, among: resource.categories)
            if !names.isEmpty { return (resource.uri, names) }
        }
        return nil
    }
}
