import FederationRouting
import SIPCore
import Testing

@testable import PresenceGateway

/// The kept route of a dialog's notifications is not used after a change of anything that it depends on.
@Suite struct NotificationRouteTests {
    private let peer = TransportAddress(.tcp, "192.0.2.20", 40_001)
    private let connection = ConnectionID(rawValue: 7)
    private let alice = "alice@example.com"

    /// A watcher over a connection, which was notified of the first state.
    private func watched(
        _ bench: Bench, _ watcher: String = "ann@example.org", extra: String = ""
    ) throws -> (subscribe: SIPRequest, accepted: SIPResponse, notify: SIPRequest) {
        let text = bench.subscribe(watcher, to: alice, extra: extra, via: peer)
        bench.send(text, from: peer, connection: connection)
        var accepted: SIPResponse?
        var notify: SIPRequest?
        while !bench.isQuiet(at: peer) {
            switch try bench.next(at: peer) {
            case .response(let response): accepted = response
            case .request(let request): notify = request
            }
        }
        let first = try #require(notify)
        bench.answer(first, 200, from: peer)
        guard case .success(.request(let subscribe)) = SIPParser.parse(Array(text.utf8)) else { throw Bench.Unexpected() }
        return (subscribe, try #require(accepted), first)
    }

    /// A change of the presentity, and its notification, which is answered.
    private func change(_ bench: Bench, _ activity: String, at place: TransportAddress) throws -> SIPRequest {
        bench.pass(.seconds(10))
        bench.sendPublish(alice, Bench.pidf(alice, activity: activity))
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        let notify = try bench.nextRequest(.notify, at: place)
        bench.answer(notify, 200, from: place)
        return notify
    }

    private func route(_ bench: Bench) -> NotificationRoute? {
        bench.gateway.flows.subscriptions.dialogs.values.first?.delivery.route
    }

    @Test("notifications of a dialog use one route, which its connection's other dialogs share")
    func kept() throws {
        let bench = Bench()
        let first = try watched(bench).notify
        let kept = try #require(route(bench))
        let second = try change(bench, "away", at: peer)
        #expect(route(bench) === kept)
        #expect(second.requestURI == first.requestURI && second.headers.first(.contact) == first.headers.first(.contact))
        _ = try watched(bench, "ben@example.org")
        let routes = bench.gateway.flows.subscriptions.dialogs.values.compactMap(\.delivery.route)
        #expect(routes.count == 2 && routes.allSatisfy { $0 === kept })
        bench.gateway.receive(.closed(connection), at: bench.now)
        #expect(bench.gateway.flows.subscriptions.shareRoute(kept, over: connection) === kept)
    }

    @Test("RFC 3261 12.2.2: after a SUBSCRIBE with another Contact, notifications are sent to that one")
    func refreshed() throws {
        let bench = Bench()
        let (subscribe, accepted, _) = try watched(bench)
        let other = TransportAddress(.tcp, "192.0.2.21", 5_070)
        var refresh = subscribe
        refresh.headers.topVia?.branch = "z9hG4bKrefresh"
        refresh.headers.set(.to, try #require(accepted.headers.first(.to)))
        refresh.headers.cSeq = CSeq(2, .subscribe)
        refresh.headers.set(.contact, "<sip:\(other.host):\(other.port)>")
        bench.send(.request(refresh), from: peer, connection: connection)
        bench.clear()
        // The state of the refresh, not answered yet, is repeated with the new one.
        let dialog = try #require(bench.gateway.flows.subscriptions.dialogs.values.first)
        #expect(dialog.dialog.remoteTarget.host == other.host)
        guard case .direct(.connection(connection, let fallback), .tcp, _)? = route(bench)?.requestRoute else {
            Issue.record("no route over the connection")
            return
        }
        #expect(fallback == other)
    }

    @Test("RFC 3325 9.1: after the configuration asserts identities to a domain, its watchers' notifications have one")
    func reconfigured() throws {
        let bench = Bench()
        let first = try watched(bench).notify
        #expect(!first.headers.contains(.pAssertedIdentity))
        let kept = try #require(route(bench))
        bench.reconfigure { $0.domains["example.org"]?.federation.trust.asserts = true }
        let second = try change(bench, "away", at: peer)
        #expect(second.headers.first(.pAssertedIdentity) == "<sip:\(alice)>")
        #expect(route(bench) !== kept)
        bench.reconfigure { $0.domains["example.org"]?.federation.trust.asserts = false }
        #expect(try !change(bench, "meeting", at: peer).headers.contains(.pAssertedIdentity))
    }

    @Test("MS-SIPRE 2.2.3: a remote target that is a GRUU is looked for in the registrations at each notification")
    func gruu() throws {
        let bench = Bench()
        _ = try watched(bench)
        #expect(try #require(route(bench)).mayBeGRUU == false)
        let dialog = try #require(bench.gateway.flows.subscriptions.dialogs.values.first)
        for uri in ["sip:a@example.org;gr=urn:uuid:1", "sip:a@example.org;opaque=user:epid:x;GRUU"] {
            dialog.disconnected()
            #expect(bench.gateway.flows.subscriptions.route(of: dialog, toward: uri).mayBeGRUU)
        }
    }

    @Test("a dialog without a connection, and one whose next hop is located by name, keep no route")
    func notKept() throws {
        let bench = Bench()
        bench.send(bench.subscribe("ann@example.org", to: alice, via: Bench.simple), from: Bench.simple)
        #expect(bench.gateway.flows.subscriptions.dialogs.count == 1 && route(bench) == nil)
        let named = Bench { $0.domains["example.org"] = DomainConfiguration(side: .simple, network: .federated) }
        #expect(named.gateway.flows.border.isLasting(nil))
        #expect(
            !named.gateway.flows.border.isLasting(.located(HopTarget("example.org", .standard(transport: nil, port: nil), isSecure: false)))
        )
    }

    @Test("the route ends with the connection, with another flow, and with a request of the watcher")
    func dropped() throws {
        let bench = Bench()
        let (subscribe, _, _) = try watched(bench)
        let dialog = try #require(bench.gateway.flows.subscriptions.dialogs.values.first)
        let kept = try #require(dialog.delivery.route)
        dialog.disconnected()
        #expect(dialog.delivery.route == nil)
        dialog.keep(kept)
        dialog.reached(over: dialog.flow)
        #expect(dialog.delivery.route == nil)
        dialog.keep(kept)
        _ = dialog.receive(subscribe)
        #expect(dialog.delivery.route == nil)
    }
}
