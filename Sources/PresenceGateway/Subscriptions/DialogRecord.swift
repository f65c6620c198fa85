import SIPCore

/// State of a dialog in the store.
///
///     settled --NOTIFY, which waits for the commit--> unsettled --quiet, ``DialogSettlement``--> settled
///                                                       |  ^
///                                                       +--+ NOTIFY, response: no commit, except for each block of numbers
///
/// A settled record has the state that the watcher was last notified of, an unsettled one only that it may be any.
struct DialogRecord {
    /// Whether the store has the dialog.
    enum Storage {
        /// It has not: a poll that is answered at once.
        case none
        /// Its first commit is not finished.
        case begun
        case stored
    }

    /// Numbers that notifications may use without a commit; the next process begins above them. Gaps are allowed in CSeq
    /// (RFC 3261 12.2.1.1), and the next process sends the full state, which any version may have (RFC 4662 5.2, RFC 5263 4.4).
    struct Reserve: Equatable {
        /// Numbers in one block.
        static let size: UInt32 = 64

        /// Highest CSeq number.
        private(set) var cSeq: UInt32
        /// Highest version of numbered documents; 0: none was sent.
        private(set) var version: UInt32

        /// The block that begins with these numbers.
        init(from cSeq: UInt32, _ version: UInt32) {
            self.cSeq = min(cSeq, CSeq.limit - (Self.size - 1)) + (Self.size - 1)
            self.version = version == 0 ? 0 : version &+ (Self.size - 1)
        }

        /// The block of a stored record.
        init(upTo cSeq: UInt32, _ version: UInt32) {
            self.cSeq = cSeq
            self.version = version
        }

        func has(_ cSeq: UInt32, _ version: UInt32) -> Bool {
            // Versions begin again at 0.
            cSeq <= self.cSeq && Int32(bitPattern: self.version &- version) >= 0
        }
    }

    private(set) var storage = Storage.none
    /// Reserved numbers; nil: the record is settled.
    private(set) var reserve: Reserve?
    /// Time of the last notification.
    private(set) var notifiedAt = Instant(nanosecondsSince1970: 0)
    /// Whether the dialog waits to be settled.
    private(set) var isQueued = false

    /// Notes that the dialog is part of a commit from now on.
    mutating func begin() { storage = .begun }

    /// Notes that the store has the dialog.
    mutating func noteStored() { storage = .stored }

    /// Takes over a stored record.
    mutating func restore(_ stored: StoredDialog) {
        reserve = stored.isUnsettled ? Reserve(upTo: stored.dialog.localCSeq, stored.listVersion) : nil
        storage = .stored
    }

    /// Notes a notification.
    /// - Returns: whether it waits for a commit of the record.
    mutating func notified(_ cSeq: UInt32, _ version: UInt32, at now: Instant) -> Bool {
        notifiedAt = now
        if let reserve, reserve.has(cSeq, version) { return false }
        unsettle(from: cSeq, version)
        return true
    }

    /// Notes a number that is used for a copy of a notification, or for a 200 in place of one.
    /// - Returns: whether it waits for a commit of the record.
    mutating func used(_ cSeq: UInt32, _ version: UInt32) -> Bool {
        guard let reserve, !reserve.has(cSeq, version) else { return false }
        unsettle(from: cSeq, version)
        return true
    }

    /// Begins a block of numbers.
    mutating func unsettle(from cSeq: UInt32, _ version: UInt32) { reserve = Reserve(from: cSeq, version) }

    /// Notes that the next commit has the state that the watcher was last notified of.
    mutating func settle() { reserve = nil }

    /// Notes whether the dialog waits to be settled.
    mutating func queue(_ isQueued: Bool) { self.isQueued = isQueued }
}
