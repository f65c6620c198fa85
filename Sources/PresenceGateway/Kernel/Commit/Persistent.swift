/// Keeps records in the store.
protocol Persistent: AnyObject {
    /// The present record of a key; nil: nothing to store.
    func record(of key: StoreKey) -> StoreRecord?
}
