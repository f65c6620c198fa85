import FederationRouting
import SIPCore

/// A domain that is not hosted here, as its far legs see it: one object for all legs to it, so that a leg holds no copy of the
/// configuration.
final class UpstreamDomain {
    /// The domain's key: its name in lower case.
    let name: String
    let configuration: DomainConfiguration
    let hop: NextHop

    /// What makes two legs see the same domain: users with hops of their own are another one.
    struct Key: Hashable {
        var name: String
        var hop: NextHop
    }
    private var partialDeclinedUntil: Instant?
    private var listsDeclinedUntil: Instant?
    private var remembered: (form: UpstreamFormat, until: Instant)?

    /// How long a form that the far side was found to want is asked for first.
    static let memory = TimeSpan.seconds(3_600)

    init(name: String, configuration: DomainConfiguration, hop: NextHop) {
        self.name = name
        self.configuration = configuration
        self.hop = hop
    }

    var side: DomainSide { configuration.side }

    /// The form that the operator wants: by default batches where we are trusted inside, else single subscriptions.
    var configuredForm: UpstreamFormat {
        if side == .simple { return .pidf }
        return configuration.upstream ?? (configuration.network == .sameEnterprise ? .batch : .categories)
    }

    /// The form to ask for first: the one that was accepted lately after others were not.
    func form(at now: Instant) -> UpstreamFormat {
        if let remembered, now < remembered.until { return remembered.form }
        return configuredForm
    }

    func remember(_ form: UpstreamFormat, at now: Instant) {
        remembered = form == configuredForm ? nil : (form, now + Self.memory)
    }

    func forgetForm() { remembered = nil }

    /// Whether differences are asked for (RFC 5263); where they were not taken, not for a while.
    func takesPartial(at now: Instant) -> Bool {
        side == .simple && configuration.partial && partialDeclinedUntil.map { now >= $0 } ?? true
    }

    func declinePartial(at now: Instant) { partialDeclinedUntil = now + Self.memory }

    /// Whether lists are tried; where there was none, not for a while.
    func takesLists(at now: Instant) -> Bool { listsDeclinedUntil.map { now >= $0 } ?? true }

    func declineLists(at now: Instant) { listsDeclinedUntil = now + Self.memory }

    /// Where a presentity is asked for as long as the far side names no other place.
    func origin(of presentity: SIPURI, at now: Instant) -> UpstreamTarget {
        guard form(at: now) == .batch else { return .presentity(presentity) }
        return UpstreamTarget(poolFqdn: configuration.poolFqdn) ?? .pool(SIPURI(host: name))
    }
}

/// Which forms a far leg was refused in.
struct TriedForms: OptionSet {
    let rawValue: UInt8

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ form: UpstreamFormat) { rawValue = 1 << Self.place(form) }

    /// From what says most to what everybody speaks.
    private static let order: [UpstreamFormat] = [.batch, .categories, .msrtc, .pidf]

    private static func place(_ form: UpstreamFormat) -> UInt8 {
        switch form {
        case .batch: 0
        case .categories: 1
        case .msrtc: 2
        case .pidf: 3
        }
    }

    /// The next form to try: further down first, then one above that only a memory had left out; never above what is configured.
    func next(after form: UpstreamFormat, configured: UpstreamFormat) -> UpstreamFormat? {
        let allowed = Self.order.filter { Self.place($0) >= Self.place(configured) && !contains(TriedForms($0)) }
        return allowed.first { Self.place($0) > Self.place(form) } ?? allowed.first
    }
}
