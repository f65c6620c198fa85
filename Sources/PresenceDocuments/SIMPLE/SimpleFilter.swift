// RFC 4661, event notification filters
// namespace urn:ietf:params:xml:ns:simple-filter, media type application/simple-filter+xml; body of a SUBSCRIBE (RFC 4660 3.2)

/// Limits of a filter document and of its expressions.
public struct FilterLimits: Hashable, Sendable {
    /// Filters of a document, and of a subscription.
    public var filters: Int
    /// Expressions of one filter: `include`, `exclude`, `changed`, `added` and `removed` together.
    public var expressions: Int
    /// Location steps and comparisons of one expression together.
    public var steps: Int
    /// Length of one expression in octets.
    public var expressionOctets: Int
    /// Namespace bindings of a document.
    public var bindings: Int

    /// Creates limits; by default 8 filters, 32 expressions, 16 steps, 512 octets and 32 bindings.
    public init(filters: Int = 8, expressions: Int = 32, steps: Int = 16, expressionOctets: Int = 512, bindings: Int = 32) {
        self.filters = filters
        self.expressions = expressions
        self.steps = steps
        self.expressionOctets = expressionOctets
        self.bindings = bindings
    }

    /// Default limits.
    public static let standard = FilterLimits()
}

/// Filters for the notifications of a subscription (RFC 4661 3.2).
public struct SimpleFilterDocument: Hashable, Sendable {
    /// Prefix of expressions with its namespace (RFC 4661 3.3).
    public struct Binding: Hashable, Sendable {
        /// Prefix, unique in the document; empty for names without prefix.
        public var prefix: String
        /// Namespace name.
        public var namespace: String

        /// Creates a binding.
        public init(prefix: String, namespace: String) {
            self.prefix = prefix
            self.namespace = namespace
        }
    }

    /// Event package of the filters; nil when absent.
    public var package: String?
    /// Namespace bindings of all expressions, in document order.
    public var bindings: [Binding]
    /// Filters in document order; their ids are unique.
    public var filters: [SimpleFilter]

    /// Creates a document; by default without package and bindings.
    public init(package: String? = nil, bindings: [Binding] = [], filters: [SimpleFilter]) {
        self.package = package
        self.bindings = bindings
        self.filters = filters
    }
}

/// Filter: the content to send, and the changes that cause it to be sent (RFC 4661 3.4).
public struct SimpleFilter: Hashable, Sendable {
    /// Resources that a filter applies to.
    public enum Scope: Hashable, Sendable {
        /// Resource of the Request-URI.
        case request
        /// Resource with this URI.
        case resource(String)
        /// Resources of this domain.
        case domain(String)
    }

    /// Id, unique in the subscription.
    public var id: String
    /// Resources that the filter applies to.
    public var scope: Scope
    /// Whether the filter with this id is to be removed from the subscription.
    public var removes: Bool
    /// Whether the filter is in use.
    public var isEnabled: Bool
    /// Content to send; nil for the whole document.
    public var what: FilterContent?
    /// Changes that cause a notification; one of them is enough. Empty: each change.
    public var triggers: [FilterTrigger]

    /// Creates an enabled filter; by default for the Request-URI, with whole documents at each change.
    public init(id: String, scope: Scope = .request, what: FilterContent? = nil, triggers: [FilterTrigger] = []) {
        self.id = id
        self.scope = scope
        self.removes = false
        self.isEnabled = true
        self.what = what
        self.triggers = triggers
    }
}

/// Content of notifications (RFC 4661 3.5).
public struct FilterContent: Hashable, Sendable {
    /// Parts of the document to send; empty for the whole document.
    public var includes: [FilterSelection]
    /// Exceptions from the parts to send.
    public var excludes: [FilterSelection]

    /// Creates content; by default the whole document.
    public init(includes: [FilterSelection] = [], excludes: [FilterSelection] = []) {
        self.includes = includes
        self.excludes = excludes
    }
}

/// Part of a document, by expression or by namespace (RFC 4661 3.5.3).
public struct FilterSelection: Hashable, Sendable {
    /// Meaning of the text of a selection.
    public enum Kind: String, Hashable, Sendable {
        /// Expression that selects elements or attributes (RFC 4661 5).
        case xpath
        /// Name of a namespace; selects its elements and attributes.
        case namespace
    }

    /// Meaning of ``text``.
    public var kind: Kind
    /// Expression or name of a namespace, trimmed.
    public var text: String

    /// Creates a selection; by default by an expression.
    public init(_ text: String, kind: Kind = .xpath) {
        self.kind = kind
        self.text = text
    }
}

/// Changes that together cause a notification (RFC 4661 3.6).
public struct FilterTrigger: Hashable, Sendable {
    /// Values that must have changed.
    public var changes: [FilterChange]
    /// Expressions for elements or attributes that must have been added.
    public var additions: [String]
    /// Expressions for elements or attributes that must have been removed.
    public var removals: [String]

    /// Creates a trigger, which must have a condition.
    public init(changes: [FilterChange] = [], additions: [String] = [], removals: [String] = []) {
        self.changes = changes
        self.additions = additions
        self.removals = removals
    }
}

/// Change of a value (RFC 4661 3.6.1).
public struct FilterChange: Hashable, Sendable {
    /// Expression for elements or attributes, trimmed.
    public var expression: String
    /// Value before the change; nil for any.
    public var from: String?
    /// Value after the change; nil for any.
    public var to: String?
    /// Smallest difference of the values, a decimal number; nil for any.
    public var by: String?

    /// Creates a change; by default of any value.
    public init(_ expression: String, from: String? = nil, to: String? = nil, by: String? = nil) {
        self.expression = expression
        self.from = from
        self.to = to
        self.by = by
    }
}
