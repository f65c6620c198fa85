import Testing

@testable import PresenceMapping

/// The two tables of MS-PRES, written here a second time from the text of the standard and compared with `Mappings/` number by number.
@Suite("Normative tables") struct NormativeTableTests {
    static let tokens: [String?] = [nil, "on-the-phone", "in-a-meeting"]

    /// MS-PRES 3.7.5.4: basic and RPID activity.
    static func pidf(_ availability: Int, _ token: String?) -> (isOpen: Bool, activity: String?) {
        if availability <= 2999 { return (false, nil) }
        if availability <= 4499 { return (true, nil) }
        if availability <= 5999 { return (true, "away") }
        if availability <= 7499 { return (true, token == "on-the-phone" ? "on-the-phone" : "busy") }
        if availability <= 8999 { return (true, "away") }
        if availability <= 11999 { return (true, "busy") }
        if availability <= 14999 { return (true, "away") }
        if availability <= 17999 { return (true, "away") }
        return (false, nil)
    }

    /// MS-PRES 3.7.5.5: avail of the state, aggregate of availability, aggregate of activity.
    static func msrtc(_ availability: Int, _ token: String?) -> [Int] {
        if availability <= 2999 { return [18500, 0, 100] }
        if availability <= 4499 { return [3500, 300, 400] }
        if availability <= 5999 { return [15500, 300, 100] }
        if availability <= 7499 { return [6500, 300, token == "on-the-phone" ? 500 : 600] }
        if availability <= 8999 { return [15500, 300, 100] }
        if availability <= 11999 { return [9500, 300, 600] }
        if availability <= 14999 { return [12500, 300, 300] }
        if availability <= 17999 { return [15500, 300, 100] }
        return [18500, 0, 100]
    }

    @Test("MS-PRES 3.7.5.4 every availability with every token [R233, R234]", arguments: tokens)
    func pidfTable(_ token: String?) throws {
        let tables = MappingTables.embedded.compiled
        for availability in 0...20000 {
            let row = try #require(tables.toPIDF.find(availability, token: token))
            let expected = Self.pidf(availability, token)
            if row.isOpen != expected.isOpen || row.rpid != expected.activity {
                Issue.record("\(availability) \(token ?? "-"): \(row.isOpen) \(row.rpid ?? "none")")
            }
        }
    }

    @Test("MS-PRES 3.7.5.5 every availability with every token [R235]", arguments: tokens)
    func msrtcTable(_ token: String?) throws {
        let tables = MappingTables.embedded.compiled
        for availability in 0...20000 {
            let row = try #require(tables.toMSRTC.find(availability, token: token))
            if [row.stateAvailability, row.availability, row.activity] != Self.msrtc(availability, token) {
                Issue.record("\(availability) \(token ?? "-"): \(row)")
            }
        }
    }

    @Test("a number far above the last range is still offline")
    func farAbove() throws {
        #expect(MappingTables.embedded.compiled.toPIDF.find(4_294_967_295, token: nil)?.row.id == "A2P-10")
        #expect(MappingTables.embedded.compiled.toPIDF.find(-1, token: nil) == nil)
    }
}
