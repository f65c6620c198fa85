import SIPCore
import Testing

@testable import SIPSecurity

/// Header values, base 64, dates, windows: the small parts.
@Suite struct CodingTests {
    @Test("RFC 3261 25.1: scheme and parameters, quoted or not, with blanks and escapes")
    func credentials() throws {
        let value = try #require(AuthorizationValue("  NTLM qop=\"auth\" , cnum=12,Opaque = \"a\\\"b\",gssapi-data=\"\""))
        #expect(value.isScheme("ntlm") && value["qop"] == "auth" && value["cnum"] == "12")
        #expect(value["opaque"] == "a\"b" && value["gssapi-data"] == "" && value["none"] == nil)
    }

    @Test(
        "malformed credentials are refused whole",
        arguments: [
            "", "NTLM qop", "NTLM qop=", "NTLM qop=\"auth", "NTLM a=1 b=2", "NTLM a=1,", "NTLM a=1, A=2", "NTLM ,a=1", "=a",
            "Digest " + (0..<40).map { "p\($0)=1" }.joined(separator: ","), "Digest a=\"" + String(repeating: "x", count: 20_000) + "\"",
        ])
    func malformed(_ text: String) {
        #expect(AuthorizationValue(text) == nil)
    }

    @Test("any octets in Authorization give an answer, and no credentials that were not given")
    func noise() throws {
        let bench = try Bench()
        var random = TokenGenerator(seed: 11)
        let valid = Array(
            "NTLM qop=\"auth\", realm=\"SIP Communications Service\", targetname=\"edge1.example.net\", opaque=\"00\", cnum=\"1\"".utf8)
        for _ in 0..<5_000 {
            var bytes = valid
            for _ in 0...random.number(below: 6) {
                bytes[Int(random.number(below: UInt64(bytes.count)))] = UInt8(truncatingIfNeeded: random.next())
            }
            var request = Bench.request()
            request.headers.set(.authorization, String(decoding: bytes, as: UTF8.self))
            #expect(!bench.check(request, Bench.any).isAccepted)
        }
    }

    @Test(
        "RFC 3261 20.17: dates, leap days among them",
        arguments: [
            (Int64(1_289_690_940), "Sat, 13 Nov 2010 23:29:00 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (1_709_164_799, "Wed, 28 Feb 2024 23:59:59 GMT"), (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
        ])
    func dates(_ seconds: Int64, _ expected: String) {
        #expect(HeaderDate.text(Instant(secondsSince1970: seconds)) == expected)
    }

    @Test("a replay window agrees with a set of all numbers seen, whatever the order")
    func window() {
        var random = TokenGenerator(seed: 5)
        var window = ReplayWindow()
        var seen: Set<UInt32> = []
        var greatest: UInt32 = 0
        for step in 0..<20_000 {
            let jump = step % 97 == 0 ? 600 : 40
            let low = greatest > 300 ? greatest - 300 : 0
            let number = low + UInt32(random.number(below: UInt64(300 + jump)))
            let isNew = number > 0 && !seen.contains(number) && !(number < greatest && greatest - number >= 256)
            let isTaken = window.accept(number)
            #expect(isTaken == isNew)
            if isNew { seen.insert(number) }
            greatest = max(greatest, number)
        }
        let mayTakeLast = window.accept(.max)
        let mayTakeAgain = window.accept(.max)
        #expect(mayTakeLast && !mayTakeAgain)
    }

    @Test("the table of failures is bounded: the oldest count is dropped, and no user is paused for the failures of others")
    func limiterBound() {
        var limiter = FailureLimiter(failures: 2, window: .seconds(60), userLimit: 10, knownFlowLimit: 4)
        func attempt(_ host: Int) -> SignInAttempt {
            SignInAttempt(
                user: String(repeating: "u", count: 60_000) + "@contoso.com",
                from: MessageSource(
                    local: TransportAddress(.udp, "192.0.2.1", 5060), remote: TransportAddress(.udp, "198.51.100.\(host)", 5060),
                    connection: nil))
        }
        for host in 0..<100 {
            for _ in 0..<2 { limiter.noteFailure(of: attempt(host), at: Bench.start + .milliseconds(host)) }
        }
        let now = Bench.start + .seconds(1)
        #expect(limiter.count == 10)
        let pauses = (0...100).map { limiter.pause(of: attempt($0), at: now) }
        #expect(pauses == (0...100).map { (90..<100).contains($0) ? 59 : nil })
        #expect(attempt(1).flow.identity.utf8.count == 128)
        for host in 0..<100 { limiter.noteSuccess(of: attempt(host)) }
        #expect(limiter.knownFlowCount <= 4)
        #expect(limiter.pause(of: attempt(99), at: now) == nil)
    }
}
