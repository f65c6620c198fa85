/// The classes of availability that the computation looks at (MS-PRES 2.2.2.7.1).
enum AvailabilityRange {
    static let idle: ClosedRange<UInt32> = 4500...5999
    static let busy: ClosedRange<UInt32> = 6000...7499
    static let busyIdle: ClosedRange<UInt32> = 7500...8999
    static let doNotDisturb: ClosedRange<UInt32> = 9000...11999
    /// Away and offline: the user is not there.
    static let absent: ClosedRange<UInt32> = 12000...UInt32.max

    /// What a user's idle machine adds to Busy (MS-PRES 3.8.5.1.2.2).
    static let idleSurcharge: UInt32 = 1500
    /// What dndState says of a user who is not to be disturbed (MS-PRES 3.8.5.4).
    static let doNotDisturbAvailability: UInt32 = 9500

    /// Whether a user of this availability is inactive, so that there is a moment when he was last active (MS-PRES 3.8.5.1.2.4).
    static func isInactive(_ availability: UInt32) -> Bool {
        idle.contains(availability) || busyIdle.contains(availability) || absent.contains(availability)
    }
}
