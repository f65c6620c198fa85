import XMLCore

// RFC 4480 values. Open: a token that is not listed keeps its name.

/// A value that documents write as an element's name or as text.
public protocol PresenceToken: Hashable, Sendable, CustomStringConvertible {
    /// As spelled in documents.
    var name: String { get }
    init(_ name: String)
    /// Every value that the standard registers, `other` left out.
    static var registered: [Self] { get }
}

extension PresenceToken {
    public var description: String { name }
    /// The value whose schema has `unknown`.
    public static var unknown: Self { Self("unknown") }
}

/// What the person does (RFC 4480 3.2).
public struct RPIDActivity: PresenceToken {
    public let name: String
    public init(_ name: String) { self.name = name }

    public static let appointment = RPIDActivity("appointment")
    public static let away = RPIDActivity("away")
    public static let breakfast = RPIDActivity("breakfast")
    public static let busy = RPIDActivity("busy")
    public static let dinner = RPIDActivity("dinner")
    public static let holiday = RPIDActivity("holiday")
    public static let inTransit = RPIDActivity("in-transit")
    public static let lookingForWork = RPIDActivity("looking-for-work")
    public static let meal = RPIDActivity("meal")
    public static let meeting = RPIDActivity("meeting")
    public static let onThePhone = RPIDActivity("on-the-phone")
    public static let performance = RPIDActivity("performance")
    public static let permanentAbsence = RPIDActivity("permanent-absence")
    public static let playing = RPIDActivity("playing")
    public static let presentation = RPIDActivity("presentation")
    public static let shopping = RPIDActivity("shopping")
    public static let sleeping = RPIDActivity("sleeping")
    public static let spectator = RPIDActivity("spectator")
    public static let steering = RPIDActivity("steering")
    public static let travel = RPIDActivity("travel")
    public static let tv = RPIDActivity("tv")
    public static let vacation = RPIDActivity("vacation")
    public static let working = RPIDActivity("working")
    public static let worship = RPIDActivity("worship")
    public static let unknown = RPIDActivity("unknown")

    public static let registered: [RPIDActivity] = [
        .appointment, .away, .breakfast, .busy, .dinner, .holiday, .inTransit, .lookingForWork, .meal, .meeting, .onThePhone, .performance,
        .permanentAbsence, .playing, .presentation, .shopping, .sleeping, .spectator, .steering, .travel, .tv, .unknown, .vacation,
        .working,
        .worship,
    ]
}

/// How the person feels (RFC 4480 3.5).
public struct RPIDMood: PresenceToken {
    public let name: String
    public init(_ name: String) { self.name = name }

    public static let registered: [RPIDMood] = [
        "afraid", "amazed", "angry", "annoyed", "anxious", "ashamed", "bored", "brave", "calm", "cold", "confused", "contented", "cranky",
        "curious", "depressed", "disappointed", "disgusted", "distracted", "embarrassed", "excited", "flirtatious", "frustrated", "grumpy",
        "guilty", "happy", "hot", "humbled", "humiliated", "hungry", "hurt", "impressed", "in_awe", "in_love", "indignant", "interested",
        "invincible", "jealous", "lonely", "mean", "moody", "nervous", "neutral", "offended", "playful", "proud", "relieved", "remorseful",
        "restless", "sad", "sarcastic", "serious", "shocked", "shy", "sick", "sleepy", "stressed", "surprised", "thirsty", "unknown",
        "worried",
    ].map(RPIDMood.init)
}

/// Kind of place (RFC 4480 3.7, values of RFC 4589).
public struct LocationType: PresenceToken {
    public let name: String
    public init(_ name: String) { self.name = name }

    public static let office = LocationType("office")
    public static let residence = LocationType("residence")

    public static let registered: [LocationType] = [
        "aircraft", "airport", "arena", "automobile", "bank", "bar", "bicycle", "bus", "bus-station", "cafe", "classroom", "club",
        "construction", "convention-center", "government", "hospital", "hotel", "industrial", "library", "motorcycle", "office", "outdoors",
        "parking", "place-of-worship", "prison", "public", "public-transport", "residence", "restaurant", "school", "shopping-area",
        "stadium", "store", "street", "theater", "train", "train-station", "truck", "underway", "unknown", "warehouse", "water",
        "watercraft",
    ].map(LocationType.init)
}

/// Whom a tuple's contact reaches, seen from the presentity (RFC 4480 3.9).
public struct RPIDRelationship: PresenceToken {
    public let name: String
    public init(_ name: String) { self.name = name }

    public static let registered: [RPIDRelationship] = [
        "assistant", "associate", "family", "friend", "self", "supervisor", "unknown",
    ].map(RPIDRelationship.init)
}

/// How the service delivers (RFC 4480 3.10).
public struct RPIDServiceClass: PresenceToken {
    public let name: String
    public init(_ name: String) { self.name = name }

    public static let registered: [RPIDServiceClass] = [
        "courier", "electronic", "freight", "in-person", "postal", "unknown",
    ].map(RPIDServiceClass.init)
}

/// Role in which the person acts (RFC 4480 3.11).
public struct RPIDSphere: PresenceToken {
    public let name: String
    public init(_ name: String) { self.name = name }

    public static let home = RPIDSphere("home")
    public static let work = RPIDSphere("work")
    public static let registered: [RPIDSphere] = [.home, .work, RPIDSphere("unknown")]
}
