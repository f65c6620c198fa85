/// Choices where MS-PRES contradicts itself or its samples, or is silent.
///
/// | topic | sections | choice |
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
/// | lastActive (the figure of 3.8.5.1.2.4) | drawn without text | ``lastActiveFollowsManualState``, ``lastActiveStaysWhileInactive`` |
public struct StandardChoices: Hashable, Sendable {
    /// Availability of a user without a machine; 18000 or more (MS-PRES 3.8.5.1.2.1).
    public var offlineAvailability: UInt32 = 18500
    /// Whether lastActive is published to container 200 (MS-PRES 3.8.5.1.2.7).
    public var showsLastActiveToColleagues = true
    /// Whether the more active machine wins between two `publish` capabilities of equal version; false: the first one (MS-PRES
    /// 3.8.5.2.2).
    public var moreActiveMachineBreaksVersionTies = true
    /// Whether legacyInterop has the token of the activity in the same container (MS-PRES 4.3.1).
    public var writesTokenIntoLegacyInterop = true
    /// Whether an offline aggregateMachineState is published while there is no machine (MS-PRES 3.8.5.1.2.1).
    public var publishesAbsentMachine = false
    /// Whether lastActive of a user that is manually away at an active machine is the time of the manual state; false: that of the
    /// machine.
    public var lastActiveFollowsManualState = false
    /// Whether lastActive keeps its value while the user changes between inactive classes.
    public var lastActiveStaysWhileInactive = false
    /// Whether workingHours and dndState are derived, as servers since 2010 do (MS-PRES 3.8.5.3, 3.8.5.4).
    public var derivesPrivateCategories = true

    /// Creates the default choices.
    public init() {}

    /// The default choices.
    public static let standard = StandardChoices()
}
