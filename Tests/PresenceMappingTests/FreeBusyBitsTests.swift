import PresenceDocuments
import Testing

@testable import PresenceMapping

@Suite("Free/busy bits") struct FreeBusyBitsTests {
    /// Five free, four busy, four tentative, four out of facility, two free; as a word per slot.
    static let slots: [UInt8] = [0, 0, 0, 0, 0, 2, 2, 2, 2, 1, 1, 1, 1, 3, 3, 3, 3, 0, 0]
    static let leastFirst: [UInt8] = [0x00, 0xA8, 0x56, 0xFD, 0x03]
    static let mostFirst: [UInt8] = [0x00, 0x2A, 0x95, 0x7F, 0xC0]

    @Test("MS-PRES 2.2.2.7.8 two bits per slot, least significant first as deployed [R371, R374]")
    func encode() {
        #expect(FreeBusyBits.encode(Self.slots) == Self.leastFirst)
        #expect(FreeBusyBits.decode(Self.leastFirst).prefix(19) == Self.slots[...])
    }

    @Test("MS-PRES 2.2.2.7.8 the order that the standard prints can be read and written too [R374]")
    func mostSignificantFirst() {
        #expect(FreeBusyBits.encode(Self.slots, order: .mostSignificantFirst) == Self.mostFirst)
        #expect(FreeBusyBits.decode(Self.mostFirst, order: .mostSignificantFirst).prefix(19) == Self.slots[...])
    }

    @Test("30 minutes free and 30 minutes busy are one byte")
    func oneByte() {
        // 00 00 10 10 least significant first is 0xA0; most significant first it is 0x0A.
        #expect(FreeBusyBits.encode([0, 0, 2, 2]) == [0xA0])
        #expect(FreeBusyBits.decode([0x0A], order: .mostSignificantFirst) == [0, 0, 2, 2])
    }

    @Test("MS-PRES 2.2.2.7.8 the newer encoding has three bits for five states [R372]")
    func newEncoding() throws {
        var bytes: [UInt8] = Array(repeating: 0, count: 1 + 384 * 3 / 8)
        bytes[0] = 5
        // Slots 0 and 1 are 4 and 2: bits 001 then 010, least significant first.
        bytes[1] = 0b010_100
        let slots = try #require(FreeBusyBits.decodeNew(bytes))
        #expect(slots.count == 384)
        #expect(Array(slots.prefix(3)) == [4, 2, 0])
    }

    @Test("MS-PRES 2.2.2.7.8 a state of the future shows the older one that its fallback names [R372]")
    func fallback() throws {
        var bytes: [UInt8] = Array(repeating: 0, count: 2 + 384 * 3 / 8)
        bytes[0] = 6
        bytes[1] = 3
        bytes[2] = 5
        #expect(try #require(FreeBusyBits.decodeNew(bytes)).first == 3)
    }

    @Test(
        "what cannot be the newer encoding is not read as it [R373]",
        arguments: [[], [5], [5, 0, 0], Array(repeating: 0xFF, count: 145)] as [[UInt8]])
    func implausible(_ bytes: [UInt8]) {
        #expect(FreeBusyBits.decodeNew(bytes) == nil)
    }

    @Test("a fallback that names no older state is refused")
    func badFallback() {
        var bytes: [UInt8] = Array(repeating: 0, count: 2 + 384 * 3 / 8)
        bytes[0] = 6
        bytes[1] = 5
        #expect(FreeBusyBits.decodeNew(bytes) == nil)
    }

    @Test(
        "ISO 8601 durations",
        arguments: [
            ("PT15M", 900), ("PT1H", 3600), ("P1D", 86_400), ("PT30S", 30), ("PT", nil), ("15M", nil), ("PT-5M", nil),
            ("PT99999999999M", nil),
        ]
            as [(String, Int?)])
    func durations(_ text: String, _ seconds: Int?) {
        #expect(FreeBusyBits.seconds(ofDuration: text) == seconds)
    }

    @Test("free/busy to timed statuses and back keeps every quarter of an hour")
    func roundTrip() throws {
        let mapper = PresenceMapper()
        var presence = CanonicalPresence(entity: "sip:bob@contoso.com")
        let start = try #require(DateTime("2026-05-04T08:00:00Z"))
        presence.freeBusy = CanonicalFreeBusy(start: start, slotSeconds: 900, slots: Self.slots)
        let document = mapper.pidf(from: presence).value
        #expect(document.tuples.first?.timedStatuses.count == 3)
        let back = try #require(mapper.canonical(from: document).value.freeBusy)
        #expect(back.start == DateTime("2026-05-04T09:15:00Z"))
        #expect(back.slots == [2, 2, 2, 2, 1, 1, 1, 1, 3, 3, 3, 3])
    }

    @Test("timed statuses of distant centuries do no harm")
    func distant() throws {
        var document = PIDFDocument(entity: "sip:a@example.org")
        var tuple = PIDFTuple(id: "a", basic: .open)
        tuple.timedStatuses = [
            TimedStatus(from: try #require(DateTime("1678-01-01T00:00:00Z")), basic: .open),
            TimedStatus(from: try #require(DateTime("2261-12-31T23:59:59Z")), until: DateTime("2261-12-31T23:59:59Z"), basic: .closed),
            TimedStatus(from: try #require(DateTime("1678-01-01T00:00:00Z")), until: DateTime("2261-12-31T23:59:59Z"), basic: .closed),
        ]
        document.tuples = [tuple]
        #expect(PresenceMapper().canonical(from: document).value.freeBusy?.slots.count == 384)
    }
}
