import PresenceGateway
import SIPCore
import Testing

/// Self subscriptions (MS-PRES 3.3) and provisioning.
@Suite struct RoamingSelfTests {
    static let event = "vnd-microsoft-roaming-self"
    static let type = "application/vnd-microsoft-roaming-self+xml"
    let bench = Bench { $0.domains["fabrikam.com"]?.requiresRegistration = true }

    func endpoint(_ epid: String = "84d3db8c23", connection: UInt64 = 1) throws -> SignedInEndpoint {
        let endpoint = SignedInEndpoint(bench, "rob@fabrikam.com", epid: epid, connection: connection)
        endpoint.register()
        _ = try endpoint.response(200)
        return endpoint
    }

    static let everything = ["categories", "containers", "subscribers", "delegates"]
    static let colleague = "<container id=\"200\" version=\"0\"><member type=\"user\" value=\"sip:ulla@contoso.com\"/></container>"

    @Test(
        "MS-PRES 3.3.5.1: the 200 of a self SUBSCRIBE carries all parts of the scope in order, private categories included [R120, R121, R124, R125, R240, R241, R242]"
    )
    func accepted() throws {
        let rob = try endpoint()
        rob.publish(
            SignedInEndpoint.note("hello", expire: "static", container: 300)
                + "<publication categoryName=\"routing\" instance=\"0\" container=\"1\" version=\"0\" expireType=\"static\"/>")
        _ = try rob.response(200)
        rob.subscribeSelf(Self.everything)
        let answer = try rob.response(200)
        #expect(answer.headers.contentType?.essence == Self.type)
        #expect(answer.headers.event?.package == Self.event)
        #expect(answer.headers.hasToken(.require, "eventlist"))
        #expect(answer.headers.values(.supported) == ["ms-benotify", "ms-piggyback-first-notify"])
        #expect(answer.headers.msPiggybackCSeq == 1)
        let expires = try #require(answer.headers.expires)
        #expect(expires > 0 && answer.headers.first("subscription-state") == "active;expires=\(expires)")
        let parts = ["<categories", "<containers", "<subscribers", "<delegates"].map { answer.text.range(of: $0) }
        #expect(parts.allSatisfy { $0 != nil } && parts.compactMap { $0 } == parts.compactMap { $0 }.sorted())
        #expect(answer.text.contains("name=\"note\"") && answer.text.contains("name=\"routing\""))
        #expect(answer.text.contains("<container id=\"0\" version=\"0\"><member type=\"everyone\"/></container>"))
        #expect(rob.isQuiet && bench.gateway.counts.homeDialogs == 1)
    }

    @Test("MS-PRES 2.2.2.3.1: another type in Accept is 406, in Content-Type 415, and From that differs from To 400 [R120]")
    func request() throws {
        let rob = try endpoint()
        let body = SignedInEndpoint.roamingList(["categories"])
        rob.subscribe(Self.event, extra: SignedInEndpoint.home + "Accept: \(Self.type)\r\n", body: body)
        _ = try rob.response(200)
        rob.subscribe(Self.event, extra: SignedInEndpoint.home + "Accept: application/pidf+xml\r\n", body: body)
        _ = try rob.response(406)
        rob.subscribe(Self.event, type: "application/xml", body: body)
        #expect(try rob.response(415).headers.first(.accept) == Self.type)
        SignedInEndpoint(bench, "sue@fabrikam.com", connection: 3).register()
        rob.subscribe(Self.event, body: body, to: "sue@fabrikam.com")
        _ = try rob.response(400)
        #expect(bench.gateway.counts.homeDialogs == 1)
    }

    @Test("MS-PRES 3.3.5.1: parts outside the scope are absent [R124]", arguments: everything)
    func oneScope(scope: String) throws {
        let rob = try endpoint()
        rob.subscribeSelf([scope])
        let text = try rob.response(200).text
        for part in Self.everything { #expect(text.contains("<\(part)") == (part == scope)) }
    }

    @Test(
        "MS-PRES 3.3.5.2: every self dialog whose scope changes is told, that of the asking endpoint too, and only of the part that changed [R113, R132, R133, R134]"
    )
    func changes() throws {
        let desk = try endpoint()
        let phone = try endpoint("3b09add8bc", connection: 2)
        desk.subscribeSelf(Self.everything)
        _ = try desk.response(200)
        phone.subscribeSelf(["containers"])
        _ = try phone.response(200)
        desk.publish(SignedInEndpoint.note("one", expire: "static") + SignedInEndpoint.note("two", expire: "static", instance: 1))
        _ = try desk.response(200)
        let published = try desk.request(.benotify)
        #expect(published.headers.contentType?.essence == Self.type && published.headers.hasToken(.require, "eventlist"))
        #expect(published.headers.event?.package == Self.event && published.headers.cSeq?.method == .benotify)
        #expect(published.text.contains(">one<") && published.text.contains(">two<") && !published.text.contains("<containers"))
        #expect(phone.isQuiet)
        // The whole set of the pair, not only what was published.
        desk.publish(SignedInEndpoint.note("three", expire: "static", version: 1, instance: 1))
        _ = try desk.response(200)
        let again = try desk.request(.benotify)
        #expect(again.text.contains(">one<") && again.text.contains(">three<"))
        desk.setMembers(Self.colleague)
        #expect(try desk.response(200).body.isEmpty)
        for endpoint in [desk, phone] {
            let notified = try endpoint.request(.benotify)
            #expect(
                notified.text.contains("<container id=\"200\" version=\"1\"><member type=\"user\" value=\"ulla@contoso.com\"/></container>")
            )
            #expect(!notified.text.contains("<categories"))
        }
        phone.setMembers(
            Self.colleague.replacingOccurrences(of: "version=\"0\"", with: "version=\"1\"").replacingOccurrences(
                of: "type=", with: "action=\"remove\" type="))
        _ = try phone.response(200)
        #expect(try phone.request(.benotify).text.contains("<container id=\"200\" version=\"2\"/>"))
        #expect(try desk.request(.benotify).text.contains("<container id=\"200\" version=\"2\"/>"))
    }

    @Test("MS-PRES 3.3.5.1: a SUBSCRIBE in the dialog replaces the scope, and is answered with all of it [R122, R123]")
    func overwrite() throws {
        let rob = try endpoint()
        rob.publish(SignedInEndpoint.note("hello", expire: "static"))
        _ = try rob.response(200)
        rob.subscribeSelf(["categories"])
        let first = try rob.response(200)
        #expect(first.text.contains(">hello<"))
        rob.subscribeSelf(["containers"], in: first)
        let second = try rob.response(200)
        #expect(second.text.contains("<containers") && !second.text.contains("<categories"))
        rob.publish(SignedInEndpoint.note("bye", expire: "static", version: 1))
        _ = try rob.response(200)
        #expect(rob.isQuiet)
        rob.subscribeSelf(["categories"], in: first)
        #expect(try rob.response(200).text.contains(">bye<"))
        // A refresh without a body goes on with the scope, and is answered with all data again.
        rob.subscribe(Self.event, in: first)
        #expect(try rob.response(200).text.contains(">bye<"))
    }

    @Test("MS-PRES 3.3.5.1: a second self dialog of an endpoint ends the first with Expires 0, another endpoint's stays [R126]")
    func oneDialogPerEndpoint() throws {
        let desk = try endpoint()
        let phone = try endpoint("3b09add8bc", connection: 2)
        desk.subscribeSelf(["categories"])
        let first = try desk.response(200)
        phone.subscribeSelf(["categories"])
        _ = try phone.response(200)
        desk.subscribeSelf(["categories"])
        let second = try desk.response(200)
        #expect(first.headers.toTag != second.headers.toTag)
        let end = try desk.request(.benotify)
        #expect(end.headers.fromTag == first.headers.toTag && end.headers.expires == 0)
        #expect(end.headers.subscriptionState?.state == .terminated)
        #expect(bench.gateway.counts.homeDialogs == 2 && phone.isQuiet)
        desk.subscribeSelf(["categories"], in: first)
        _ = try desk.response(481)
    }

    @Test("MS-PRES 3.3.5.1: a poll is answered with the data and leaves nothing [R127]")
    func poll() throws {
        let rob = try endpoint()
        rob.subscribeSelf(["categories"], expires: 0)
        let answer = try rob.response(200)
        #expect(answer.text.contains("<categories") && answer.headers.expires == 0)
        #expect(answer.headers.first("subscription-state") == "terminated;expires=0")
        #expect(bench.gateway.counts.homeDialogs == 0)
    }

    @Test("MS-PRES 4.4.4: Expires 0 in the dialog without a body ends it [R135]")
    func unsubscribe() throws {
        let rob = try endpoint()
        rob.subscribeSelf(["categories"])
        let dialog = try rob.response(200)
        rob.subscribe(Self.event, expires: 0, in: dialog)
        let answer = try rob.response(200)
        #expect(answer.headers.expires == 0 && answer.body.isEmpty && bench.gateway.counts.homeDialogs == 0)
        rob.publish(SignedInEndpoint.note("hello", expire: "static"))
        _ = try rob.response(200)
        #expect(rob.isQuiet)
    }

    @Test("MS-PRES 3.3.5.3: a self SUBSCRIBE without a body, or with one that is no roamingList, is 400 [R128]")
    func badBodies() throws {
        let rob = try endpoint()
        rob.subscribe(Self.event)
        #expect(try rob.response(400).headers.contains(.msDiagnostics))
        for body in [
            "<roamingList", "<roamingData xmlns=\"http://schemas.microsoft.com/2006/09/sip/roaming-self\"/>", Self.nothing,
            SignedInEndpoint.roamingList(["weather"]),
        ] {
            rob.subscribe(Self.event, body: body)
            _ = try rob.response(400)
        }
        rob.subscribe(Self.event, type: "text/plain", body: SignedInEndpoint.roamingList(["categories"]))
        _ = try rob.response(415)
        rob.subscribeSelf(["categories"], extra: SignedInEndpoint.home + "Accept: text/plain\r\n")
        _ = try rob.response(406)
        #expect(bench.gateway.counts.homeDialogs == 0)
    }

    static let nothing = SignedInEndpoint.roamingList([])

    @Test("MS-PRES 3.3.5.3: somebody else's data are 400, those of somebody who is no user here 404 [R129]")
    func somebodyElse() throws {
        let rob = try endpoint()
        rob.subscribeSelf(["categories"], to: "sue@fabrikam.com")
        _ = try rob.response(400)
        rob.subscribeSelf(["categories"], to: "ulla@contoso.com")
        _ = try rob.response(404)
        #expect(bench.gateway.counts.homeDialogs == 0)
    }

    @Test("MS-SIP 3.5: without ms-benotify notifications are NOTIFYs, and without piggyback the first is one of them [R243]")
    func plain() throws {
        let rob = try endpoint()
        rob.subscribeSelf(["categories"], extra: "")
        let answer = try rob.response(200)
        #expect(!answer.headers.contains(.supported) && answer.body.isEmpty && !answer.headers.contains(.msPiggybackCSeq))
        let first = try rob.request(.notify)
        #expect(first.headers.contentType?.essence == Self.type)
        bench.answer(first, 200, from: rob.place)
        rob.publish(SignedInEndpoint.note("a", expire: "static"))
        _ = try rob.response(200)
        let second = try rob.request(.notify)
        rob.publish(SignedInEndpoint.note("b", expire: "static", instance: 1))
        _ = try rob.response(200)
        rob.setMembers(Self.colleague)
        _ = try rob.response(200)
        // What happens before the answer is told at once afterwards.
        #expect(rob.isQuiet)
        bench.answer(second, 200, from: rob.place)
        #expect(try rob.request(.notify).text.contains(">b<"))
    }

    @Test(
        "com.microsoft.autoextend: the dialog lives as long as the registration, and is told over the registration's connection [R136, R244]"
    )
    func followsRegistration() throws {
        let rob = try endpoint()
        rob.subscribeSelf(["categories"], expires: 600, gruu: "<sip:rob@fabrikam.com;opaque=user:epid:fvceImg6cFWG7W6lvUt_-AAA;gruu>")
        _ = try rob.response(200)
        bench.pass(.seconds(500))
        rob.closeConnection()
        rob.connection = ConnectionID(rawValue: 8)
        rob.publish(SignedInEndpoint.note("while away", expire: "static"))
        _ = try rob.response(200)
        #expect(rob.isQuiet)
        rob.register()
        _ = try rob.response(200)
        let notified = try rob.request(.benotify)
        #expect(notified.text.contains(">while away<") && notified.requestURI == "sip:192.0.2.40:40001;transport=tcp")
        bench.pass(.seconds(7_000))
        #expect(bench.gateway.counts.homeDialogs == 1)
        rob.register(expires: 0)
        _ = try rob.response(200)
        #expect(bench.gateway.counts.homeDialogs == 0 && rob.isQuiet)
    }

    @Test("a client that starts anew at the same endpoint hears nothing of the dialogs of the one before")
    func newClient() throws {
        let rob = try endpoint()
        rob.subscribeSelf(["categories"])
        _ = try rob.response(200)
        rob.closeConnection()
        rob.connection = ConnectionID(rawValue: 8)
        rob.register(callID: "after-the-crash")
        _ = try rob.response(200)
        #expect(bench.gateway.counts.homeDialogs == 0)
        rob.subscribeSelf(["categories"])
        _ = try rob.response(200)
        #expect(rob.isQuiet && bench.gateway.counts.homeDialogs == 1)
    }

    @Test("MS-PRES 3.2.6.1, 3.2.5.5: what expires or ends with another endpoint is told to self dialogs [R053, R057, R055]")
    func removals() throws {
        let desk = try endpoint()
        let phone = try endpoint("3b09add8bc", connection: 2)
        phone.publish(
            SignedInEndpoint.note("short", expire: "time\" expires=\"90")
                + SignedInEndpoint.note("phone", expire: "endpoint", container: 100))
        _ = try phone.response(200)
        desk.subscribeSelf(["categories"])
        _ = try desk.response(200)
        bench.pass(.seconds(90))
        #expect(try desk.request(.benotify).text.contains("<category name=\"note\" container=\"0\"/>"))
        phone.register(expires: 0)
        _ = try phone.response(200)
        #expect(try desk.request(.benotify).text.contains("<category name=\"note\" container=\"100\"/>"))
    }

    @Test("provisioning-v2: a poll is answered with the groups that it names, a dialog gets them in the 200")
    func provisioning() throws {
        let rob = try endpoint()
        let event = "vnd-microsoft-provisioning-v2"
        let type = "application/vnd-microsoft-roaming-provisioning-v2+xml"
        let body =
            "<provisioningGroupList xmlns=\"http://schemas.microsoft.com/2006/09/sip/provisioninggrouplist\">"
            + "<provisioningGroup name=\"ServerConfiguration\"/> <provisioningGroup name=\"ucPolicy\"/></provisioningGroupList>"
        rob.subscribe(event, expires: 0, type: type, body: body)
        let answer = try rob.response(200)
        #expect(answer.headers.contentType?.essence == type && answer.headers.expires == 0)
        #expect(
            answer.text
                == "<provisionGroupList xmlns=\"http://schemas.microsoft.com/2006/09/sip/provisiongrouplist-notification\">"
                + "<provisionGroup name=\"ServerConfiguration\"/><provisionGroup name=\"ucPolicy\"/></provisionGroupList>")
        #expect(bench.gateway.counts.homeDialogs == 0)
        rob.subscribe(event, type: type, body: body)
        #expect(try rob.response(200).text.contains("ucPolicy"))
        #expect(bench.gateway.counts.homeDialogs == 1)
        for bad in [
            "", "<nonsense/>",
            "<provisioningGroupList xmlns=\"http://schemas.microsoft.com/2006/09/sip/provisioninggrouplist\"><provisioningGroup/></provisioningGroupList>",
        ] {
            rob.subscribe(event, expires: 0, type: bad.isEmpty ? "" : type, body: bad)
            _ = try rob.response(400)
        }
    }
}

extension String {
    /// Where the text first occurs, in characters.
    fileprivate func range(of text: String) -> Int? {
        let parts = split(separator: text, maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count > 1 ? parts[0].count : nil
    }
}
