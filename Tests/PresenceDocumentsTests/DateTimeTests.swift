import Testing

@testable import PresenceDocuments

@Suite struct DateTimeTests {
    @Test(
        "RFC 3339 forms are read to the nanosecond",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-22T10:13:00Z", 1_795_342_380_000_000_000),
            ("2026-11-22T12:13:00.5+02:00", 1_795_342_380_500_000_000),
            ("2026-11-22T05:13:00-05:00", 1_795_342_380_000_000_000), ("2000-02-29T23:59:59.999999999Z", 951_868_799_999_999_999),
            ("1969-12-31T23:59:59.25Z", -750_000_000), (" 2026-11-22t10:13:00z\n", 1_795_342_380_000_000_000),
            ("2026-11-22T24:00:00Z", 1_795_392_000_000_000_000),
        ])
    func read(_ text: String, _ nanoseconds: Int64) throws {
        #expect(try #require(DateTime(text)).nanosecondsSince1970 == nanoseconds)
    }

    @Test("MS-PRES 2.2.2.1 a missing zone is UTC, with any number of fraction digits")
    func withoutZone() {
        #expect(DateTime("2026-11-22T10:13:00.1234567") == DateTime("2026-11-22T10:13:00.1234567Z"))
        #expect(DateTime("2026-11-22T10:13:00") == DateTime("2026-11-22T10:13:00Z"))
    }

    @Test(
        "what is no time is refused",
        arguments: [
            "", "2026", "2026-11-22", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-00-10T00:00:00Z", "2026-11-22T25:00:00Z",
            "2026-11-22T10:60:00Z", "2026-11-22T10:13:61Z", "2026-11-22T10:13:00.Z", "2026-11-22T10:13:00+2:00", "2026-11-22T10:13:00+0200",
            "2026-11-22T10:13:00ZZ", "9999-11-22T10:13:00Z", "2026-11-22 10:13:00Z", "２026-11-22T10:13:00Z", "2026-11-22T24:00:01Z",
        ])
    func refused(_ text: String) { #expect(DateTime(text) == nil) }

    @Test("the original text is kept, and moments compare without it")
    func original() throws {
        let one = try #require(DateTime("2026-11-22T12:13:00+02:00"))
        #expect(one.text == "2026-11-22T12:13:00+02:00" && one == DateTime("2026-11-22T10:13:00Z"))
        #expect(one.rfc3339() == "2026-11-22T10:13:00Z")
    }

    @Test("forms of the enhanced documents")
    func forms() throws {
        let time = try #require(DateTime("2026-11-22T10:13:00.1234567Z"))
        #expect(time.publishTime == "2026-11-22T10:13:00.123")
        #expect(time.lastActive == "2026-11-22T10:13:00")
        #expect(time.rfc3339() == "2026-11-22T10:13:00.123456700Z")
        #expect(time.rfc3339(fractionDigits: 1) == "2026-11-22T10:13:00.1Z")
    }

    @Test("every day of four centuries is written and read the same")
    func calendar() throws {
        var days: Int64 = -100_000
        while days < 46_000 {
            let time = DateTime(nanosecondsSince1970: days * 86_400_000_000_000 + 1)
            #expect(DateTime(time.rfc3339()) == time)
            days += 13
        }
        #expect(DateTime(nanosecondsSince1970: .max).rfc3339() == "2262-04-11T23:47:16.854775807Z")
        #expect(DateTime(nanosecondsSince1970: .min).rfc3339().hasPrefix("1677-09-21"))
    }
}
