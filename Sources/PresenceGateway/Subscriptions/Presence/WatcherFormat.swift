import FederationRouting
import PresenceDocuments
import SIPCore

/// The presence format that a watcher negotiated (MS-PRES 1.3.3, RFC 3856 6.7), kept for the lifetime of its dialog.
enum WatcherFormat: Hashable {
    /// Category documents (MS-PRES 2.2.2.4).
    case categories
    /// A msrtc.pidf document (MS-PRES 2.2.2.9).
    case msrtc
    case pidf(DomainProfile, lossless: Bool)
    case xpidf

    var contentType: String {
        switch self {
        case .categories: Self.categoriesType
        case .msrtc: Self.msrtcType
        case .pidf: Self.pidfType
        case .xpidf: Self.xpidfType
        }
    }

    /// Whether a standard list subscription may use the format (RFC 4662).
    var isListable: Bool {
        switch self {
        case .pidf, .xpidf: true
        case .categories, .msrtc: false
        }
    }

    static let categoriesType = "application/msrtc-event-categories+xml"
    static let msrtcType = "text/xml+msrtc.pidf"
    static let pidfType = "application/pidf+xml"
    static let xpidfType = "application/xpidf+xml"
    static let pidfDiffType = DocumentMediaType.pidfDiff.description
    static let rlmiType = "application/rlmi+xml"
    static let relatedType = "multipart/related"
    static let batchSubscribeType = "application/msrtc-adrl-categorylist+xml"
    static let roamingSelfType = "application/vnd-microsoft-roaming-self+xml"
    static let filterType = DocumentMediaType.simpleFilter.description
    static let faultType = "application/msrtc-fault+xml"

    /// The format of a stored dialog with the present settings of its domain; nil: unknown type.
    init?(contentType: String, domain: DomainConfiguration) {
        let formats: [WatcherFormat] = [.categories, .msrtc, .pidf(domain.profile, lossless: domain.lossless), .xpidf]
        guard let format = formats.first(where: { $0.contentType == contentType }) else { return nil }
        self = format
    }

    /// Returns the preferred format among those in Accept; q values other than 0 are ignored (MS-PRES 1.3.3). nil: none can be produced
    /// (406).
    static func negotiate(_ headers: SIPHeaders, domain: DomainConfiguration) -> WatcherFormat? {
        let pidf = WatcherFormat.pidf(domain.profile, lossless: domain.lossless)
        guard headers.contains(.accept) else { return pidf }
        let accepted = headers.accept
        let order: [WatcherFormat] =
            domain.side == .enterprise ? [.categories, .msrtc, pidf, .xpidf] : [pidf, .xpidf, .msrtc, .categories]
        for view in order where accepted.contains(where: { $0.hasEssence(view.contentType) && $0.quality > 0 }) { return view }
        // Differences imply PIDF.
        if accepted.contains(where: { $0.hasEssence(pidfDiffType) && $0.quality > 0 }) { return pidf }
        // A wildcard covers PIDF, the mandatory format of the package (RFC 3856 6.7).
        if let type = MediaType(pidfType), accepted.contains(where: { $0.quality > 0 && $0.accepts(type) }) { return pidf }
        return nil
    }

    /// Whether the body of a SUBSCRIBE is a filter document (RFC 4660).
    static func hasFilters(_ request: SIPRequest) -> Bool {
        !request.body.isEmpty && request.headers.contentType?.essence == filterType
    }

    /// Whether to send PIDF as differences: Accept lists them, with at least the quality of PIDF (RFC 5263 4.1, 4.4).
    func isPartial(_ headers: SIPHeaders) -> Bool {
        guard case .pidf = self else { return false }
        let accepted = headers.accept
        func quality(_ type: String) -> Int { accepted.first { $0.hasEssence(type) }?.quality ?? 0 }
        let partial = quality(Self.pidfDiffType)
        return partial > 0 && partial >= quality(Self.pidfType)
    }
}
