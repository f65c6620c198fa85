import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// Lifetimes inside documents: timed status (RFC 4481 2), `expires` of category instances (MS-PRES 2.2.2.1) and notes with an end
/// (MS-PRES 4.2) begin and end for every watcher without a message of the publisher.
@Suite struct TimedStatusTests {
    let bench = Bench()

    func time(_ seconds: Int) -> String { DateTime(nanosecondsSince1970: (bench.now + .seconds(seconds)).nanosecondsSince1970).text }

    /// Open, and closed from 600 to 1,200 seconds from now.
    func planned(_ user: String, status: String = "<ts:basic>closed</ts:basic>", timestamp: String = "") -> String {
        Bench.pidf(user).replacingOccurrences(
            of: "</status>",
            with:
                "</status><ts:timed-status xmlns:ts=\"urn:ietf:params:xml:ns:pidf:timed-status\" from=\"\(time(600))\" until=\"\(time(1_200))\">"
                + "\(status)</ts:timed-status>\(timestamp)")
    }

    /// The numbers that the Microsoft watcher is notified of until 1,400 seconds from now.
    func numbers() throws -> [Int] {
        var numbers: [Int] = []
        for _ in 0..<7 {
            for notify in try bench.takeNotifies() {
                for number in [3_500, 6_500, 18_500] where notify.text.contains("<availability>\(number)</availability>") {
                    numbers.append(number)
                }
            }
            bench.pass(.seconds(200))
        }
        return numbers
    }

    func bridge(_ body: (String) -> String) throws {
        let upstream = try bench.nextRequest(.subscribe, at: Bench.simple)
        bench.answer(upstream, 200, from: Bench.simple, headers: [(.expires, "3600")])
        bench.notify(
            upstream, "active;expires=3600", cSeq: 1, type: "application/pidf+xml", body: body("alice@example.org"), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
    }

    @Test("RFC 4481 2 hosted: a timed status that comes to cover the present is the status of every watcher until it ends")
    func hosted() throws {
        bench.sendPublish("carol@example.com", planned("carol@example.com"), expires: 3_600)
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "carol@example.com"), from: Bench.enterprise)
        #expect(try bench.nextResponse(200, at: Bench.enterprise).text.contains("<availability>3500</availability>"))
        bench.send(bench.subscribe("dave@example.org", to: "carol@example.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let before = try #require(try bench.takeNotifies(at: Bench.simple).first)
        #expect(before.text.contains("<basic>open</basic>") && before.text.contains("timed-status"))

        bench.pass(.seconds(601))
        let during = try #require(try bench.takeNotifies(at: Bench.simple).first)
        #expect(during.text.contains("<basic>closed</basic>") && !during.text.contains("<basic>open</basic>"))
        // RFC 4481 2: the range of a timed status does not encompass the present.
        #expect(!during.text.contains("<ts:timed-status"))
        #expect(try bench.takeNotifies().map { $0.text.contains("<availability>18500</availability>") } == [true])
        bench.send(bench.categorySubscribe("emma@contoso.com", to: "carol@example.com", expires: 0), from: Bench.enterprise)
        #expect(try bench.nextResponse(200, at: Bench.enterprise).text.contains("<availability>18500</availability>"))

        bench.pass(.seconds(600))
        #expect(try bench.takeNotifies(at: Bench.simple).first?.text.contains("<basic>open</basic>") == true)
        #expect(try bench.takeNotifies().map { $0.text.contains("<availability>3500</availability>") } == [true])
    }

    @Test("RFC 4481 2 bridged: the same, with a basic status and with an activity", arguments: [false, true])
    func bridged(hasActivity: Bool) throws {
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        try bridge {
            planned(
                $0,
                status: hasActivity
                    ? "<rpid:activities xmlns:rpid=\"urn:ietf:params:xml:ns:pidf:rpid\"><rpid:meeting/></rpid:activities>"
                    : "<ts:basic>closed</ts:basic>")
        }
        #expect(try numbers() == [3_500, hasActivity ? 6_500 : 18_500, 3_500])
    }

    @Test("RFC 4481 2 a report from within the range is newer than the plan, and stays the status")
    func reported() throws {
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        try bridge { planned($0, timestamp: "<timestamp>\(time(700))</timestamp>") }
        #expect(try numbers() == [3_500])
    }

    @Test("MS-PRES 1.3.1.6 the publishTime of a state moves with the beginning and the end of a timed element, so that clients take it")
    func publishTime() throws {
        let stamped = { (user: String) in planned(user, timestamp: "<timestamp>\(time(-60))</timestamp>") }
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        try bridge(stamped)
        var times: [String] = []
        for _ in 0..<3 {
            for notify in try bench.takeNotifies() {
                times += notify.text.split(separator: "<category name=\"state\"").dropFirst().compactMap {
                    $0.split(separator: "publishTime=\"").dropFirst().first.map { String($0.prefix { $0 != "\"" }) }
                }
            }
            bench.pass(.seconds(601))
        }
        #expect(times.count == 3 && times == times.sorted() && Set(times).count == 3)
    }

    // MARK: categories

    /// A watcher of example.org at a presentity of contoso.com, whose home sends this.
    func watchEnterprise(_ categories: String) throws {
        try bench.watch("bob@contoso.com")
        let upstream = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.answer(upstream, 200, from: Bench.enterprise, headers: [(.expires, "3600")])
        bench.notify(
            upstream, "active;expires=3600", cSeq: 1, type: "application/msrtc-event-categories+xml",
            body: Bench.categories("bob@contoso.com", categories), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
    }

    @Test("MS-PRES 2.2.2.1 bridged: an instance with expires ends for its watchers without another NOTIFY; expires 0 is none")
    func instanceExpires() throws {
        let state = Bench.state(6_500).replacingOccurrences(
            of: "instance=\"1\"", with: "instance=\"1\" expireType=\"time\" expires=\"300\"")
        try watchEnterprise(state)
        #expect(try bench.notified().last == "bob@contoso.com active open")
        bench.pass(.seconds(299))
        #expect(try bench.notified().isEmpty)
        bench.pass(.seconds(2))
        #expect(try bench.notified() == ["bob@contoso.com active closed"])
    }

    @Test("MS-PRES 2.2.2.1 bridged: an instance with expires 0 is deleted")
    func deletedInstance() throws {
        let state = Bench.state(6_500).replacingOccurrences(of: "instance=\"1\"", with: "instance=\"1\" expireType=\"time\" expires=\"0\"")
        try watchEnterprise(state)
        #expect(try bench.notified().last == "bob@contoso.com active closed")
    }

    func note(_ text: String) -> String {
        "<note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\"><body type=\"OOF\" uri=\"\" startTime=\"\(time(600))\" "
            + "endTime=\"\(time(1_200))\">\(text)</body></note>"
    }

    /// Whether the note was shown, after each third of 1,800 seconds.
    func shown() throws -> [Bool] {
        try (0..<3).map { _ in
            defer { bench.pass(.seconds(601)) }
            return try #require(try bench.takeNotifies(at: Bench.simple).last).text.contains("On holiday")
        }
    }

    @Test("MS-PRES 4.2 bridged: a note with startTime and endTime is shown to PIDF watchers between them")
    func bridgedNote() throws {
        let category = "<category name=\"note\" instance=\"0\" publishTime=\"2026-11-22T10:13:00.000\">\(note("On holiday"))</category>"
        try watchEnterprise(Bench.state(3_500) + category)
        #expect(try shown() == [false, true, false])
    }

    @Test("MS-PRES 4.2 hosted: a note with startTime and endTime is shown to PIDF watchers between them")
    func hostedNote() throws {
        try bench.publish(
            "rob@fabrikam.com", .state(3_500),
            Bench.Publication(name: "note", body: note("On holiday")))
        try bench.watch("rob@fabrikam.com")
        #expect(try shown() == [false, true, false])
    }
}
