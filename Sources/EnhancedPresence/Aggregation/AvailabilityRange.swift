/// Ranges of availability used in aggregation (MS-PRES 2.2.2.7.1).
enum AvailabilityRange {
    static let idle: ClosedRange<UInt32> = 4500...5999
    static let busy: ClosedRange<UInt32> = 6000...7499
    static let busyIdle: ClosedRange<UInt32> = 7500...8999
    static let doNotDisturb: ClosedRange<UInt32> = 9000...11999
    /// Away and offline.
    static let absent: ClosedRange<UInt32> = 12000...UInt32.max

    /// Added to Busy if the user's machine is idle (MS-PRES 3.8.5.1.2.2).
    static let idleSurcharge: UInt32 = 1500
    /// Availability of a dndState that is set (MS-PRES 3.8.5.4).
    static let doNotDisturbAvailability: UInt32 = 9500

    /// Whether a user with this availability is inactive and has lastActive (MS-PRES 3.8.5.1.2.4).
    static func isInactive(_ availability: UInt32) -> Bool {
        idle.contains(availability) || busyIdle.contains(availability) || absent.contains(availability)
    }
}
