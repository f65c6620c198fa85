import ByteCoding

/// Writes JSON (RFC 8259) for logs and administration pages without an intermediate tree.
package enum JSONText {
    /// A JSON string with its quotes; quotes, backslashes and control characters are escaped.
    package static func string(_ text: String) -> String {
        JSONString.quoted(text)
    }

    /// A JSON object in the given order; `value` must already be JSON.
    package static func object(_ members: [(key: String, value: String)]) -> String {
        "{" + members.map { string($0.key) + ":" + $0.value }.joined(separator: ",") + "}"
    }

    /// A JSON array in the given order; the values must already be JSON.
    package static func array(_ values: [String]) -> String {
        "[" + values.joined(separator: ",") + "]"
    }
}
