import FederationRouting

/// Form in which an upstream subscription asks, and the forms that the remote domain refused.
///
///     wanted --refused--> the next form --refused--> ... --> none is left: the refusal is final
///                             \--accepted--> remembered for the domain
///     PIDF with differences --refused, or they do not fit--> PIDF without (RFC 5263 4.4)
struct UpstreamForm: Equatable {
    /// Never `batch`, which is a shape.
    private(set) var format: UpstreamFormat
    /// Forms that the remote domain refused, and the present one.
    private(set) var tried: TriedForms
    /// Whether the present form follows a refusal of another.
    private(set) var isFallback = false
    /// Whether differences are requested (RFC 5263).
    private(set) var offersPartial: Bool

    /// - Parameters:
    ///   - wanted: form that the domain is asked in; with `batch`, batches count as tried.
    init(_ format: UpstreamFormat, isBatch: Bool, wanted: UpstreamFormat, offersPartial: Bool) {
        self.format = format
        self.offersPartial = offersPartial
        tried = isBatch ? TriedForms(.batch) : TriedForms(format)
        if wanted == .batch { tried.insert(TriedForms(.batch)) }
    }

    /// The next form after a refusal; nil: none is left.
    /// - Parameter configured: the domain's form; none before it is tried.
    mutating func next(after status: Int, isBatch: Bool, configured: UpstreamFormat) -> UpstreamFormat? {
        var present = isBatch ? UpstreamFormat.batch : format
        // A batch refused for its document type would be refused as categories too; after other refusals single subscriptions may work.
        if present == .batch, [406, 415, 489].contains(status) {
            tried.insert(TriedForms(.categories))
            present = .categories
        }
        guard let next = tried.next(after: present, configured: configured) else { return nil }
        tried.insert(TriedForms(next))
        return next
    }

    /// Asks in another form.
    mutating func fallBack(to next: UpstreamFormat) {
        format = next
        isFallback = true
    }

    /// Takes over the refused forms of the subscription that had its presentities before.
    mutating func inherit(_ other: UpstreamForm, isFallback: Bool) {
        tried.formUnion(other.tried)
        self.isFallback = isFallback
    }

    /// Notes that the remote domain accepted the form.
    /// - Returns: the form to remember for the domain; nil: it follows no refusal.
    mutating func accepted() -> UpstreamFormat? {
        defer { isFallback = false }
        return isFallback ? format : nil
    }

    /// Requests no differences any more.
    mutating func declinePartial() { offersPartial = false }
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
