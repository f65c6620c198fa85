import PresenceDocuments
import SIPCore

/// Circumstances of a decision besides rules, lists and watcher.
public struct DecisionContext: Hashable, Sendable {
    /// Time of the decision.
    public var now: Instant
    /// Sphere of the presentity.
    public var sphere: PresentitySphere
    /// Handling of watchers that no rule matches, and of all watchers of presentities without rules: `block`, `confirm` or `allow`.
    package var unruled: UnruledHandling
    /// Verdict of the operator, which precedes the rules (PacketCable PKT-SP-PRS 6.3.5).
    package var operatorVerdict: OperatorVerdict

    public init(
        now: Instant, sphere: PresentitySphere = .undefined, unruled: UnruledHandling = .block, operatorVerdict: OperatorVerdict = .permit
    ) {
        self.now = now
        self.sphere = sphere
        self.unruled = unruled
        self.operatorVerdict = operatorVerdict
    }
}

/// Handling of watchers that no rule matches.
public enum UnruledHandling: String, Hashable, Sendable, CaseIterable {
    /// The subscription is refused (RFC 5025 3.2.1).
    case block
    /// The presentity is asked.
    case confirm
    /// The watcher sees everything.
    case allow

    /// The same as a value of `sub-handling`.
    public var handling: SubscriptionHandling {
        switch self {
        case .block: .block
        case .confirm: .confirm
        case .allow: .allow
        }
    }
}

/// Verdict of the operator about a watcher.
public enum OperatorVerdict: Hashable, Sendable {
    /// The rules decide.
    case permit
    /// The watcher is refused, whatever the rules grant.
    case deny
}

/// Presence that a watcher may see of a presentity, with the reasons.
public struct Decision: Hashable, Sendable {
    /// Handling of the subscription.
    public var handling: SubscriptionHandling
    /// Permissions of the matched rules; they apply if the handling is `allow`.
    public var grants: PresenceGrants
    /// Part of the policy that decided.
    package var origin: Origin
    /// Rules that match, in document order.
    public var matched: [RuleMatch]
    /// Rules that do not match, in document order, as many as were asked for.
    public var unmatched: [RuleMiss]
    /// Number of rules that do not match and are not in ``unmatched``; 0 if no reasons were asked for.
    package var unmatchedOmitted: Int
    /// Next moment at which the decision may change without a change of documents or sphere; nil if there is none.
    package var holdsUntil: Instant?
    /// Whether another sphere may change the decision.
    package var dependsOnSphere: Bool
    /// Paths of the resource-lists documents that may change the decision.
    package var listDocuments: [String]

    /// Part of the policy that decided.
    package enum Origin: Hashable, Sendable {
        /// The operator refused.
        case operatorDenied
        /// At least one rule matched.
        case rules
        /// No rule matched.
        case unruled
        /// No rule matched and a list could not be read, so that `allow` is lowered to `confirm`: a rule might block the watcher.
        case unreadableList
    }
}

/// Rule that matches a watcher.
public struct RuleMatch: Hashable, Sendable {
    /// Id of the rule.
    public var rule: String
    /// Handling of the rule; nil if it has none.
    public var handling: SubscriptionHandling?
    /// Conditions, all of which match; empty for a rule without conditions.
    public var conditions: [Reason]
    /// Whether the rule counts: the precedence of OMA lets an identity outweigh a list, and a list the other identities.
    package var counts: Bool

    /// Condition that matches.
    public enum Reason: Hashable, Sendable {
        /// Element `one` with that id.
        case one(id: String)
        /// Element `many`; nil: without a domain.
        case many(domain: String?)
        /// Entry of a list: the URI in the rule, and the names from the outermost list to the one with the entry.
        case list(anchor: String, name: String)
        /// Element `sphere` with that value.
        case sphere(String)
        /// Period that includes the time.
        case validity(from: Instant, until: Instant)
        /// The watcher is anonymous.
        case anonymousRequest
        /// No identity and no list of any rule names the watcher.
        case otherIdentity
    }
}

/// Rule that does not match a watcher.
public struct RuleMiss: Hashable, Sendable {
    /// Id of the rule.
    public var rule: String
    /// First condition that does not match.
    public var reason: Reason

    /// Condition that does not match.
    public enum Reason: Hashable, Sendable {
        /// The watcher is anonymous, and the condition needs an identity.
        case anonymous
        /// No element of `identity` names the watcher.
        case identity
        /// An `except` excludes the watcher.
        case excepted
        /// No list has the watcher.
        case notInList
        /// The condition is for anonymous watchers.
        case notAnonymous
        /// The rule with that id names the watcher.
        case namedBy(rule: String)
        /// A list that could not be read might name the watcher.
        case unreadableList
        /// The sphere is another one, or undefined.
        case sphere(required: String, actual: String?)
        /// The time is in no period.
        case validity
        /// The condition is unknown.
        case unknownCondition(ElementName)
    }
}

extension Decision {
    /// Document for the watcher: the granted part, for `polite-block` that of a presentity that never published, nil for `block` and
    /// `confirm`.
    /// - Parameters:
    ///   - document: Composed document of the presentity.
    ///   - neverPublished: Document of a presentity that never published, made by the code that makes it for all watchers.
    ///   - filter: Filter of the watcher (RFC 4660), applied after the rules.
    public func view(
        of document: PIDFDocument, neverPublished: @autoclosure () -> PIDFDocument, filter: (PIDFDocument) -> PIDFDocument = { $0 }
    ) -> PIDFDocument? {
        switch handling {
        case .block, .confirm: nil
        case .politeBlock: filter(neverPublished())
        case .allow: filter(grants.apply(to: document))
        }
    }
}
