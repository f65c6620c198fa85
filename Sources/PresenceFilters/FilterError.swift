/// Refusal of a filter that is a valid document: 488 (Not Acceptable Here), RFC 4660 5.2.
public struct FilterError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Kind of refusal.
    public enum Code: String, Hashable, Sendable {
        /// Expression outside the syntax of RFC 4661 5.
        case expression
        /// Larger than a limit allows.
        case limit
        /// Two filters for one resource or one domain.
        case conflict
        /// Filter for another event package than `presence`.
        case package
    }

    /// Kind of refusal.
    public var code: Code
    /// English sentence with the rule, the filter or expression, and the place in it.
    public var message: String

    /// Creates a refusal.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
