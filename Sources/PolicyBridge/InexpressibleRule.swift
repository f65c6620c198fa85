/// Rule that containers cannot express, for the `extension` of a 409.
public struct InexpressibleRule: Error, Hashable, Sendable, CustomStringConvertible {
    /// Id of the rule.
    public var rule: String
    /// Local name of the condition, action or transformation that has no counterpart.
    public var element: String
    /// English sentence with the reason.
    public var reason: String

    /// Creates an error.
    public init(rule: String, element: String, reason: String) {
        self.rule = rule
        self.element = element
        self.reason = reason
    }

    /// Rule, element and reason in one line.
    public var description: String { "rule '\(rule.prefix(60))': '\(element.prefix(60))' \(reason)" }
}
