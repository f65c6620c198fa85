import PresenceDocuments
import XMLCore

/// Expression that selects elements or attributes of a presence document (RFC 4661 5), with prefixes resolved.
///
///     /pidf:presence/pidf:tuple[rpid:class="IM" or @id='t1']/pidf:status/pidf:basic      //pidf:contact[@priority>0.5]      //*/@id
///
/// Two expressions are equal if they differ in prefixes and white space only.
public struct FilterExpression: Hashable, Sendable {
    /// Expanded name; the namespace of an attribute without prefix is empty.
    struct Name: Hashable, Sendable {
        var namespace: String
        var localName: String
    }

    /// Relation of a step to the step before: `/` or `//`.
    enum Axis: Hashable, Sendable {
        case child
        case descendant
    }

    /// Test of an element: by name, or `*`.
    enum Test: Hashable, Sendable {
        case any
        case named(Name)
    }

    /// Value that a predicate compares, relative to the tested element.
    struct Operand: Hashable, Sendable {
        /// Whether the path begins at the parent, as `..` does.
        var isParent = false
        /// Child elements to follow; empty for the element itself.
        var path: [Test] = []
        /// Attribute at the end of the path; nil for the text of the element.
        var attribute: Name?
    }

    /// Operator of a comparison.
    enum Relation: String, Hashable, Sendable {
        case equal = "="
        case less = "<"
        case greater = ">"
    }

    /// Comparison of a value with a literal.
    struct Comparison: Hashable, Sendable {
        var operand: Operand
        var relation: Relation
        var literal: String
        /// Whether the literal is a number without quotes, which is compared as a number.
        var isNumber: Bool
    }

    /// Condition on an element: alternatives joined by `or`, each of comparisons joined by `and`.
    struct Predicate: Hashable, Sendable {
        var alternatives: [[Comparison]]
    }

    /// Location step to elements.
    struct Step: Hashable, Sendable {
        var axis: Axis
        var test: Test
        var predicates: [Predicate]
    }

    /// Last step, to an attribute.
    struct AttributeStep: Hashable, Sendable {
        var axis: Axis
        var name: Name
    }

    /// Steps to elements, at least one.
    var steps: [Step]
    /// Step to an attribute of the selected elements; nil when elements are selected.
    var attribute: AttributeStep?

    /// Parses an expression.
    ///
    /// - Parameter bindings: Namespaces by prefix. Element names without prefix are in the namespace of the empty prefix, or in that of
    ///   PIDF if it is not bound.
    /// - Throws: ``FilterError`` with the octet at which the expression is wrong, or the limit that it exceeds.
    public init(_ text: String, bindings: [String: String], limits: FilterLimits = .standard) throws(FilterError) {
        guard text.utf8.count <= limits.expressionOctets else {
            throw FilterError(
                .limit,
                "RFC 4661 5: the expression '\(text.prefix(60))…' has \(text.utf8.count) octets, more than the \(limits.expressionOctets) allowed"
            )
        }
        var parser = FilterExpressionParser(text, bindings: bindings, limit: limits.steps)
        self = try parser.expression()
    }

    init(steps: [Step], attribute: AttributeStep?) {
        self.steps = steps
        self.attribute = attribute
    }

    // MARK: writing

    /// Namespaces of all names.
    var namespaces: Set<String> {
        var result: Set<String> = []
        func add(_ test: Test) { if case .named(let name) = test { result.insert(name.namespace) } }
        for step in steps {
            add(step.test)
            for comparison in step.predicates.flatMap({ $0.alternatives.joined() }) {
                comparison.operand.path.forEach(add)
                if let name = comparison.operand.attribute { result.insert(name.namespace) }
            }
        }
        if let attribute { result.insert(attribute.name.namespace) }
        result.remove("")
        return result
    }

    /// Expression with these prefixes by namespace; names of namespaces without one have the namespace in braces.
    func text(prefixes: [String: String]) -> String {
        func text(_ name: Name) -> String {
            if name.namespace.isEmpty { return name.localName }
            guard let prefix = prefixes[name.namespace] else { return "{\(name.namespace)}\(name.localName)" }
            return prefix.isEmpty ? name.localName : "\(prefix):\(name.localName)"
        }
        func text(_ test: Test) -> String { if case .named(let name) = test { text(name) } else { "*" } }
        func text(_ axis: Axis) -> String { axis == .child ? "/" : "//" }
        func text(_ operand: Operand) -> String {
            var parts = operand.path.map { text($0) }
            if let name = operand.attribute { parts.append("@" + text(name)) }
            return parts.isEmpty ? operand.isParent ? ".." : "." : parts.joined(separator: "/")
        }
        func text(_ comparison: Comparison) -> String {
            let quote = comparison.isNumber ? "" : comparison.literal.contains("\"") ? "'" : "\""
            return text(comparison.operand) + comparison.relation.rawValue + quote + comparison.literal + quote
        }
        var result = ""
        for step in steps {
            result += text(step.axis) + text(step.test)
            for predicate in step.predicates {
                let alternatives = predicate.alternatives.map { $0.map { text($0) }.joined(separator: " and ") }
                result += "[" + alternatives.joined(separator: " or ") + "]"
            }
        }
        if let attribute { result += text(attribute.axis) + "@" + text(attribute.name) }
        return result
    }
}

extension FilterExpression: CustomStringConvertible {
    /// Expression with the namespaces of names in braces.
    public var description: String { text(prefixes: [:]) }
}
