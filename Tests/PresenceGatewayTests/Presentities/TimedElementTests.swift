import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// Elements with `from` and `until` begin and end by themselves (RFC 4480 3.1).
@Suite struct TimedElementTests {
    let bench = Bench()

    /// A meeting from 600 to 1,200 seconds from now, and open besides.
    func meeting(_ user: String) -> String {
        func time(_ seconds: Int) -> String { DateTime(nanosecondsSince1970: (bench.now + .seconds(seconds)).nanosecondsSince1970).text }
        return Bench.pidf(user, activity: "meeting")
            .replacingOccurrences(of: "<rpid:activities>", with: "<rpid:activities from=\"\(time(600))\" until=\"\(time(1_200))\">")
    }

    func poll(_ user: String) throws -> String {
        bench.send(bench.categorySubscribe("emma@contoso.com", to: user, expires: 0), from: Bench.enterprise)
        return try bench.nextResponse(200, at: Bench.enterprise).text
    }

    /// What is notified while the time passes, as numbers, each checked against a poll of the same moment.
    func follow(_ user: String) throws -> [Int] {
        var numbers: [Int] = []
        for _ in 0..<3 {
            for notify in try bench.takeNotifies() {
                for number in [3_500, 6_500] where notify.text.contains("<availability>\(number)</availability>") { numbers.append(number) }
            }
            if user.hasSuffix("example.com"), let last = numbers.last {
                #expect(try poll(user).contains("<availability>\(last)</availability>"))
            }
            bench.pass(.seconds(601))
        }
        return numbers
    }

    @Test("RFC 4480 3.1 a hosted presentity: the Microsoft watcher is told when the activity begins and when it ends; a poll says the same")
    func hosted() throws {
        bench.sendPublish("carol@example.com", meeting("carol@example.com"), expires: 3_600)
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "carol@example.com"), from: Bench.enterprise)
        let first = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(first.text.contains("<availability>3500</availability>"))
        #expect(try poll("carol@example.com").contains("<availability>3500</availability>"))
        #expect(try follow("carol@example.com") == [6_500, 3_500])
    }

    @Test("RFC 4480 3.1 a bridged presentity: the same, without a word of the far side")
    func bridged() throws {
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let upstream = try bench.nextRequest(.subscribe, at: Bench.simple)
        bench.answer(upstream, 200, from: Bench.simple, headers: [(.expires, "3600")])
        bench.notify(
            upstream, "active;expires=3600", cSeq: 1, type: "application/pidf+xml", body: meeting("alice@example.org"), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try follow("alice@example.org") == [3_500, 6_500, 3_500])
    }

    @Test("a document with many times is rendered once a second at most, and its last time counts") func manyTimes() throws {
        func time(_ milliseconds: Int) -> String {
            DateTime(nanosecondsSince1970: (bench.now + .milliseconds(10_000 + milliseconds)).nanosecondsSince1970).text
        }
        let activities = (0..<200).map { index in
            "<rpid:activities from=\"\(time(index * 10))\" until=\"\(time(index * 10 + 5))\"><rpid:\(index % 2 == 0 ? "meeting" : "busy")/></rpid:activities>"
        }
        let whole = Bench.pidf("carol@example.com", activity: "meeting")
        let body = whole.replacingOccurrences(
            of: "<rpid:activities><rpid:meeting/></rpid:activities>", with: activities.joined())
        try #require(body != whole)
        bench.sendPublish("carol@example.com", body, expires: 3_600)
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "carol@example.com"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        bench.pass(.seconds(30))
        let notified = try bench.takeNotifies()
        #expect(notified.count <= 3, "2 seconds hold all 400 times")
        #expect(try poll("carol@example.com").contains("<availability>3500</availability>"))
    }

    @Test("a PIDF watcher, which reads the times itself, is not notified when they come")
    func simpleWatcher() throws {
        bench.sendPublish("carol@example.com", meeting("carol@example.com"), expires: 3_600)
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        bench.send(bench.subscribe("dave@example.org", to: "carol@example.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try bench.takeNotifies(at: Bench.simple).count == 1)
        bench.pass(.seconds(1_300))
        #expect(try bench.takeNotifies(at: Bench.simple).isEmpty)
    }
}
