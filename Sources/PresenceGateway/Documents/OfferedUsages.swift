import XCAP

extension ApplicationUsage {
    /// Application usages that the gateway offers; a new one is a line here.
    static let offered: [ApplicationUsage] = [
        .capabilities,
        .resourceLists,
        .rlsServices,
        .presenceRules,
        .omaPresenceRules,
        .directory,
    ]

    /// Whether documents of a usage are presence rules.
    static func isOfPresenceRules(_ auid: String) -> Bool { auid == presenceRules.auid || auid == omaPresenceRules.auid }
}
