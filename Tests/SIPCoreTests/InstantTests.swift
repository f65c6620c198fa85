import SIPCore
import Testing

@Suite struct InstantTests {
    @Test func wholeSecondsRoundDownBefore1970() {
        #expect(Instant(nanosecondsSince1970: -1).secondsSince1970 == -1)
        #expect(Instant(secondsSince1970: 7).secondsSince1970 == 7)
    }
}
