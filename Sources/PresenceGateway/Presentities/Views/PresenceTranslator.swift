import PresenceDocuments
import PresenceMapping
import PresenceRules
import SIPCore
import UserDirectory

/// Renders sources in the formats of watchers through the canonical model; no other part of the gateway converts
/// (docs/decisions/rendering.md).
struct PresenceTranslator {
    let mapper: PresenceMapper
    /// Receives the table rows that decided and the losses; nil: not needed.
    private(set) var note: ((_ rows: [String], _ losses: [MappingLoss]) -> Void)?

    init(mapper: PresenceMapper) { self.mapper = mapper }

    /// The translator with another receiver of rows and losses.
    func noting(_ note: ((_ rows: [String], _ losses: [MappingLoss]) -> Void)?) -> PresenceTranslator {
        var translator = self
        translator.note = note
        return translator
    }

    /// Renders a source in a watcher's format.
    /// - Parameters:
    ///   - requested: the categories requested by a category watcher.
    ///   - user: the directory entry of the presentity, source of names in MSRTC documents (MS-PRES 3.7.5.5).
    func render(
        _ source: PresenceSource, as format: WatcherFormat, entity: SIPURI, requested: [CategoryName],
        of user: DirectoryUser? = nil, counters: inout GatewayCounters, at now: Instant
    ) -> RenderedPresence {
        let moment = DateTime(now)
        let uri = entity.description
        switch format {
        case .categories:
            if case .categories(let merge) = source { return .categories(CategoryView(uri: uri, merge)) }
            guard source.isKnown else { return .categories(CategoryView(uri: uri, CategoryMerge())) }
            // No publish time for an offline source, so that its bytes do not depend on the time (optional, MS-PRES 2.2.2.1).
            let published = source == .offline ? nil : moment
            let document = value(mapper.categories(from: canonical(source, entity: uri, at: moment), requested: requested, at: published))
            return .categories(CategoryView(uri: uri, CategoryMerge(document.categories)))
        case .msrtc:
            counters.bodiesEncoded += 1
            if case .msrtc(let document) = source { return .document(DocumentView(document.encoded())) }
            var document = value(mapper.msrtcPIDF(from: canonical(source, entity: uri, at: moment)))
            if let user {
                document.displayName = user.displayName
                document.email = user.email
                document.phoneNumber = user.phone.map { PresentityPhoneNumber($0) }
            }
            return .document(DocumentView(document.encoded()))
        case .pidf(let profile, let lossless):
            counters.bodiesEncoded += 1
            let document = value(
                mapper.pidf(from: canonical(source, entity: uri, at: moment), profile: PIDFProfile(profile), lossless: lossless))
            return .document(DocumentView(document.encode()))
        case .xpidf:
            counters.bodiesEncoded += 1
            return .document(DocumentView(value(mapper.xpidf(from: canonical(source, entity: uri, at: moment))).encode()))
        }
    }

    /// The part of a source that the presentity's rules grant (RFC 5025 3.3); permissions are for elements of PIDF, so that categories are
    /// converted. A presentity that never published has nothing to grant.
    func part(of source: PresenceSource, granted grants: PresenceGrants, entity: String, at now: Instant) -> PresenceSource {
        switch source {
        case .unknown, .offline: return source
        case .pidf(let document): return .pidf(grants.apply(to: document))
        case .categories, .msrtc:
            let document = value(mapper.pidf(from: canonical(source, entity: entity, at: DateTime(now)), profile: .rpid, lossless: false))
            return .pidf(grants.apply(to: document))
        }
    }

    private func value<Value>(_ result: MappingResult<Value>) -> Value {
        if let note, !result.rowIDs.isEmpty { note(result.rowIDs, result.losses) }
        return result.value
    }

    /// Converts a source to the canonical model; unknown is shown as offline.
    /// - Parameter moment: time for the validity of elements with `from` and `until` (RFC 4480 3.1, RFC 4481 2); nil: all are valid.
    func canonical(_ source: PresenceSource, entity: String, at moment: DateTime? = nil) -> CanonicalPresence {
        var presence: CanonicalPresence
        switch source {
        case .unknown, .offline:
            presence = value(mapper.canonical(from: LegacyInteropDocument(availability: 18_500), entity: entity))
        case .categories(let merge):
            presence = value(mapper.canonical(from: CategoriesDocument(uri: entity, categories: merge.all), at: moment))
        case .pidf(let document):
            presence = value(mapper.canonical(from: document, at: moment))
        case .msrtc(let document):
            presence = value(mapper.canonical(from: document))
        }
        presence.entity = entity
        // A watcher of the plain URI gets the document's entity; a watcher of another name of the user gets that name.
        if case .pidf(var document) = presence.residue, document.entity != entity,
            !entity.hasPrefix("sip:") || SIPURI(document.entity)?.aorKey != SIPURI(entity)?.aorKey
        {
            document.entity = entity
            presence.residue = .pidf(document)
        }
        return presence
    }
}

extension PIDFProfile {
    init(_ profile: DomainProfile) {
        switch profile {
        case .rpid: self = .rpid
        case .rpidDraft: self = .rpidDraft
        case .oma: self = .oma
        }
    }
}
