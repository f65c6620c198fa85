/// State of a dialog in the store.
struct DialogRecord {
    /// Whether the store has the dialog.
    enum Storage {
        /// It has not: a poll that is answered at once.
        case none
        /// Its first commit is not finished.
        case begun
        case stored
    }

    private(set) var storage = Storage.none

    /// Notes that the dialog is part of a commit from now on.
    mutating func begin() { storage = .begun }

    /// Notes that the store has the dialog.
    mutating func noteStored() { storage = .stored }
}
