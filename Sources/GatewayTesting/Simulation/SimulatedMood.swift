import ScriptedPeers
/// Presence of a simulated presentity: one of few moods that every format can express, with the number of the publication as a note, which
/// shows the age of the state.
enum SimulatedMood: String, CaseIterable {
    case available, busy, away
    /// Published as offline; a presentity without presence looks the same.
    case offline

    /// Availability number, one of each class (MS-PRES 3.8.5).
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

    /// Mood that a document shows.
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

    /// Number of the publication in the note; nil for formats without notes.
    static func number(_ seen: ObservedPresence) -> Int? {
        seen.notes.compactMap { $0.hasPrefix("n=") ? Int($0.dropFirst(2)) : nil }.max()
    }
}
