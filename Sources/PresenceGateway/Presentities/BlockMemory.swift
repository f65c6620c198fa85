import EnhancedPresence
import SIPCore

/// The watchers that were shown each presentity, and the sign-offs shown to blocked ones (``BlockLook``).
///
///     (unknown) --shown presence--> shown --blocked--> signedOff(n) --unblocked and shown presence--> shown
///
/// Bounded per presentity and in total. When full, it forgets a watcher that is not blocked and was not shown presence for a while: the
/// least recent one of the same presentity, at least 1 day ago, or one of another presentity, at least 30 days ago. Otherwise the new
/// watcher is not recorded. Once blocked, watchers without an entry, and those of a sign-off that did not fit, see a user that never
/// published, which reveals no value.
struct BlockMemory {
    /// The keys of an entry.
    struct Place: Hashable {
        var presentity: String
        var watcher: PresenceAddress
    }

    enum Standing: Hashable {
        case shown
        case signedOff(UInt32)
    }

    struct Entry: Hashable {
        var standing: Standing
        /// Time at which presence was last shown, to within ``BlockMemory/precision``.
        var shownAt: Instant
    }

    struct Bounds: Hashable {
        var watchers: Int
        var signOffs: Int
        /// Watchers of one presentity, which bounds the cost of a membership change.
        var watchersPerPresentity = 10_000
        var signOffsPerPresentity = 100
    }

    /// Precision of ``Entry/shownAt``: 1 day.
    static let precision = TimeSpan.seconds(86_400)
    /// Shortest time without presence before a watcher of another presentity is forgotten: 30 days.
    static let disuse = TimeSpan.seconds(30 * 86_400)

    private(set) var bounds: Bounds
    private(set) var watcherCount = 0
    private(set) var signOffCount = 0
    /// Number of entries and sign-offs that were forgotten or not recorded because the table was full.
    private(set) var forgotten: UInt64 = 0
    private var shelves: [String: Shelf] = [:]
    /// Presentities still to be searched for an unused entry; refilled when empty.
    private var unsearched: [String] = []

    private struct Shelf {
        var entries: [PresenceAddress: (entry: Entry, turn: UInt64)] = [:]
        /// Watchers by the time of their last presence, oldest first; pairs with an outdated turn are skipped.
        var order: [(turn: UInt64, watcher: PresenceAddress)] = []
        var head = 0
        var lastTurn: UInt64 = 0
        var signOffs: [UInt32: Instant] = [:]
        var lastSignOff: UInt32 = 0

        var isEmpty: Bool { entries.isEmpty && signOffs.isEmpty }

        mutating func set(_ entry: Entry, _ watcher: PresenceAddress) {
            lastTurn += 1
            entries[watcher] = (entry, lastTurn)
            guard entry.standing == .shown else { return }
            if order.count > 2 * entries.count + 32 {
                order = order[head...].filter { entries[$0.watcher]?.turn == $0.turn }
                head = 0
            }
            order.append((lastTurn, watcher))
        }

        /// The unblocked watcher that was shown presence least recently, if not after `limit`.
        mutating func oldest(shownBefore limit: Instant) -> PresenceAddress? {
            while head < order.count {
                let (turn, watcher) = order[head]
                if let held = entries[watcher], held.turn == turn, held.entry.standing == .shown {
                    return held.entry.shownAt <= limit ? watcher : nil
                }
                head += 1
            }
            return nil
        }
    }

    init(bounds: Bounds) { self.bounds = bounds }

    /// Applies other limits to later entries.
    mutating func use(_ bounds: Bounds) { self.bounds = bounds }

    func entry(of watcher: PresenceAddress, at presentity: String) -> Entry? { shelves[presentity]?.entries[watcher]?.entry }

    func standing(of watcher: PresenceAddress, at presentity: String) -> Standing? { entry(of: watcher, at: presentity)?.standing }

    /// The watchers that were shown presence and see no sign-off, in no particular order.
    func shownWatchers(of presentity: String) -> [PresenceAddress] {
        (shelves[presentity]?.entries ?? [:]).filter { $0.value.entry.standing == .shown }.map(\.key)
    }

    func moment(ofSignOff number: UInt32, at presentity: String) -> Instant? { shelves[presentity]?.signOffs[number] }

    /// Numbers of the presentity's sign-offs, sorted.
    func signOffs(of presentity: String) -> [UInt32] { (shelves[presentity]?.signOffs.keys).map { $0.sorted() } ?? [] }

    // MARK: changes

    /// Whether ``noteShown(_:at:_:)`` would change nothing, because the watcher was shown presence a short time ago.
    func isShown(_ watcher: PresenceAddress, at presentity: String, _ now: Instant) -> Bool {
        guard let known = entry(of: watcher, at: presentity) else { return false }
        return known.standing == .shown && now < known.shownAt + Self.precision
    }

    /// Records that a watcher was shown presence, if the table is not full.
    /// - Returns: whether the entry changed.
    mutating func noteShown(_ watcher: PresenceAddress, at presentity: String, _ now: Instant) -> Bool {
        let entry = Entry(standing: .shown, shownAt: now)
        if self.entry(of: watcher, at: presentity) != nil {
            if isShown(watcher, at: presentity, now) { return false }
            shelves[presentity]?.set(entry, watcher)
            return true
        }
        guard !isFull(presentity) else { return false }
        shelves[presentity, default: Shelf()].set(entry, watcher)
        watcherCount += 1
        return true
    }

    private func isFull(_ presentity: String) -> Bool {
        watcherCount >= bounds.watchers || shelves[presentity]?.entries.count ?? 0 >= bounds.watchersPerPresentity
    }

    enum Room: Hashable {
        case free
        /// Another entry was forgotten.
        case made(Place)
        case none
    }

    /// Makes room for one more watcher of a presentity; searches at most 16 other presentities.
    mutating func makeRoom(at presentity: String, _ now: Instant) -> Room {
        guard isFull(presentity) else { return .free }
        forgotten += 1
        if let watcher = shelves[presentity]?.oldest(shownBefore: now - Self.precision) {
            forget(watcher, at: presentity)
            return .made(Place(presentity: presentity, watcher: watcher))
        }
        guard shelves[presentity]?.entries.count ?? 0 < bounds.watchersPerPresentity else { return .none }
        if unsearched.isEmpty { unsearched = shelves.keys.sorted(by: >) }
        for _ in 0..<min(16, unsearched.count) {
            let other = unsearched[unsearched.count - 1]
            if let watcher = shelves[other]?.oldest(shownBefore: now - Self.disuse) {
                forget(watcher, at: other)
                return .made(Place(presentity: other, watcher: watcher))
            }
            unsearched.removeLast()
        }
        return .none
    }

    /// Adds a sign-off that is shown to these watchers.
    /// - Returns: its number; nil: the table is full, and the watchers are forgotten.
    mutating func signOff(_ presentity: String, for watchers: [PresenceAddress], at now: Instant) -> UInt32? {
        guard signOffCount < bounds.signOffs, shelves[presentity]?.signOffs.count ?? 0 < bounds.signOffsPerPresentity else {
            forgotten += 1
            watchers.forEach { forget($0, at: presentity) }
            return nil
        }
        var shelf = shelves[presentity] ?? Shelf()
        shelf.lastSignOff &+= 1
        while shelf.signOffs[shelf.lastSignOff] != nil { shelf.lastSignOff &+= 1 }
        shelf.signOffs[shelf.lastSignOff] = now
        signOffCount += 1
        for watcher in watchers {
            guard var entry = shelf.entries[watcher]?.entry else { continue }
            entry.standing = .signedOff(shelf.lastSignOff)
            shelf.set(entry, watcher)
        }
        shelves[presentity] = shelf
        return shelf.lastSignOff
    }

    mutating func forget(_ watcher: PresenceAddress, at presentity: String) {
        guard shelves[presentity]?.entries.removeValue(forKey: watcher) != nil else { return }
        watcherCount -= 1
        if shelves[presentity]?.isEmpty == true { shelves[presentity] = nil }
    }

    /// Removes a sign-off and forgets its watchers.
    /// - Returns: the forgotten watchers.
    mutating func end(signOff number: UInt32, of presentity: String) -> [PresenceAddress] {
        guard shelves[presentity]?.signOffs.removeValue(forKey: number) != nil else { return [] }
        signOffCount -= 1
        let watchers = (shelves[presentity]?.entries ?? [:]).filter { $0.value.entry.standing == .signedOff(number) }.map(\.key)
        watchers.forEach { forget($0, at: presentity) }
        if shelves[presentity]?.isEmpty == true { shelves[presentity] = nil }
        return watchers
    }

    /// Whether a watcher sees the sign-off.
    func isSeen(signOff number: UInt32, of presentity: String) -> Bool {
        shelves[presentity]?.entries.contains { $0.value.entry.standing == .signedOff(number) } ?? false
    }

    // MARK: restart

    mutating func restore(_ entry: Entry, _ watcher: PresenceAddress, at presentity: String) {
        if self.entry(of: watcher, at: presentity) == nil { watcherCount += 1 }
        var shelf = shelves[presentity] ?? Shelf()
        shelf.set(entry, watcher)
        // The sign-off itself may be lost, but its number must not be reused.
        if case .signedOff(let number) = entry.standing { shelf.lastSignOff = max(shelf.lastSignOff, number) }
        shelves[presentity] = shelf
    }

    mutating func restore(signOff number: UInt32, of presentity: String, at moment: Instant) {
        var shelf = shelves[presentity] ?? Shelf()
        if shelf.signOffs.updateValue(moment, forKey: number) == nil { signOffCount += 1 }
        shelf.lastSignOff = max(shelf.lastSignOff, number)
        shelves[presentity] = shelf
    }
}

extension BlockMemory.Bounds {
    init(_ limits: GatewayLimits) { self.init(watchers: limits.shownWatchers, signOffs: limits.signOffs) }
}
