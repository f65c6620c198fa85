import XMLCore

// RFC 4480 values. Open: a token that is not listed keeps its name.

/// Value that documents write as an element name or as text.
public protocol PresenceToken: Hashable, Sendable, CustomStringConvertible {
    /// Name as spelled in documents.
    var name: String { get }
    init(_ name: String)
    /// Values that the standard registers, except `other`.
    static var registered: [Self] { get }
}

extension PresenceToken {
    public var description: String { name }
    /// Value `unknown`, for vocabularies that have it.
    public static var unknown: Self { Self("unknown") }
}

/// Activity of the person (RFC 4480 3.2).
public struct RPIDActivity: PresenceToken {
    /// Name as spelled in documents.
    public let name: String
    /// Wraps a name; names that are not listed here are kept.
    public init(_ name: String) { self.name = name }

    /// Has a calendar appointment of unspecified kind.
    public static let appointment = RPIDActivity("appointment")
    /// Is away from interactive communication devices.
    public static let away = RPIDActivity("away")
    /// Eats the first meal of the day.
    public static let breakfast = RPIDActivity("breakfast")
    /// Is busy, without details.
    public static let busy = RPIDActivity("busy")
    /// Eats the main meal of the day.
    public static let dinner = RPIDActivity("dinner")
    /// Has a public holiday.
    public static let holiday = RPIDActivity("holiday")
    /// Rides in a vehicle without steering it.
    public static let inTransit = RPIDActivity("in-transit")
    /// Looks for paid work.
    public static let lookingForWork = RPIDActivity("looking-for-work")
    /// Eats a meal of unspecified kind.
    public static let meal = RPIDActivity("meal")
    /// Takes part in an assembly.
    public static let meeting = RPIDActivity("meeting")
    /// Talks on the telephone.
    public static let onThePhone = RPIDActivity("on-the-phone")
    /// Attends a performance.
    public static let performance = RPIDActivity("performance")
    /// Will not return for the foreseeable future.
    public static let permanentAbsence = RPIDActivity("permanent-absence")
    /// Plays a game, sport or instrument.
    public static let playing = RPIDActivity("playing")
    /// Gives a presentation.
    public static let presentation = RPIDActivity("presentation")
    /// Shops for goods or services.
    public static let shopping = RPIDActivity("shopping")
    /// Sleeps.
    public static let sleeping = RPIDActivity("sleeping")
    /// Watches an event, such as a sports event.
    public static let spectator = RPIDActivity("spectator")
    /// Controls a vehicle.
    public static let steering = RPIDActivity("steering")
    /// Is on a business or personal trip.
    public static let travel = RPIDActivity("travel")
    /// Watches television.
    public static let tv = RPIDActivity("tv")
    /// Has a period of leisure away from work.
    public static let vacation = RPIDActivity("vacation")
    /// Works, typically for pay.
    public static let working = RPIDActivity("working")
    /// Takes part in a religious rite.
    public static let worship = RPIDActivity("worship")
    /// The activity is not known.
    public static let unknown = RPIDActivity("unknown")

    /// Values that the standard registers.
    public static let registered: [RPIDActivity] = [
        .appointment, .away, .breakfast, .busy, .dinner, .holiday, .inTransit, .lookingForWork, .meal, .meeting, .onThePhone, .performance,
        .permanentAbsence, .playing, .presentation, .shopping, .sleeping, .spectator, .steering, .travel, .tv, .unknown, .vacation,
        .working,
        .worship,
    ]
}

/// Mood of the person (RFC 4480 3.5).
public struct RPIDMood: PresenceToken {
    /// Name as spelled in documents.
    public let name: String
    /// Wraps a name; names that are not listed here are kept.
    public init(_ name: String) { self.name = name }

    /// Values that the standard registers.
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
    /// Name as spelled in documents.
    public let name: String
    /// Wraps a name; names that are not listed here are kept.
    public init(_ name: String) { self.name = name }

    /// Business setting, such as an office (RFC 4589).
    public static let office = LocationType("office")
    /// Private or residential setting (RFC 4589).
    public static let residence = LocationType("residence")

    /// Values that the standard registers.
    public static let registered: [LocationType] = [
        "aircraft", "airport", "arena", "automobile", "bank", "bar", "bicycle", "bus", "bus-station", "cafe", "classroom", "club",
        "construction", "convention-center", "government", "hospital", "hotel", "industrial", "library", "motorcycle", "office", "outdoors",
        "parking", "place-of-worship", "prison", "public", "public-transport", "residence", "restaurant", "school", "shopping-area",
        "stadium", "store", "street", "theater", "train", "train-station", "truck", "underway", "unknown", "warehouse", "water",
        "watercraft",
    ].map(LocationType.init)
}

/// Relationship of a tuple's contact to the presentity (RFC 4480 3.9).
public struct RPIDRelationship: PresenceToken {
    /// Name as spelled in documents.
    public let name: String
    /// Wraps a name; names that are not listed here are kept.
    public init(_ name: String) { self.name = name }

    /// Values that the standard registers.
    public static let registered: [RPIDRelationship] = [
        "assistant", "associate", "family", "friend", "self", "supervisor", "unknown",
    ].map(RPIDRelationship.init)
}

/// Delivery method of the service (RFC 4480 3.10).
public struct RPIDServiceClass: PresenceToken {
    /// Name as spelled in documents.
    public let name: String
    /// Wraps a name; names that are not listed here are kept.
    public init(_ name: String) { self.name = name }

    /// Values that the standard registers.
    public static let registered: [RPIDServiceClass] = [
        "courier", "electronic", "freight", "in-person", "postal", "unknown",
    ].map(RPIDServiceClass.init)
}

/// Role in which the person acts (RFC 4480 3.11).
public struct RPIDSphere: PresenceToken {
    /// Name as spelled in documents.
    public let name: String
    /// Wraps a name; names that are not listed here are kept.
    public init(_ name: String) { self.name = name }

    /// Private role.
    public static let home = RPIDSphere("home")
    /// Professional role.
    public static let work = RPIDSphere("work")
    /// Values that the standard registers.
    public static let registered: [RPIDSphere] = [.home, .work, RPIDSphere("unknown")]
}
