/// What a simulated presentity shows: one of few moods that every format can tell apart, and the number of its publication as a note,
/// so that an older state is known from a newer one.
enum SimulatedMood: String, CaseIterable {
    case available, busy, away
    /// Says so itself; a presentity that shows nothing looks the same.
    case offline

    /// MS-PRES 3.8.5: a number of each class.
    var availability: Int {
        switch self {
        case .available: 3500
        case .busy: 6500
        case .away: 15_500
        case .offline: 18_500
        }
    }

    var basic: String { self == .offline ? "closed" : "open" }
    /// RPID activities (RFC 4480 3.2).
    var activities: [String] { self == .busy || self == .away ? [rawValue] : [] }

    /// The mood that a document shows a reader.
    init(_ seen: ObservedPresence) {
        if let availability = seen.availability {
            switch availability {
            case 3000..<6000: self = .available
            case 6000..<12_000: self = .busy
            case 12_000..<18_000: self = .away
            default: self = .offline
            }
        } else if seen.basic != "open" {
            self = .offline
        } else {
            self = seen.activities.contains("busy") ? .busy : seen.activities.contains("away") ? .away : .available
        }
    }

    /// The number of the publication, where the format has notes.
    static func number(_ seen: ObservedPresence) -> Int? {
        seen.notes.compactMap { $0.hasPrefix("n=") ? Int($0.dropFirst(2)) : nil }.max()
    }
}
