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

/// Forms in which an upstream subscription was refused.
struct TriedForms: OptionSet {
    let rawValue: UInt8

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ form: UpstreamFormat) { rawValue = 1 << Self.place(form) }

    /// From the form with the most content to the most common one.
    private static let order: [UpstreamFormat] = [.batch, .categories, .msrtc, .pidf]

    private static func place(_ form: UpstreamFormat) -> UInt8 {
        switch form {
        case .batch: 0
        case .categories: 1
        case .msrtc: 2
        case .pidf: 3
        }
    }

    /// Returns the next form to try: first the following ones, then an earlier one that was left out; never one before the configured
    /// form.
    func next(after form: UpstreamFormat, configured: UpstreamFormat) -> UpstreamFormat? {
        let allowed = Self.order.filter { Self.place($0) >= Self.place(configured) && !contains(TriedForms($0)) }
        return allowed.first { Self.place($0) > Self.place(form) } ?? allowed.first
    }
}
