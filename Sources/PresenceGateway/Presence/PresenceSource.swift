import PresenceDocuments

/// What is known of a presentity, in the words of whoever said it; watchers' views are made from it.
enum PresenceSource: Equatable {
    /// Nothing was heard yet.
    case unknown
    /// Known to show nothing: never published, or lost for so long that it counts as gone.
    case offline
    case categories(CategoryMerge)
    case pidf(PIDFDocument)
    case msrtc(MSRTCPIDFDocument)

    var isKnown: Bool { self != .unknown }
}
