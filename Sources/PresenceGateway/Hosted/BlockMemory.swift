import EnhancedPresence
import SIPCore

/// Which watchers each presentity was shown to, and the sign-offs that blocked ones of them see (``BlockLook``).
///
///     (unknown) --shown presence--> shown --blocked--> signedOff(n) --unblocked and shown presence--> shown
///
/// Bounded for each presentity and as a whole. A full table makes room by forgetting a watcher that is not blocked and was not shown
/// presence for a while: the longest, of the presentity's own; 30 days, of others. Else the new watcher is not noted. A watcher that is
/// not remembered, and a block without room for its sign-off, are shown a user that never published: no value more than before.
struct BlockMemory {
    /// An entry, by its keys.
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
        /// When presence was last shown, to a day.
        var shownAt: Instant
    }

    struct Bounds: Hashable {
        var watchers: Int
        var signOffs: Int
        /// Of one presentity, so that a membership change looks at no more.
        var watchersPerPresentity = 10_000
        var signOffsPerPresentity = 100
    }

    /// How exactly it is known when a watcher was last shown presence.
    static let precision = TimeSpan.seconds(86_400)
    /// Least time without presence after which a watcher of another presentity makes room.
    static let disuse = TimeSpan.seconds(30 * 86_400)

    var bounds: Bounds
    private(set) var watcherCount = 0
    private(set) var signOffCount = 0
    /// Entries that made room for others or found none, and sign-offs without room.
    private(set) var forgotten: UInt64 = 0
    private var shelves: [String: Shelf] = [:]
    /// Presentities in which an unused entry is still to be looked for; refilled when empty.
    private var unsearched: [String] = []

    private struct Shelf {
        var entries: [PresenceAddress: (entry: Entry, turn: UInt64)] = [:]
        /// Watchers that were shown presence, the longest ago first; entries with another turn by now are skipped.
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

        /// The watcher that is not blocked and was not shown presence for the longest time, if that is before the limit.
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

    func entry(of watcher: PresenceAddress, at presentity: String) -> Entry? { shelves[presentity]?.entries[watcher]?.entry }

    func standing(of watcher: PresenceAddress, at presentity: String) -> Standing? { entry(of: watcher, at: presentity)?.standing }

    /// The watchers of the presentity that were shown presence and see no sign-off, in no particular order.
    func shownWatchers(of presentity: String) -> [PresenceAddress] {
        (shelves[presentity]?.entries ?? [:]).filter { $0.value.entry.standing == .shown }.map(\.key)
    }

    func moment(ofSignOff number: UInt32, at presentity: String) -> Instant? { shelves[presentity]?.signOffs[number] }

    /// The sign-offs of the presentity, by number.
    func signOffs(of presentity: String) -> [UInt32] { (shelves[presentity]?.signOffs.keys).map { $0.sorted() } ?? [] }

    // MARK: changes

    /// Notes that a watcher was shown presence, if there is room for it.
    /// - Returns: whether its entry changed.
    mutating func noteShown(_ watcher: PresenceAddress, at presentity: String, _ now: Instant) -> Bool {
        let entry = Entry(standing: .shown, shownAt: now)
        if let known = self.entry(of: watcher, at: presentity) {
            if known.standing == .shown, now < known.shownAt + Self.precision { return false }
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

    /// Makes room for one more watcher of a presentity. Looks at no more than 16 other presentities.
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

    /// Notes a sign-off that these watchers see from now on.
    /// - Returns: Its number; nil: there is no room for it, and the watchers are forgotten.
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

    /// Ends a sign-off; its watchers are forgotten.
    /// - Returns: those watchers.
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
        // The sign-off itself may be lost; its number is not given to a later one.
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
