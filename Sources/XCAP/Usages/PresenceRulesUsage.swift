import XMLCore

extension ApplicationUsage {
    /// Presence rules (RFC 5025 9): `pres-rules/users/XUI/index`. Steps without prefix that find nothing are tried in common-policy.
    package static let presenceRules = ApplicationUsage(
        auid: "pres-rules", mediaType: "application/auth-policy+xml",
        defaultNamespaces: [XMLNamespace.presenceRules.uri, XMLNamespace.commonPolicy.uri],
        namespaces: [XMLNamespace.presenceRules.uri, XMLNamespace.commonPolicy.uri], userDocuments: .only("index"), globalDocuments: .none,
        isReadOnly: false
    ) { (root, _) throws(XCAPConflict) in
        try SchemaValidator.validate(root, by: PresenceRulesSchema.schema)
    }

    /// Presence rules of OMA: `org.openmobilealliance.pres-rules/users/XUI/pres-rules`. The default namespace is common-policy.
    package static let omaPresenceRules = ApplicationUsage(
        auid: "org.openmobilealliance.pres-rules", mediaType: "application/auth-policy+xml",
        defaultNamespaces: [XMLNamespace.commonPolicy.uri, XMLNamespace.presenceRules.uri],
        namespaces: [XMLNamespace.omaPresenceRules.uri, XMLNamespace.omaCommonPolicy.uri], userDocuments: .only("pres-rules"),
        globalDocuments: .none, isReadOnly: false
    ) { (root, _) throws(XCAPConflict) in
        try SchemaValidator.validate(root, by: PresenceRulesSchema.schema)
        try OMARuleConstraints.check(root)
    }
}

/// Content model of RFC 4745 13, with the extensions of RFC 5025 6 and of OMA.
private enum PresenceRulesSchema {
    static func policy(_ name: String) -> XMLName { XMLName(name, in: .commonPolicy) }
    static func rules(_ name: String) -> XMLName { XMLName(name, in: .presenceRules) }
    static func omaPolicy(_ name: String) -> XMLName { XMLName(name, in: .omaCommonPolicy) }
    static func omaRules(_ name: String) -> XMLName { XMLName(name, in: .omaPresenceRules) }

    static let ruleset = policy("ruleset")
    private static let other = SchemaParticle.other(.commonPolicy)
    private static let extensible = SchemaElement(content: .children(.any(other)))

    private static let elements: [XMLName: SchemaElement] = [
        ruleset: SchemaElement(content: .children(.any(.element(policy("rule"))))),
        policy("rule"): SchemaElement(
            content: .children(
                .sequence([
                    .optional(.element(policy("conditions"))), .optional(.element(policy("actions"))),
                    .optional(.element(policy("transformations"))),
                ])), attributes: [.required("id", .identifier)]),
        policy("conditions"): SchemaElement(
            content: .children(
                .any(.choice([.element(policy("identity")), .element(policy("sphere")), .element(policy("validity")), other])))),
        policy("identity"): SchemaElement(
            content: .children(.some(.choice([.element(policy("one")), .element(policy("many")), other])))),
        policy("one"): SchemaElement(content: .children(.optional(other)), attributes: [.required("id", .anyURI)]),
        policy("many"): SchemaElement(
            content: .children(.any(.choice([.element(policy("except")), other]))), attributes: [.optional("domain")]),
        policy("except"): SchemaElement(content: .empty, attributes: [.optional("domain"), .optional("id", .anyURI)]),
        policy("sphere"): SchemaElement(content: .empty, attributes: [.required("value")]),
        policy("validity"): SchemaElement(
            content: .children(.some(.sequence([.element(policy("from")), .element(policy("until"))])))),
        policy("from"): .text(.dateTime),
        policy("until"): .text(.dateTime),
        policy("actions"): extensible,
        policy("transformations"): extensible,
    ]

    private static let flags = [
        "activities", "class", "deviceID", "mood", "place-is", "place-type", "privacy", "relationship", "status-icon", "sphere",
        "time-offset", "note",
    ]

    /// Selection of services, devices or persons: all of them, or any of these.
    private static func selection(all: String, of names: [String]) -> SchemaElement {
        SchemaElement(
            content: .children(
                .choice([
                    .element(rules(all)), .any(.choice(names.map { .element(rules($0)) } + [.other(.presenceRules)])),
                ])))
    }

    private static let extensions: [XMLName: SchemaElement] = {
        var result: [XMLName: SchemaElement] = [
            rules("sub-handling"): .text(.oneOf(["block", "confirm", "polite-block", "allow"])),
            rules("provide-services"): selection(
                all: "all-services", of: ["service-uri", "service-uri-scheme", "occurrence-id", "class"]),
            rules("provide-devices"): selection(all: "all-devices", of: ["deviceID", "occurrence-id", "class"]),
            rules("provide-persons"): selection(all: "all-persons", of: ["occurrence-id", "class"]),
            rules("provide-user-input"): .text(.oneOf(["false", "bare", "thresholds", "full"])),
            rules("provide-unknown-attribute"): SchemaElement(
                content: .text(.boolean), attributes: [.required("name"), .required("ns")]),
            rules("provide-all-attributes"): .empty,
            rules("all-services"): .empty,
            rules("all-devices"): .empty,
            rules("all-persons"): .empty,
            rules("service-uri"): .text(.anyURI),
            rules("service-uri-scheme"): .text(.string),
            rules("occurrence-id"): .text(.string),
            rules("class"): .text(.string),
            rules("deviceID"): .text(.anyURI),
            omaPolicy("anonymous-request"): .empty,
            omaPolicy("other-identity"): .empty,
            omaPolicy("external-list"): SchemaElement(content: .children(.any(.element(omaPolicy("entry"))))),
            omaPolicy("entry"): SchemaElement(content: .empty, attributes: [.optional("anc", .anyURI)], allowsOtherAttributes: true),
            omaRules("provide-geopriv"): .text(.oneOf(["false", "full"])),
            omaRules("service-id"): .text(.string),
        ]
        for flag in flags { result[rules("provide-\(flag)")] = .text(.boolean) }
        for flag in ["willingness", "network-availability", "session-participation", "registration-state", "barring-state"] {
            result[omaRules("provide-\(flag)")] = .text(.boolean)
        }
        return result
    }()

    static let schema = DocumentSchema(
        rule: "RFC 4745 13, RFC 5025 6", root: ruleset, elements: elements, extensions: extensions,
        closedNamespaces: [XMLNamespace.commonPolicy.uri, XMLNamespace.presenceRules.uri])
}

/// Constraints that OMA adds: one condition about the watcher in a rule, transformations only where the subscription is allowed.
private enum OMARuleConstraints {
    private static let rule = "OMA PRS XDM 5.1"
    private static let exclusive = [
        PresenceRulesSchema.policy("identity"), PresenceRulesSchema.omaPolicy("external-list"),
        PresenceRulesSchema.omaPolicy("other-identity"), PresenceRulesSchema.omaPolicy("anonymous-request"),
    ]
    private static let conditions = PresenceRulesSchema.policy("conditions")
    private static let actions = PresenceRulesSchema.policy("actions")
    private static let transformations = PresenceRulesSchema.policy("transformations")
    private static let handling = PresenceRulesSchema.rules("sub-handling")

    static func check(_ root: XMLElement) throws(XCAPConflict) {
        for element in root.children {
            if let conditions = element.first(conditions) {
                let kinds = exclusive.filter { conditions.first($0) != nil }
                guard kinds.count < 2 else {
                    let names = kinds.map(\.localName).joined(separator: " and ")
                    throw .constraint("\(rule): \(conditions.place) has \(names), of which a rule has one")
                }
            }
            guard let transformations = element.first(transformations), !transformations.isLeaf else { continue }
            guard element.first(actions)?.first(handling)?.textEquals("allow") == true else {
                throw .constraint("\(rule): \(transformations.place) is in a rule without the sub-handling allow")
            }
        }
    }
}
