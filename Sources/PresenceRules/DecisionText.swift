import PresenceDocuments
import SIPCore

extension Decision {
    /// Decision and its reasons for people, one sentence on each line.
    package var lines: [String] {
        var lines = ["handling: \(handling), \(origin)"]
        if handling == .allow { lines.append("grants: \(grants)") }
        lines += matched.map(\.description)
        lines += unmatched.map(\.description)
        if unmatchedOmitted > 0 { lines.append("and \(unmatchedOmitted) more rules that do not match") }
        if let holdsUntil { lines.append("holds until: \(holdsUntil.text)") }
        if dependsOnSphere { lines.append("depends on: sphere") }
        lines += listDocuments.map { "depends on: \($0)" }
        return lines
    }
}

extension Decision.Origin: CustomStringConvertible {
    package var description: String {
        switch self {
        case .operatorDenied: "denied by the operator"
        case .rules: "by rules"
        case .unruled: "no rule matches"
        case .unreadableList: "no rule matches and a list cannot be read"
        }
    }
}

extension RuleMatch: CustomStringConvertible {
    public var description: String {
        let reasons = conditions.isEmpty ? "no conditions" : conditions.map(\.description).joined(separator: ", ")
        return "rule '\(rule)' matches: \(reasons); \(handling?.name ?? "no handling")"
            + (counts ? "" : "; does not count, because a rule of higher precedence matches")
    }
}

extension RuleMatch.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .one(let id): "one \(id)"
        case .many(let domain): domain.map { "many of \($0)" } ?? "many"
        case .list(let anchor, let name): "list \(name) of \(anchor)"
        case .sphere(let value): "sphere \(value)"
        case .validity(let from, let until): "valid from \(from.text) until \(until.text)"
        case .anonymousRequest: "anonymous request"
        case .otherIdentity: "other identity"
        }
    }
}

extension RuleMiss: CustomStringConvertible {
    public var description: String { "rule '\(rule)' does not match: \(reason)" }
}

extension RuleMiss.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .anonymous: "the watcher is anonymous"
        case .identity: "no identity is that of the watcher"
        case .excepted: "an exception excludes the watcher"
        case .notInList: "the watcher is in none of its lists"
        case .notAnonymous: "the watcher is not anonymous"
        case .namedBy(let rule): "rule '\(rule)' names the watcher"
        case .unreadableList: "a list that cannot be read may name the watcher"
        case .sphere(let required, let actual): "the sphere is \(actual ?? "undefined"), not \(required)"
        case .validity: "the time is in none of its periods"
        case .unknownCondition(let name): "the condition {\(name.namespace)}\(name.localName) is unknown"
        }
    }
}

extension Instant {
    /// RFC 3339 text in UTC; the ends of the range are `the beginning` and `the end of time`.
    fileprivate var text: String {
        switch nanosecondsSince1970 {
        case .min: "the beginning of time"
        case .max: "the end of time"
        default: DateTime(nanosecondsSince1970: nanosecondsSince1970).rfc3339()
        }
    }
}
