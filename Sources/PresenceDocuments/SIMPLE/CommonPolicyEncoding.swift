import XMLCore

extension PresenceRulesDocument {
    /// Encodes the rules in order, with the prefixes `cp`, `pr`, `ocp` and `op`.
    public func encode() -> [UInt8] {
        var writer = XMLWriter(declaration: true)
        writer.start("cp:ruleset")
        writer.namespace("cp", .commonPolicy)
        writer.namespace("pr", .presenceRules)
        writer.namespace("ocp", .omaCommonPolicy)
        writer.namespace("op", .omaPresenceRules)
        for rule in rules { rule.write(to: &writer) }
        return writer.finish()
    }
}

extension PresenceRule {
    func write(to writer: inout XMLWriter) {
        writer.start("cp:rule")
        writer.attribute("id", id)
        if !conditions.isEmpty {
            writer.start("cp:conditions")
            for condition in conditions { condition.write(to: &writer) }
            writer.end()
        }
        if handling != nil || !otherActions.isEmpty {
            writer.start("cp:actions")
            if let handling { writer.element("pr:sub-handling", handling.name) }
            for action in otherActions { writer.fragment(action) }
            writer.end()
        }
        if !transformations.isEmpty {
            writer.start("cp:transformations")
            for transformation in transformations { transformation.write(to: &writer) }
            writer.end()
        }
        writer.end()
    }
}

extension RuleCondition {
    func write(to writer: inout XMLWriter) {
        switch self {
        case .identity(let matches):
            writer.start("cp:identity")
            for match in matches { match.write(to: &writer) }
            writer.end()
        case .sphere(let value):
            writer.start("cp:sphere")
            writer.attribute("value", value)
            writer.end()
        case .validity(let periods):
            writer.start("cp:validity")
            for period in periods {
                writer.element("cp:from", period.from.text)
                writer.element("cp:until", period.until.text)
            }
            writer.end()
        case .externalList(let anchors):
            writer.start("ocp:external-list")
            for anchor in anchors {
                writer.start("ocp:entry")
                writer.attribute("anc", anchor)
                writer.end()
            }
            writer.end()
        case .anonymousRequest: writer.element("ocp:anonymous-request")
        case .otherIdentity: writer.element("ocp:other-identity")
        case .other(let fragment): writer.fragment(fragment)
        }
    }
}

extension IdentityMatch {
    func write(to writer: inout XMLWriter) {
        switch self {
        case .one(let id, let extensions):
            writer.start("cp:one")
            writer.attribute("id", id)
            for fragment in extensions { writer.fragment(fragment) }
            writer.end()
        case .many(let domain, let exceptions, let extensions):
            writer.start("cp:many")
            writer.attribute("domain", ifPresent: domain)
            for exception in exceptions {
                writer.start("cp:except")
                writer.attribute("domain", ifPresent: exception.domain)
                writer.attribute("id", ifPresent: exception.id)
                writer.end()
            }
            for fragment in extensions { writer.fragment(fragment) }
            writer.end()
        case .other(let fragment): writer.fragment(fragment)
        }
    }
}
