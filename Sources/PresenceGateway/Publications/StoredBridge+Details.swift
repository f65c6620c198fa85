import SIPCore

/// Names of the details and kinds of the items.
extension StoredBridge {
    enum Detail {
        static let tag = "tag"
        static let lapse = "lapse"
        static let expires = "expires"
        static let digest = "digest"
        static let endpoints = "endpoints"
        static let hopMarks = "hop-marks"
        static let number = "number"
        static let arrived = "arrived"
        static let computesState = "computes-state"
        static let until = "until"
        static let renew = "renew"
        static let version = "version"
        static let isUncertain = "uncertain"
    }

    enum ItemKind {
        static let computed = "computed"
        static let source = "source"
        static let standing = "standing"
    }

    /// The details with all times shifted.
    static func shifted(_ details: [String: String], by span: TimeSpan) -> [String: String] {
        var details = details
        for key in [Detail.lapse, Detail.until, Detail.renew, Detail.arrived] {
            guard let time = details[key].flatMap({ Int64($0) }) else { continue }
            details[key] = String((Instant(nanosecondsSince1970: time) + span).nanosecondsSince1970)
        }
        return details
    }
}
