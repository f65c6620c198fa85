import FederationRouting
import SIPCore
import SIPEvents
import Testing

@testable import PresenceGateway

/// A subscription with a state that is always known.
private final class PlainSubscription: PackageSubscription {
    let presentity = "carol@example.com"
    let contentType = "text/plain"
    var isForgotten = false

    func body(
        of dialog: WatcherDialog, naming named: [String]?, isFull: Bool, at now: Instant
    ) -> NotificationBody? { nil }

    func forgetNotified() { isForgotten = true }
}

/// The transitions of a notifier's dialog.
@Suite struct WatcherDialogTests {
    private let now = Instant(secondsSince1970: 1_700_000_000)
    private let subscription = PlainSubscription()
    private let flow = Flow(
        MessageSource(local: Bench.localTCP, remote: TransportAddress(.tcp, "192.0.2.40", 40_001), connection: .init(rawValue: 1)))

    private func dialog(bestEffort: Bool = true) throws -> WatcherDialog {
        let bench = Bench()
        let text = bench.subscribe("rob@fabrikam.com", to: "carol@example.com", via: TransportAddress(.tcp, "192.0.2.40", 40_001))
        guard case .success(.request(let request)) = SIPParser.parse(Array(text.utf8)) else { throw Bench.Unexpected() }
        let parties = try bench.gateway.screening.parties(request)
        let notifier = Notifier.Configuration(
            expiry: ExpiryPolicy(minimum: 60, standard: 3_600, maximum: 7_200), bestEffort: bestEffort)
        let watcher = WatcherDialog(
            dialog: try #require(Dialog(accepting: request, localTag: "a")), notifier: Notifier(notifier, isReady: true),
            event: try #require(request.headers.event), PresencePackage(bench.gateway.flows.presenceSubscriptions),
            OpenedSubscription(parties: parties, subscription: subscription),
            flow: flow, endpoint: nil, hidesIdentity: false, followsRegistration: false)
        watcher.begin(notifier)
        _ = watcher.notifier.receiveSubscribe(expires: 600, piggyback: true, at: now)
        return watcher
    }

    @Test(
        "after its connection closed a watcher is away, and only the time to return or the expiry is due")
    func leaves() throws {
        let dialog = try dialog()
        _ = dialog.notifier.stateChanged(at: now)
        dialog.disconnected()
        dialog.left(returnsBy: now + .seconds(30))
        #expect(dialog.delivery.reachability == .away(returnsBy: now + .seconds(30)) && dialog.isAway && dialog.isWaiting)
        #expect(dialog.flow.connection == nil)
        #expect(dialog.nextDeadline == now + .seconds(30))
        dialog.left(returnsBy: nil)
        #expect(dialog.delivery.returnsBy == nil && dialog.nextDeadline == now + .seconds(600))
    }

    @Test("a watcher that was away and is reached over another flow is reachable there")
    func returns() throws {
        let dialog = try dialog()
        dialog.left(returnsBy: now + .seconds(30))
        var other = flow
        other.connection = .init(rawValue: 2)
        dialog.reached(over: other)
        #expect(dialog.delivery.reachability == .reachable && !dialog.isWaiting && dialog.flow == other)
        #expect(dialog.nextDeadline == now + .seconds(600))
    }

    @Test("the end of a subscription does not wait for a watcher that is away")
    func ends() throws {
        let dialog = try dialog(bestEffort: false)
        dialog.left(returnsBy: now + .seconds(30))
        _ = dialog.notifier.terminate(.deactivated, at: now)
        #expect(dialog.isAway && !dialog.isWaiting)
    }

    @Test("a response that is no redirection ends the one that the NOTIFY followed, and keeps the reason of a refusal")
    func answers() throws {
        let dialog = try dialog()
        dialog.notified(.active(expires: 600), .full, inAnswer: false, at: now)
        #expect(dialog.wasNotifiedActive && dialog.history.last.count == 1)
        dialog.answered(.ok)
        dialog.settled(.ok)
        #expect(dialog.history.failureReason == nil && !subscription.isForgotten)
        dialog.answered(.serviceUnavailable)
        dialog.settled(.serviceUnavailable)
        #expect(dialog.history.failureReason == "answered 503" && subscription.isForgotten && dialog.history.last.answer == 503)
        dialog.notified(.pending(expires: 600), .none, inAnswer: false, at: now)
        #expect(!dialog.wasNotifiedActive)
    }

    @Test("a lost notification keeps its reason until the next response")
    func loses() throws {
        let dialog = try dialog()
        dialog.lost("no answer")
        #expect(dialog.history.failureReason == "no answer" && dialog.history.last.isLost && subscription.isForgotten)
    }

    @Test("RFC 3261 12.2 a SUBSCRIBE that was not committed leaves the dialog as it was before")
    func reverts() throws {
        let dialog = try dialog()
        dialog.beginStorage()
        let before = try #require(dialog.stored)
        let notifier = dialog.notifier
        _ = dialog.notifier.receiveSubscribe(expires: 0, piggyback: true, at: now + .seconds(10))
        dialog.notified(.active(expires: 0), .full, inAnswer: true, at: now + .seconds(10))
        dialog.reload(from: before, retryIn: .seconds(5), at: now + .seconds(10))
        #expect(!dialog.notifier.isOver && dialog.notifier.expiry == notifier.expiry && !dialog.wasNotifiedActive)
    }

    @Test("the timer of a dialog is set only when its deadline moves")
    func schedules() throws {
        let dialog = try dialog()
        #expect(dialog.schedule() && dialog.timerAt == now + .seconds(600))
        #expect(!dialog.schedule())
        dialog.fired()
        #expect(dialog.timerAt == nil && dialog.schedule())
    }
}
