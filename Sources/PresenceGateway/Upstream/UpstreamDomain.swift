import FederationRouting
import SIPCore

/// A domain that is not hosted here, shared by its upstream subscriptions so that they hold no copy of the configuration.
final class UpstreamDomain {
    /// Name of the domain in lower case.
    let name: String
    let configuration: DomainConfiguration
    let hop: NextHop

    /// Users with next hops of their own have their own domain object.
    struct Key: Hashable {
        var name: String
        var hop: NextHop
    }
    private var partialDeclinedUntil: Instant?
    private var listsDeclinedUntil: Instant?
    private var remembered: (form: UpstreamFormat, until: Instant)?

    /// Time for which an accepted form is preferred, and refused partial documents or lists are not requested.
    static let memory = TimeSpan.seconds(3_600)

    init(name: String, configuration: DomainConfiguration, hop: NextHop) {
        self.name = name
        self.configuration = configuration
        self.hop = hop
    }

    var side: DomainSide { configuration.side }

    /// The configured form; by default batches inside the enterprise, otherwise single subscriptions.
    var configuredForm: UpstreamFormat {
        if side == .simple { return .pidf }
        return configuration.upstream ?? (configuration.network == .sameEnterprise ? .batch : .categories)
    }

    /// The form for new subscriptions: the one that was recently accepted after others were refused.
    func form(at now: Instant) -> UpstreamFormat {
        if let remembered, now < remembered.until { return remembered.form }
        return configuredForm
    }

    func remember(_ form: UpstreamFormat, at now: Instant) {
        remembered = form == configuredForm ? nil : (form, now + Self.memory)
    }

    func forgetForm() { remembered = nil }

    /// Whether differences are requested (RFC 5263); not for an hour after a refusal.
    func takesPartial(at now: Instant) -> Bool {
        side == .simple && configuration.partial && partialDeclinedUntil.map { now >= $0 } ?? true
    }

    func declinePartial(at now: Instant) { partialDeclinedUntil = now + Self.memory }

    /// Whether lists are tried; not for an hour after a failure.
    func takesLists(at now: Instant) -> Bool { listsDeclinedUntil.map { now >= $0 } ?? true }

    func declineLists(at now: Instant) { listsDeclinedUntil = now + Self.memory }

    /// Address of a presentity's subscription unless the remote domain redirects it.
    func origin(of presentity: SIPURI, at now: Instant) -> UpstreamTarget {
        guard form(at: now) == .batch else { return .presentity(presentity) }
        return UpstreamTarget(poolFqdn: configuration.poolFqdn) ?? .pool(SIPURI(host: name))
    }
}
