import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// Publication batches and CSeq numbers as deployed enterprise clients write and expect them.
@Suite struct ClientPublicationTests {
    static func endpoint(_ bench: Bench) throws -> SignedInEndpoint {
        let endpoint = SignedInEndpoint(bench, "rob@fabrikam.com", connection: 1)
        endpoint.register()
        _ = try endpoint.response(200)
        return endpoint
    }

    static func options(_ name: String, in container: Int) -> String {
        "<publication categoryName=\"\(name)\" instance=\"0\" container=\"\(container)\" version=\"0\" expireType=\"static\">"
            + "<\(name) xmlns=\"http://schemas.microsoft.com/2006/09/sip/options/\(name)\"/></publication>"
    }

    @Test("MS-PRES 3.2.5.4 a batch with the options, alerts and note history of deployed clients is taken whole")
    func deployedNames() throws {
        let rob = try Self.endpoint(Bench())
        let own = ["alerts", "otherOptions", "rccOptions", "userInformation"].map { Self.options($0, in: 1) }
        let history = [200, 300, 400].map { Self.options("noteHistory", in: $0) }
        rob.publish((own + history).joined() + SignedInEndpoint.note("hello", expire: "static", container: 300))
        let answer = try rob.response(200)
        for name in ["alerts", "otherOptions", "rccOptions", "userInformation", "noteHistory", "note"] {
            #expect(answer.text.contains("name=\"\(name)\""), "\(name)")
        }
    }

    @Test("MS-PRES 3.2.5.4 a name that the domain registers is taken, any other refuses the batch, and a reload changes it")
    func configuredNames() throws {
        let bench = Bench { $0.domains["fabrikam.com"]?.categories = ["shiftPlan"] }
        let rob = try Self.endpoint(bench)
        rob.publish(Self.options("shiftPlan", in: 1))
        _ = try rob.response(200)
        rob.publish(Self.options("parkingLot", in: 1))
        _ = try rob.response(403)
        bench.reconfigure { $0.domains["fabrikam.com"]?.categories = ["parkingLot"] }
        rob.publish(Self.options("parkingLot", in: 1))
        _ = try rob.response(200)
    }

    @Test("MS-SIP 3.4.5.1 a piggybacking 200 takes the next number of the notifier's CSeq sequence, refreshes included [R242]")
    func piggybackNumbers() throws {
        let rob = try Self.endpoint(Bench())
        rob.subscribeSelf(["categories"])
        let accepted = try rob.response(200)
        #expect(accepted.headers.msPiggybackCSeq == 1)
        rob.publish(SignedInEndpoint.note("one", expire: "static"))
        _ = try rob.response(200)
        #expect(try rob.request(.benotify).headers.cSeq?.number == 2)
        rob.subscribeSelf(["categories"], in: accepted)
        #expect(try rob.response(200).headers.msPiggybackCSeq == 3)
        rob.publish(SignedInEndpoint.note("two", expire: "static", version: 1))
        _ = try rob.response(200)
        #expect(try rob.request(.benotify).headers.cSeq?.number == 4)
    }
}
