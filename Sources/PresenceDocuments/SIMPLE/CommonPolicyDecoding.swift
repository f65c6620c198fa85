import XMLCore

extension PresenceRulesDocument: PresenceDocument {
    /// Standard limits, with an XML depth of 16 and 40,000 nodes; the numbers of rules and identities are limited besides.
    public static var limits: XMLLimits { XMLLimits(depth: 16, nodes: 40_000) }

    /// Reads a `ruleset` element. A document that breaks a rule is refused as a whole, because a rule without the part that could not be
    /// read might grant more.
    public init(_ root: XMLElement) throws(DocumentError) {
        guard root.is(CommonPolicyName.ruleset) else {
            throw .wrongRoot(root, expected: CommonPolicyName.ruleset, rule: "RFC 4745 6")
        }
        rules = []
        var ids: Set<String> = []
        var identities = 0
        for child in root.children {
            guard child.is(CommonPolicyName.rule) else { throw .unexpected(child, in: "ruleset") }
            guard rules.count < Self.maximumRules else {
                throw DocumentError(
                    code: .limit, message: "RFC 4745 6: more than \(Self.maximumRules) rules in 'ruleset'", position: child.position)
            }
            let rule = try PresenceRule(child)
            guard ids.insert(rule.id).inserted else {
                throw DocumentError(
                    code: .invalidValue, message: "RFC 4745 6: attribute id in 'rule' has the value '\(rule.id.prefix(60))' a second time",
                    position: child.position)
            }
            identities += rule.identityCount
            guard identities <= Self.maximumIdentities else {
                throw DocumentError(
                    code: .limit,
                    message: "RFC 4745 7.1: more than \(Self.maximumIdentities) identities in 'ruleset', in rule '\(rule.id)'",
                    position: child.position)
            }
            rules.append(rule)
        }
    }
}

extension DocumentError {
    /// Element that the schema does not allow there.
    fileprivate static func unexpected(_ element: XMLElement, in parent: String, twice: Bool = false) -> DocumentError {
        let name = "'\(element.localName.prefix(60))' in namespace '\(element.namespace.prefix(120))'"
        return DocumentError(
            code: .invalidValue, message: "RFC 4745 6: \(name) is not allowed in '\(parent)'" + (twice ? " a second time" : ""),
            position: element.position)
    }

    /// Same refusal with the rule in its message.
    fileprivate func inRule(_ id: String) -> DocumentError {
        var error = self
        error.message += ", in rule '\(id.count > 60 ? String(id.prefix(60)) + "…" : id)'"
        return error
    }
}

extension PresenceRule {
    init(_ element: XMLElement) throws(DocumentError) {
        self.init(id: try element.required("id", rule: "RFC 4745 6"))
        do throws(DocumentError) { try read(element) } catch { throw error.inRule(id) }
    }

    private mutating func read(_ element: XMLElement) throws(DocumentError) {
        var seen: Set<String> = []
        for child in element.children {
            switch child {
            case CommonPolicyName.conditions:
                for condition in child.children { conditions.append(try RuleCondition(condition)) }
            case CommonPolicyName.actions:
                for action in child.children {
                    guard action.is(PresenceRulesName.subHandling) else {
                        otherActions.append(action.fragment())
                        continue
                    }
                    guard handling == nil else {
                        throw .invalid("the second handling", action.trimmedText, in: action, rule: "RFC 5025 3.2.1")
                    }
                    handling = try SubscriptionHandling(action)
                }
            case CommonPolicyName.transformations:
                for transformation in child.children { transformations.append(try RuleTransformation(transformation)) }
            default: throw .unexpected(child, in: "rule")
            }
            guard seen.insert(child.localName).inserted else { throw .unexpected(child, in: "rule", twice: true) }
        }
    }

    /// Number of `one`, `many` and `except` elements.
    var identityCount: Int {
        conditions.reduce(0) { count, condition in
            guard case .identity(let matches) = condition else { return count }
            return matches.reduce(count) { count, match in
                if case .many(_, let exceptions, _) = match { count + 1 + exceptions.count } else { count + 1 }
            }
        }
    }
}

extension RuleCondition {
    init(_ element: XMLElement) throws(DocumentError) {
        switch element {
        case CommonPolicyName.identity:
            var matches: [IdentityMatch] = []
            for child in element.children { matches.append(try IdentityMatch(child)) }
            self = .identity(matches)
        case CommonPolicyName.sphere where element.isLeaf:
            self = .sphere(try element.required("value", rule: "RFC 4745 7.2"))
        case CommonPolicyName.validity: self = .validity(try Self.periods(element))
        case CommonPolicyName.externalList where element.children.allSatisfy({ $0.is(CommonPolicyName.entry) }):
            self = .externalList(anchors: element.children.compactMap { $0.attribute("anc")?.trimmed })
        case CommonPolicyName.anonymousRequest where element.isLeaf: self = .anonymousRequest
        case CommonPolicyName.otherIdentity where element.isLeaf: self = .otherIdentity
        default: self = .other(element.fragment())
        }
    }

    /// Reads pairs of `from` and `until`.
    private static func periods(_ element: XMLElement) throws(DocumentError) -> [ValidityPeriod] {
        var periods: [ValidityPeriod] = []
        var from: DateTime?
        for child in element.children {
            let isStart = child.is(CommonPolicyName.from)
            guard isStart || child.is(CommonPolicyName.until), isStart == (from == nil) else {
                throw DocumentError(
                    code: .invalidValue,
                    message:
                        "RFC 4745 7.3: '\(child.localName.prefix(60))' in 'validity' where '\(from == nil ? "from" : "until")' is expected",
                    position: child.position)
            }
            guard let moment = DateTime(clamping: child.trimmedText) else {
                throw .invalid("the time", child.trimmedText, in: child, rule: "RFC 4745 7.3")
            }
            if let start = from {
                periods.append(ValidityPeriod(from: start, until: moment))
                from = nil
            } else {
                from = moment
            }
        }
        guard from == nil, !periods.isEmpty else {
            throw .missing(from == nil ? "from" : "until", in: element, rule: "RFC 4745 7.3")
        }
        return periods
    }
}

extension IdentityMatch {
    init(_ element: XMLElement) throws(DocumentError) {
        switch element {
        case CommonPolicyName.one:
            self = .one(id: try element.required("id", rule: "RFC 4745 7.1.2"), extensions: element.children.map { $0.fragment() })
        case CommonPolicyName.many:
            var exceptions: [IdentityException] = []
            var extensions: [XMLFragment] = []
            for child in element.children {
                guard child.is(CommonPolicyName.except) else {
                    extensions.append(child.fragment())
                    continue
                }
                let exception = IdentityException(id: child.attribute("id")?.trimmed, domain: child.attribute("domain")?.trimmed)
                guard exception.id?.isEmpty == false || exception.domain?.isEmpty == false else {
                    throw .missing("id or domain", in: child, rule: "RFC 4745 7.1.3")
                }
                exceptions.append(exception)
            }
            var domain = element.attribute("domain")?.trimmed
            if domain != nil { domain = try element.required("domain", rule: "RFC 4745 7.1.3") }
            self = .many(domain: domain, exceptions: exceptions, extensions: extensions)
        default: self = .other(element.fragment())
        }
    }
}
