import PresenceDocuments

/// The known state of a presentity in its original format; watchers' views are rendered from it.
enum PresenceSource: Equatable {
    /// No state was received yet.
    case unknown
    /// Never published, or lost for so long that it counts as offline.
    case offline
    case categories(CategoryMerge)
    case pidf(PIDFDocument)
    case msrtc(MSRTCPIDFDocument)

    var isKnown: Bool { self != .unknown }
}
