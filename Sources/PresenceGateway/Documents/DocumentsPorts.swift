import SIPCore

/// Stored documents of users, as other flows read them.
protocol StoredDocuments: AnyObject {
    /// A document that is stored; nil: there is none. A change that is not stored yet is not seen.
    func document(auid: String, name: String, of user: String) -> StoredXCAPDocument?

    /// The stored documents of a usage, by name.
    func documents(auid: String, of user: String) -> [StoredXCAPDocument]

    /// Adds a flow that is called after each stored change.
    func add(_ observer: any DocumentObserver)
}

/// A flow that follows changes of documents.
protocol DocumentObserver: AnyObject {
    /// Handles a document that was created, changed or removed; the change is stored.
    func documentChanged(auid: String, name: String, of user: String, at now: Instant)

    /// Handles the documents of a user after a restart, before any watcher is restored.
    func documentsRestored(of user: String)
}
