import SIPCore
import Testing

@testable import PresenceGateway

/// Endpoints of enterprise clients whose connection closes, and come back with the same epid.
@Suite struct EndpointReturnTests {
    private func endpoint(_ bench: Bench, _ connection: UInt64) -> SignedInEndpoint {
        SignedInEndpoint(bench, "rob@fabrikam.com", connection: connection)
    }

    @Test(
        "MS-PRES 3.3.5.2 a self subscription outlives its connection, whether or not its last NOTIFY was answered",
        arguments: [true, false])
    func ownData(isAnswered: Bool) throws {
        let bench = Bench()
        let rob = endpoint(bench, 1)
        rob.register()
        _ = try rob.response(200)
        rob.subscribeSelf(["categories"], extra: "")
        let accepted = try rob.response(200)
        let first = try rob.request(.notify)
        if isAnswered { bench.answer(first, 200, from: rob.place) }
        rob.closeConnection()
        bench.pass(.seconds(5))
        #expect(bench.gateway.counts.homeDialogs == 1)
        rob.connection = ConnectionID(rawValue: 9)
        rob.register()
        _ = try rob.response(200)
        while !rob.isQuiet { bench.answer(try rob.request(.notify), 200, from: rob.place) }
        rob.subscribeSelf(["categories"], extra: "", in: accepted)
        _ = try rob.response(200)
        #expect(try rob.request(.notify).text.contains("roamingData"))
    }

    @Test("an endpoint that never registered takes its dialogs up again within the grace of its connection, and loses them after it")
    func unregistered() throws {
        let bench = Bench()
        let rob = endpoint(bench, 1)
        rob.subscribeSelf(["categories"])
        let own = try rob.response(200)
        rob.watch("sue@fabrikam.com", extra: SignedInEndpoint.home)
        let watching = try rob.response(200)
        rob.closeConnection()
        bench.pass(.seconds(29))
        #expect(bench.gateway.counts.homeDialogs == 1 && bench.gateway.counts.watcherDialogs == 1)
        rob.connection = ConnectionID(rawValue: 9)
        rob.subscribeSelf(["categories"], in: own)
        _ = try rob.response(200)
        rob.send(
            "SUBSCRIBE", watching.headers.contact?.uri.description ?? "", to: "sue@fabrikam.com", extra: "Event: presence\r\n",
            toTag: watching.headers.toTag, callID: watching.headers.callID, fromTag: watching.headers.fromTag)
        _ = try rob.response(200)
        bench.pass(.seconds(60))
        #expect(bench.gateway.counts.homeDialogs == 1 && bench.gateway.counts.watcherDialogs == 1)
        rob.closeConnection()
        bench.pass(.seconds(31))
        #expect(bench.gateway.counts.homeDialogs == 0 && bench.gateway.counts.watcherDialogs == 0)
    }

    @Test("an endpoint that takes NOTIFY and never registered is reached at its Contact: its dialogs do not end with a connection")
    func reachedAtContact() throws {
        let bench = Bench()
        let rob = endpoint(bench, 1)
        rob.subscribeSelf(["categories"], extra: "")
        _ = try rob.response(200)
        bench.answer(try rob.request(.notify), 200, from: rob.place)
        rob.closeConnection()
        bench.pass(.seconds(60))
        #expect(bench.gateway.counts.homeDialogs == 1)
    }

    @Test("an endpoint that registers over a new connection is told what it missed")
    func missed() throws {
        let bench = Bench()
        let (rob, sue) = (endpoint(bench, 1), SignedInEndpoint(bench, "sue@fabrikam.com", epid: "0a1b2c3d4e", connection: 2))
        for one in [rob, sue] {
            one.register()
            _ = try one.response(200)
        }
        rob.watch("sue@fabrikam.com", extra: SignedInEndpoint.home)
        _ = try rob.response(200)
        rob.closeConnection()
        sue.publish(SignedInEndpoint.note("back at four", expire: "static"))
        _ = try sue.response(200)
        #expect(rob.isQuiet)
        rob.connection = ConnectionID(rawValue: 9)
        rob.register()
        _ = try rob.response(200)
        let notified = try rob.request(.benotify).text
        #expect(notified.contains("back at four"), "\(notified)")
    }
}
