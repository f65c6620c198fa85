import FederationRouting
import SIPCore
import Testing

@testable import PresenceGateway

/// Rights that are taken back while subscriptions live (SIGHUP, or a restart under another configuration).
@Suite struct WithdrawnRightsTests {
    private static func deny(_ text: String) -> (inout GatewayConfiguration) -> Void {
        {
            let users = PartyPattern(text).map { [$0] } ?? []
            $0.domains["contoso.com"]?.federation.trust.rights = FederationRights(deny: .init(users: users))
        }
    }

    /// A subscription of ulla@contoso.com that the remote domain has answered and filled; the upstream subscription's SUBSCRIBE.
    private func watch(_ bench: Bench, _ watcher: String = "ulla") throws -> (accepted: SIPResponse, far: SIPRequest) {
        bench.send(bench.subscribe("\(watcher)@contoso.com", to: "alice@example.org", via: Bench.enterprise), from: Bench.enterprise)
        let accepted = try bench.nextResponse(200, at: Bench.enterprise)
        let far = try bench.nextRequest(.subscribe, at: Bench.simple)
        bench.answer(far, 200, from: Bench.simple, headers: [(.expires, "3600")])
        bench.notify(
            far, "active;expires=3600", cSeq: 1, type: "application/pidf+xml", body: Bench.pidf("alice@example.org"), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        _ = try bench.takeNotifies()
        return (accepted, far)
    }

    @Test("RFC 6665 4.1.3: a subscription that a reload no longer permits ends as rejected, its far leg with it, others go on")
    func single() throws {
        let bench = Bench()
        let (accepted, far) = try watch(bench)
        let other = try watch(bench, "otto")
        bench.reconfigure(nil, Self.deny("ulla@contoso.com"))
        let last = try bench.takeNotifies()
        #expect(last.map(\.headers.callID) == [accepted.headers.callID])
        #expect(last.first?.headers.subscriptionState?.state == .terminated)
        #expect(last.first?.headers.subscriptionState?.reason?.rawValue == "rejected")
        #expect(last.first?.body.isEmpty == true, "no presence goes with it")
        let terminationDiagnostic = try bench.nextRequest(.subscribe, at: Bench.simple)
        #expect(terminationDiagnostic.headers.callID == far.headers.callID && terminationDiagnostic.headers.expires == 0)
        #expect(bench.gateway.counts.watcherDialogs == 1 && bench.gateway.counters.rightsRefused == 1)
        let entries = bench.gateway.journal(ofCallID: accepted.headers.callID ?? "")
        #expect(entries.contains { $0.rule.contains("deny.users") })
        bench.clear()
        bench.notify(
            other.far, "active", cSeq: 2, type: "application/pidf+xml", body: Bench.pidf("alice@example.org", basic: "closed"),
            from: Bench.simple)
        bench.pass(.seconds(6))
        #expect(try bench.takeNotifies().map(\.headers.callID) == [other.accepted.headers.callID])
    }

    @Test("MS-PRES 3.4.5.1.3.1: of a batch only the presentity is terminated that may not be watched any more") func batch() throws {
        let bench = Bench()
        bench.send(
            bench.batch("ulla@contoso.com", .subscribe("rob@fabrikam.com", "alice@example.org", "anna@example.org")), from: Bench.enterprise
        )
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(bench.gateway.counts.upstreamSubscriptions == 2)
        bench.clear()
        bench.reconfigure {
            $0.domains["contoso.com"]?.federation.trust.rights = FederationRights(
                deny: .init(to: [PartyPattern("alice@example.org"), PartyPattern("rob@fabrikam.com")].compactMap(\.self)))
        }
        bench.pass(.seconds(6))
        let notified = try bench.takeNotifies().map { try BatchAnswer($0).instanceStates }
        #expect(
            notified.flatMap { $0 }.filter { $0.contains("terminated") }.sorted().prefix(2) == [
                "sip:alice@example.org: terminated", "sip:rob@fabrikam.com: terminated",
            ])
        let watcher = try #require(bench.gateway.flows.subscriptions.dialogs.values.first)
        #expect(watcher.resources.map(\.key) == ["sip:anna@example.org"])
        #expect(watcher.rejected.map(\.statusCode) == [403, 403])
        #expect(bench.gateway.tableSizes["watchedByPartners"] == 1)
        bench.reconfigure(nil, Self.deny("*.contoso.com"))
        #expect(bench.gateway.counts.watcherDialogs == 1, "those below it are not the domain itself")
        bench.reconfigure(nil, Self.deny("contoso.com"))
        #expect(try bench.takeNotifies().last?.headers.subscriptionState?.reason?.rawValue == "rejected")
        #expect(bench.gateway.counts.watcherDialogs == 0)
    }

    @Test(
        "a domain that is refused from now on is told so in every dialog, and nothing is asked of it any more",
        arguments: ["contoso.com", "example.org"]) func refusedDomain(_ name: String) throws
    {
        let bench = Bench()
        _ = try watch(bench)
        bench.reconfigure { $0.domains[name] = .refused(403) }
        let last = try bench.takeNotifies()
        #expect(last.map(\.headers.subscriptionState?.reason?.rawValue) == ["rejected"])
        let terminationDiagnostic = try bench.nextRequest(.subscribe, at: Bench.simple)
        #expect(terminationDiagnostic.headers.expires == 0)
        bench.answer(terminationDiagnostic, 200, from: Bench.simple)
        bench.pass(.seconds(40))
        #expect(bench.gateway.counts.watcherDialogs == 0 && bench.gateway.counts.upstreamSubscriptions == 0)
    }

    @Test("a poll that waits for the far side is 403 when the right is taken back meanwhile") func poll() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org", expires: 0), from: Bench.enterprise)
        #expect(bench.isQuiet(at: Bench.enterprise))
        bench.reconfigure(nil, Self.deny("*"))
        #expect(try bench.nextResponse(403, at: Bench.enterprise).headers.msDiagnostics?.errorID == 2004)
        #expect(bench.gateway.counts.watcherDialogs == 0)
    }

    @Test("what a restart brings back is held to the configuration of the new process") func restart() throws {
        let bench = Bench(store: MemoryStore())
        let (accepted, _) = try watch(bench)
        try bench.restart(after: .seconds(1), Self.deny("ulla@contoso.com"))
        let last = try bench.takeNotifies()
        #expect(last.map(\.headers.callID) == [accepted.headers.callID])
        #expect(last.first?.headers.subscriptionState?.reason?.rawValue == "rejected" && last.first?.body.isEmpty == true)
        bench.pass(.seconds(1))
        #expect(try bench.nextRequest(.subscribe, at: Bench.simple).headers.expires == 0)
    }
}
