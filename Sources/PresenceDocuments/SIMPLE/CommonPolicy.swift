import XMLCore

// RFC 4745, Common Policy, with the vocabulary of RFC 5025 and of OMA Presence XDM
// namespace urn:ietf:params:xml:ns:common-policy, media type application/auth-policy+xml

/// Presence authorization rules of one presentity (RFC 4745 6, RFC 5025).
public struct PresenceRulesDocument: Hashable, Sendable {
    /// Rules in document order, which has no meaning (RFC 4745 10).
    public var rules: [PresenceRule]

    /// Creates a ruleset; by default without rules.
    public init(rules: [PresenceRule] = []) { self.rules = rules }

    /// Number of rules that a document may have.
    public static let maximumRules = 1_000
    /// Number of `one`, `many` and `except` elements that a document may have.
    public static let maximumIdentities = 5_000
}

/// Rule: conditions, and the permissions that it grants if all of them match (RFC 4745 6).
public struct PresenceRule: Hashable, Sendable {
    /// Id, unique in the document.
    public var id: String
    /// Conditions, all of which must match; without any the rule matches every watcher.
    public var conditions: [RuleCondition] = []
    /// Handling of the subscription (RFC 5025 3.2.1); nil when absent.
    public var handling: SubscriptionHandling?
    /// Unknown actions; kept and written again.
    public var otherActions: [XMLFragment] = []
    /// Transformations in document order.
    public var transformations: [RuleTransformation] = []

    public init(
        id: String, conditions: [RuleCondition] = [], handling: SubscriptionHandling? = nil, transformations: [RuleTransformation] = []
    ) {
        self.id = id
        self.conditions = conditions
        self.handling = handling
        self.transformations = transformations
    }
}

/// Condition of a rule (RFC 4745 7).
public enum RuleCondition: Hashable, Sendable {
    /// Element `identity`: the watcher matches at least one of the elements (RFC 4745 7.1).
    case identity([IdentityMatch])
    /// Element `sphere`: the presentity is in that sphere (RFC 4745 7.2).
    case sphere(String)
    /// Element `validity`: the time is in at least one of the periods (RFC 4745 7.3).
    case validity([ValidityPeriod])
    /// Element `external-list` of OMA: the watcher is in one of the lists, named by the URIs of their elements.
    case externalList(anchors: [String])
    /// Element `anonymous-request` of OMA: the watcher has no proven identity.
    case anonymousRequest
    /// Element `other-identity` of OMA: no identity and no external list of any rule names the watcher.
    case otherIdentity
    /// Unknown condition, which never matches (RFC 4745 5.2).
    case other(XMLFragment)
}

/// Child element of `identity` (RFC 4745 7.1).
public enum IdentityMatch: Hashable, Sendable {
    /// Element `one`: one identity (RFC 4745 7.1.2). With unknown children it never matches.
    case one(id: String, extensions: [XMLFragment] = [])
    /// Element `many`: all identities, or those of a domain, without the exceptions (RFC 4745 7.1.3). With unknown children it never
    /// matches.
    case many(domain: String? = nil, exceptions: [IdentityException] = [], extensions: [XMLFragment] = [])
    /// Unknown element, which never matches.
    case other(XMLFragment)
}

/// Element `except`: identities that a `many` does not include (RFC 4745 7.1.3).
public struct IdentityException: Hashable, Sendable {
    /// Excluded identity; nil when absent.
    public var id: String?
    /// Excluded domain; nil when absent.
    public var domain: String?

    public init(id: String? = nil, domain: String? = nil) {
        self.id = id
        self.domain = domain
    }
}

/// Period of a `validity` (RFC 4745 7.3).
public struct ValidityPeriod: Hashable, Sendable {
    /// First moment of the period.
    public var from: DateTime
    /// First moment after the period.
    public var until: DateTime

    public init(from: DateTime, until: DateTime) {
        self.from = from
        self.until = until
    }
}

/// Names of RFC 4745 and of the OMA conditions.
enum CommonPolicyName {
    static let ruleset = XMLName("ruleset", in: .commonPolicy)
    static let rule = XMLName("rule", in: .commonPolicy)
    static let conditions = XMLName("conditions", in: .commonPolicy)
    static let actions = XMLName("actions", in: .commonPolicy)
    static let transformations = XMLName("transformations", in: .commonPolicy)
    static let identity = XMLName("identity", in: .commonPolicy)
    static let one = XMLName("one", in: .commonPolicy)
    static let many = XMLName("many", in: .commonPolicy)
    static let except = XMLName("except", in: .commonPolicy)
    static let sphere = XMLName("sphere", in: .commonPolicy)
    static let validity = XMLName("validity", in: .commonPolicy)
    static let from = XMLName("from", in: .commonPolicy)
    static let until = XMLName("until", in: .commonPolicy)
    static let externalList = XMLName("external-list", in: .omaCommonPolicy)
    static let entry = XMLName("entry", in: .omaCommonPolicy)
    static let anonymousRequest = XMLName("anonymous-request", in: .omaCommonPolicy)
    static let otherIdentity = XMLName("other-identity", in: .omaCommonPolicy)
}
