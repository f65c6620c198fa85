import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// MSRTC and PIDF watchers of a hosted user: what they see is made from legacyInterop (MS-PRES 3.7.5).
@Suite struct LegacyWatcherTests {
    let bench = Bench()

    func watch(_ type: String, _ watcher: String = "ulla@contoso.com", piggyback: Bool = false) throws -> SIPResponse {
        bench.send(
            bench.subscribe(
                watcher, to: "rob@fabrikam.com", accept: type,
                extra: piggyback ? "Supported: ms-piggyback-first-notify\r\n" : "", via: Bench.enterprise), from: Bench.enterprise)
        return try bench.nextResponse(200, at: Bench.enterprise)
    }

    @Test("MS-PRES 3.7.5.4 PIDF: no Require, 200 without body whatever is offered, then NOTIFY with one tuple [R222, R225]")
    func pidf() throws {
        try bench.publish("rob@fabrikam.com", .legacyInterop(6_500), .state(9_500))
        let accepted = try watch("application/pidf+xml", piggyback: true)
        #expect(accepted.body.isEmpty && !accepted.headers.contains(.require) && !accepted.headers.contains(.msPiggybackCSeq))
        let notify = try #require(try bench.takeNotifies().first)
        #expect(notify.headers.contentType?.essence == "application/pidf+xml" && !notify.headers.contains(.require))
        let document = try PIDFDocument.decode(notify.body)
        #expect(document.entity == "sip:rob@fabrikam.com" && document.tuples.count == 1)
        #expect(document.tuples.first?.basic == .open && notify.text.contains("busy"))
    }

    @Test("who is shown something else by new mapping tables is told, once; the same tables again tell nothing")
    func newTables() throws {
        try bench.publish("rob@fabrikam.com", .legacyInterop(6_500))
        _ = try watch("application/pidf+xml")
        #expect(try bench.takeNotifies().first?.text.contains("busy") == true)
        let busy = "\"availability\": [6000, 7499], \"basic\": \"open\", \"rpid\": \"busy\""
        let mapper = try Bench.mapper(
            "availability-to-pidf", busy, becomes: busy.replacingOccurrences(of: "busy", with: "meeting"))
        bench.use(mapper)
        let notified = try bench.takeNotifies()
        #expect(notified.count == 1 && notified.first?.text.contains("meeting") == true && notified.first?.text.contains("busy") == false)
        let rendered = bench.gateway.counters.bodiesEncoded
        bench.use(mapper)
        #expect(try bench.takeNotifies().isEmpty)
        // Nobody's view was even looked at.
        #expect(bench.gateway.counters.bodiesEncoded == rendered)
    }

    @Test("MS-PRES 3.7.5.5 MSRTC: in the 200 when piggyback is offered, else in a NOTIFY [R226, R227]", arguments: [true, false])
    func msrtc(piggyback: Bool) throws {
        try bench.publish("rob@fabrikam.com", .legacyInterop(6_500, token: "in-a-meeting"))
        let accepted = try watch("text/xml+msrtc.pidf", piggyback: piggyback)
        let notifies = try bench.takeNotifies()
        #expect(notifies.count == (piggyback ? 0 : 1) && accepted.body.isEmpty == !piggyback)
        let (headers, text) = piggyback ? (accepted.headers, accepted.text) : (notifies[0].headers, notifies[0].text)
        #expect(headers.contentType?.essence == "text/xml+msrtc.pidf")
        #expect(text.contains("in-a-meeting") && text.contains("6500"))
    }

    @Test("MS-PRES 3.7.5.1 the container is resolved for legacyInterop, and its changes are told, those of others not [R224]")
    func resolution() throws {
        try bench.publish(
            "rob@fabrikam.com", .legacyInterop(3_500, in: 100), .legacyInterop(9_500, in: 300), .state(6_500, in: 300))
        try bench.setMembers("rob@fabrikam.com", 100, "federated")
        try bench.setMembers("rob@fabrikam.com", 300, "user:emma@contoso.com")
        _ = try watch("text/xml+msrtc.pidf")
        #expect(try bench.takeNotifies().first?.text.contains("avail=\"3500\"") == true)
        _ = try watch("text/xml+msrtc.pidf", "emma@contoso.com")
        #expect(try bench.takeNotifies().first?.text.contains("avail=\"9500\"") == true)
        try bench.publish("rob@fabrikam.com", .legacyInterop(15_500, in: 100, version: 1))
        let notified = try bench.takeNotifies()
        #expect(notified.count == 1 && notified.first?.text.contains("avail=\"15500\"") == true)
        try bench.setMembers("rob@fabrikam.com", 300, version: 1, "user:ulla@contoso.com")
        #expect(try bench.takeNotifies().map { $0.text.contains("avail=\"9500\"") } == [true])
    }

    @Test("MS-PRES 3.7.5.5 every row of the table over the wire, at both edges, with a token and with its default [R229, R235]")
    func table() throws {
        // Number, aggregate of availability, of activity, avail of the state, and the text of the state without a token.
        let rows: [(ClosedRange<Int>, Int, Int, Int, String)] = [
            (0...2_999, 0, 100, 18_500, "offline"), (3_000...4_499, 300, 400, 3_500, "online"), (4_500...5_999, 300, 100, 15_500, "away"),
            (6_000...7_499, 300, 600, 6_500, "busy"), (7_500...8_999, 300, 100, 15_500, "away"),
            (9_000...11_999, 300, 600, 9_500, "do-not-disturb"), (12_000...14_999, 300, 300, 12_500, "be-right-back"),
            (15_000...17_999, 300, 100, 15_500, "away"), (18_000...20_000, 0, 100, 18_500, "offline"),
        ]
        _ = try watch("text/xml+msrtc.pidf")
        _ = try bench.takeNotifies()
        var version = 0
        for (range, availability, activity, state, text) in rows {
            for number in [range.lowerBound, range.upperBound] {
                for token in ["in-a-meeting", nil] {
                    try bench.publish("rob@fabrikam.com", .legacyInterop(number, token: token, version: version))
                    version += 1
                    _ = try bench.takeNotifies()
                    bench.send(
                        bench.subscribe(
                            "ulla@contoso.com", to: "rob@fabrikam.com", accept: "text/xml+msrtc.pidf", expires: 0,
                            extra: "Supported: ms-piggyback-first-notify\r\n", via: Bench.enterprise), from: Bench.enterprise)
                    let document = try MSRTCPIDFDocument(parsing: bench.nextResponse(200, at: Bench.enterprise).body)
                    #expect(document.availability?.aggregate == UInt32(availability), "\(number)")
                    #expect(document.activity?.aggregate == UInt32(activity), "\(number)")
                    let shown = document.aggregateState
                    #expect(shown?.availability == UInt32(state) && shown?.token == token ?? text, "\(number) \(token ?? "-")")
                }
            }
        }
    }

    @Test(
        "MS-PRES 3.7.5.1 without a container of legacyInterop a watcher sees somebody offline [R230]",
        arguments: [
            "text/xml+msrtc.pidf", "application/pidf+xml", "application/xpidf+xml",
        ])
    func blocked(type: String) throws {
        _ = try watch(type)
        let before = try #require(try bench.takeNotifies().first)
        #expect(before.text.contains("closed") || before.text.contains("18500"))
        try bench.publish("rob@fabrikam.com", .legacyInterop(6_500, in: 200), .state(6_500, in: 200))
        try bench.setMembers("rob@fabrikam.com", 200, "sameEnterprise")
        #expect(try bench.takeNotifies().isEmpty)
        _ = try watch(type)
        #expect(try bench.takeNotifies().first?.body == before.body)
    }

    @Test("MS-PRES 3.7.5.5 name, mail and phone are those of the contact card that the watcher may see [R228]")
    func card() throws {
        let card =
            "<contactCard xmlns=\"http://schemas.microsoft.com/2006/09/sip/contactcard\"><identity><name><displayName>Rob Young"
            + "</displayName></name><email>rob@fabrikam.com</email></identity><phone type=\"work\"><uri>tel:+15550100</uri></phone></contactCard>"
        try bench.publish("rob@fabrikam.com", .legacyInterop(3_500), .init(name: "contactCard", body: card))
        let text = try watch("text/xml+msrtc.pidf", piggyback: true).text
        #expect(text.contains("displayName=\"Rob Young\"") && text.contains("email=\"rob@fabrikam.com\""))
        #expect(text.contains("+15550100"))
    }

    @Test("MS-PRES 2.2.2.9 MSRTC documents are not published [R223]")
    func publishing() throws {
        bench.sendPublish("rob@fabrikam.com", "<x>", type: "text/xml+msrtc.pidf")
        #expect(try bench.nextResponse(415, at: Bench.endpoint).headers.contains(.accept))
    }
}
