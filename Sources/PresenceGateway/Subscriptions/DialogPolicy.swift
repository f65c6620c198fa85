import FederationRouting
import SIPCore
import SIPEvents

/// Limits and notifier configurations of watcher dialogs.
final class DialogPolicy: ShardMember {
    let kernel: GatewayKernel
    let context: ShardContext
    /// The flow, which owns this part.
    private unowned let notifier: SubscriptionsFlow

    init(_ notifier: SubscriptionsFlow) {
        kernel = notifier.kernel
        context = notifier.context
        self.notifier = notifier
    }

    // MARK: limits

    /// Checks the limits of the dialogs, before one is added.
    func checkLimits(_ parties: RequestScreening.Parties) throws(Refusal) {
        if notifier.dialogs.count >= configuration.limits.subscriptions { throw tooMany("too many subscriptions on this node") }
        if notifier.dialogs.count(of: parties.watcherKey) >= configuration.limits.subscriptionsPerWatcher {
            throw tooMany("too many subscriptions of this watcher", of: parties.watcherDomain)
        }
    }

    /// The refusal at a full table: 413 if a limit of one user of an enterprise domain is reached (MS-PRES 3.4.5.1.3.1), otherwise 503.
    /// - Parameter domain: domain of the watcher; nil: the limit is one of the node.
    func tooMany(_ text: String, of domain: DomainConfiguration? = nil, errorID: UInt32 = 2012) -> Refusal {
        counters.limitsReached += 1
        let retryAfter = configuration.timing.retryAfter
        return domain?.side == .enterprise
            ? Refusal(.requestEntityTooLarge, text, errorID: errorID, headers: [Refusal.Header(.retryAfter, String(retryAfter))])
            : .unavailable(text, retryAfter: retryAfter, errorID: errorID)
    }

    // MARK: notifications

    /// Conditions and rates of notifications in a SUBSCRIBE to presence; nil for enterprise clients.
    func wishes(
        of request: SIPRequest, _ event: Event, _ subscription: any PackageSubscription, _ side: DomainSide
    ) throws(Refusal) -> NotificationWishes? {
        guard side == .simple, subscription is PresenceSubscription else { return nil }
        return try NotificationWishes(request.headers, event, spacing: configuration.timing.notifySpacing)
    }

    /// Whether notifications are BENOTIFY: only inside the enterprise, where the end of the connection shows that the watcher is gone
    /// (MS-SIP 3.5).
    func takesBenotify(_ request: SIPRequest, _ opened: OpenedSubscription, _ flow: Flow) -> Bool {
        let domain = opened.parties.watcherDomain
        return opened.subscription.allowsBestEffort && domain.side == .enterprise && (domain.hosted || domain.network == .sameEnterprise)
            && flow.local.transport.isReliable && request.headers.offers("ms-benotify")
    }

    /// How the notifier of a dialog behaves.
    func configuration(
        of package: any EventPackage, _ domain: DomainConfiguration, bestEffort: Bool
    ) -> Notifier.Configuration {
        let timing = configuration.timing
        let range = package.expires(domain, in: configuration)
        return Notifier.Configuration(
            expiry: ExpiryPolicy(minimum: range.minimum, standard: range.standard, maximum: range.maximum), bestEffort: bestEffort,
            grace: timing.firstNotifyGrace, fetchWait: timing.pollWait, retryPause: .seconds(timing.retryAfter),
            patience: timing.notifyPatience)
    }
}
