import PresenceDocuments
import SIPCore
import Testing

@testable import PresenceGateway

/// The remote domain is asked for the categories that are wanted now: no fewer, and no more.
@Suite struct WantedCategoriesTests {
    let open = Bench.state(3_500)

    @Test("MS-PRES 3.4.5.1.3: a category that a refresh adds is asked for at the far side, in its dialog")
    func widened() throws {
        let bench = Bench { $0.timing.notifySpacing = .zero }
        bench.send(bench.categorySubscribe("ulla@fabrikam.com", to: "bob@contoso.com", via: Bench.endpoint), from: Bench.endpoint)
        let answer = try bench.nextResponse(200, at: Bench.endpoint)
        let subscription = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(!subscription.text.contains("calendarData"))
        bench.grant(subscription, [("bob@contoso.com", open)])
        _ = try bench.takeNotifies(at: Bench.endpoint)
        bench.send(
            bench.change(answer, cSeq: 2, .subscribe("bob@contoso.com", to: ["calendarData"]), isBatch: false, via: Bench.endpoint),
            from: Bench.endpoint)
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        let asked = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(asked.headers.callID == subscription.headers.callID && asked.headers.toTag != nil && asked.text.contains("calendarData"))
        let calendar =
            "<category name=\"calendarData\" instance=\"1\" publishTime=\"2026-11-22T10:13:00.000\"><calendarData "
            + "xmlns=\"http://schemas.microsoft.com/2006/09/sip/calendarData\" mailboxID=\"bob@contoso.com\"/></category>"
        bench.grant(asked, [("bob@contoso.com", open + calendar)])
        #expect(try bench.takeNotifies(at: Bench.endpoint).contains { $0.text.contains("mailboxID") })
        // The same again is nothing new.
        bench.send(
            bench.change(answer, cSeq: 3, .subscribe("bob@contoso.com", to: ["calendarData"]), isBatch: false, via: Bench.endpoint),
            from: Bench.endpoint)
        #expect(bench.isQuiet(at: Bench.enterprise))
    }

    @Test("MS-PRES 3.4.5.1.3: what only a dialog that left wanted is taken back with the next change, and is not asked for again")
    func leavingCategories() throws {
        let bench = Bench.trusted { $0.timing.notifySpacing = .zero }
        let bob = "bob@contoso.com"
        func watch() throws -> SIPResponse {
            bench.send(bench.categorySubscribe("ulla@fabrikam.com", to: bob, via: Bench.endpoint), from: Bench.endpoint)
            let answer = try bench.nextResponse(200, at: Bench.endpoint)
            return answer
        }
        _ = try watch()
        bench.grant(try bench.nextRequest(.subscribe, at: Bench.enterprise), [(bob, open)])
        let resource = try #require(bench.gateway.flows.upstream.upstreams.values.first?.resources.first)
        let lasting = resource.categories
        for number in 1...4 {
            _ = try bench.takeNotifies(at: Bench.endpoint)
            let answer = try watch()
            _ = try bench.takeNotifies(at: Bench.endpoint)
            bench.send(
                bench.change(answer, cSeq: 2, .subscribe(bob, to: ["c\(number)"]), isBatch: false, via: Bench.endpoint),
                from: Bench.endpoint)
            _ = try bench.nextResponse(200, at: Bench.endpoint)
            let change = try bench.nextRequest(.subscribe, at: Bench.enterprise)
            let asked = change.text.split(separator: "<action ").dropFirst().map { action in
                action.split(separator: "category name=\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
            }
            let before = number == 1 ? [] : [["c\(number - 1)"]]
            #expect(asked == [lasting.map(\.rawValue) + ["c\(number)"]] + before)
            #expect(Bench.actions(change) == ["subscribe: sip:\(bob)"] + before.map { _ in "unsubscribe: sip:\(bob)" })
            bench.grant(change, [(bob, open)])
            #expect(resource.asked == resource.categories && resource.asked?.count == lasting.count + 1)
            _ = try bench.takeNotifies(at: Bench.endpoint)
            bench.send(bench.inDialog(answer, cSeq: 3, expires: 0, via: Bench.endpoint), from: Bench.endpoint)
            _ = try bench.nextResponse(200, at: Bench.endpoint)
            _ = try bench.takeNotifies(at: Bench.endpoint)
            #expect(resource.categories == lasting && bench.isQuiet(at: Bench.enterprise))
        }
    }

    @Test("MS-PRES 3.4.5.1.3: a watcher who goes from one category to the next leaves nothing behind")
    func changingCategories() throws {
        let bench = Bench { $0.timing.notifySpacing = .zero }
        bench.send(bench.batch("ulla@fabrikam.com", .subscribe("ann@example.org", to: ["state", "c0"])), from: Bench.enterprise)
        let answer = try bench.nextResponse(200, at: Bench.enterprise)
        for number in 1...5 {
            bench.send(
                bench.change(
                    answer, cSeq: number + 1, .subscribe("ann@example.org", to: ["c\(number)"]),
                    .unsubscribe("ann@example.org", from: ["c\(number - 1)"])),
                from: Bench.enterprise)
            _ = try bench.nextResponse(200, at: Bench.enterprise)
        }
        #expect(
            bench.gateway.flows.upstream.upstreams.values.map { $0.resources.map { $0.categories.map(\.rawValue) } } == [[["state", "c5"]]])
    }
}
