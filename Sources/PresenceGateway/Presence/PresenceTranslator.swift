import PresenceDocuments
import PresenceMapping
import SIPCore

/// Makes watchers' views from sources by way of the canonical model; the only place of the gateway that converts (DESIGN section 2).
struct PresenceTranslator {
    let mapper: PresenceMapper

    /// A source in a watcher's format.
    /// - Parameter requested: the categories that a category watcher asked for.
    func render(
        _ source: PresenceSource, as format: WatcherFormat, entity: SIPURI, requested: [CategoryName], at now: Instant
    ) -> RenderedPresence {
        let moment = DateTime(nanosecondsSince1970: now.nanosecondsSince1970)
        let uri = entity.description
        switch format {
        case .categories:
            if case .categories(let merge) = source { return .categories(merge) }
            guard source.isKnown else { return .categories(CategoryMerge()) }
            let document = mapper.categories(from: canonical(source, entity: uri), requested: requested, at: moment).value
            return .categories(CategoryMerge(document.categories))
        case .msrtc:
            if case .msrtc(let document) = source { return .document(document.encoded()) }
            return .document(mapper.msrtcPIDF(from: canonical(source, entity: uri)).value.encoded())
        case .pidf(let profile, let lossless):
            let document = mapper.pidf(from: canonical(source, entity: uri), profile: PIDFProfile(profile), lossless: lossless).value
            return .document(document.encode())
        case .xpidf:
            return .document(mapper.xpidf(from: canonical(source, entity: uri)).value.encode())
        }
    }

    /// A source in the canonical model; what is not known is shown as offline.
    func canonical(_ source: PresenceSource, entity: String) -> CanonicalPresence {
        var presence: CanonicalPresence
        switch source {
        case .unknown, .offline:
            presence = mapper.canonical(from: LegacyInteropDocument(availability: 18_500), entity: entity).value
        case .categories(let merge):
            presence = mapper.canonical(from: CategoriesDocument(uri: entity, categories: merge.all)).value
        case .pidf(let document):
            presence = mapper.canonical(from: document).value
        case .msrtc(let document):
            presence = mapper.canonical(from: document).value
        }
        presence.entity = entity
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
