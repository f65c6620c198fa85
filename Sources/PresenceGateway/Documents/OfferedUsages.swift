import XCAP

extension ApplicationUsage {
    /// Application usages that the gateway offers; a new one is a line here.
    ///
    /// Both usages of presence rules are left out: no decision follows them yet, and a rule that is kept without effect would deceive its
    /// owner.
    static let offered: [ApplicationUsage] = [
        .capabilities,
        .resourceLists,
        .rlsServices,
        .directory,
    ]
}
