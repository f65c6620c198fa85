/// What this server does where MS-PRES contradicts itself, its samples contradict its text, or it is silent.
///
/// | topic | places | here |
/// |---|---|---|
/// | deleting a member | `remove` in 6.11, `delete` in 3.5.5.2 | both are read, `remove` is written (``SetContainerMembersDocument``) |
/// | Faultcode | `Protocol client.BadCall…` in 4.2.1, `Client.BadCall…` in 2.2.2.2.3 | the second is written (``FaultDocument``) |
/// | `domain` member | suffix in 2.2.2.5.1, equality in 3.2.5.3 | ``EnhancedPresencePolicy/domainMembersMatchSubdomains`` |
/// | `everyone` member | a rule of its own in 1.3.1.3.7, container 0 in 3.2.5.3 | ``EnhancedPresencePolicy/everyoneMembersCount`` |
/// | expires | a time in 2.2.2.2.1, seconds in 6.10 | seconds |
/// | publishTime | to the minute in 2.2.2.1, milliseconds in 4.4.2 | milliseconds |
/// | availability without a machine | 18500 in 3.8.5.1.2.1, 18000 in 4.4.2 | ``offlineAvailability`` |
/// | lastActive in container 200 | yes in 3.8.5.1.2.7, no in 4.4.2 | ``showsLastActiveToColleagues`` |
/// | `publish` capabilities of one version | the first in 3.8.5.2.2, the more active in 4.3.2 | ``moreActiveMachineBreaksVersionTies`` |
/// | token of legacyInterop | none in 3.8.5.1.2.7, the activity in 4.3.1 | ``writesTokenIntoLegacyInterop`` |
/// | aggregateMachineState without a machine | published in 3.8.5.1.2.1, absent in 4.4.2 | ``publishesAbsentMachine`` |
/// | lastActive (the figure of 3.8.5.1.2.4) | drawn, not told | ``lastActiveFollowsManualState``, ``lastActiveStaysWhileInactive`` |
public struct StandardChoices: Hashable, Sendable {
    /// Availability of a user without any machine, 18000 or more (MS-PRES 3.8.5.1.2.1).
    public var offlineAvailability: UInt32 = 18500
    /// Whether lastActive goes into container 200 (MS-PRES 3.8.5.1.2.7).
    public var showsLastActiveToColleagues = true
    /// Whether of two `publish` capabilities of one version that of the more active machine wins, not the first (MS-PRES 3.8.5.2.2).
    public var moreActiveMachineBreaksVersionTies = true
    /// Whether legacyInterop carries the token of the activity that its container shows (MS-PRES 4.3.1).
    public var writesTokenIntoLegacyInterop = true
    /// Whether an aggregateMachineState is published, as offline, when there is no machine (MS-PRES 3.8.5.1.2.1).
    public var publishesAbsentMachine = false
    /// Whether a user who is away by hand at an active machine was last active when he said so, not when the machine did.
    public var lastActiveFollowsManualState = false
    /// Whether lastActive keeps its value while the user goes from one inactive class to another.
    public var lastActiveStaysWhileInactive = false
    /// Whether workingHours and dndState are made, as servers since 2010 do (MS-PRES 3.8.5.3, 3.8.5.4).
    public var derivesPrivateCategories = true

    public init() {}

    public static let standard = StandardChoices()
}
