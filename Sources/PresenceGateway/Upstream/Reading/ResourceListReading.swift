import PresenceDocuments
import SIPCore
import SIPEvents
import XMLCore

extension UpstreamContent {
    /// Reads a notification of a standard resource list (RFC 4662 5).
    /// - Parameters:
    ///   - state: state of the list; updated.
    ///   - isKept: whether the remote domain stores the list, so that presentities outside it can still be watched separately.
    /// - Throws: 400 if the list itself cannot be read; an unreadable part is skipped.
    init(
        list body: [UInt8], contentType: MediaType, state: inout ResourceListState, isKept: Bool, presentities: [String], parser: XMLParser,
        limit: Int
    ) throws(Refusal) {
        self.init(asked: presentities)
        let notification = try ResourceListNotification(
            body, contentType: contentType, parser: parser, limits: .init(resources: limit), reader: &reader)
        let outcome = state.receive(notification, limit: limit)
        hasList = true
        isDifference = !outcome.isFull && !outcome.isOutdated
        needsFullState = outcome.needsFullState
        isOverfull = outcome.isOverfull
        for update in outcome.updates { take(update, parser) }
        for uri in outcome.gone where !isKept { end(CategoryRequest.address(uri)?.aorKey) }
        guard outcome.isFull else { return }
        let listed = Set(state.resources.compactMap { CategoryRequest.address($0)?.aorKey })
        for key in presentities where !listed.contains(key) {
            if isKept { unlisted.append(key) } else { end(key) }
        }
    }

    private mutating func take(_ update: ResourceListState.Update, _ parser: XMLParser) {
        let key = CategoryRequest.address(update.uri)?.aorKey
        switch update.standing {
        case .unknown: break
        case .pending: report(on: key) { $0.verdict = Verdict(state: .pending) }
        case .terminated(let reason): report(on: key) { $0.verdict = Verdict(state: .terminated, reason: reason) }
        case .active:
            guard let part = update.document else { return report(on: key) { $0.verdict = Verdict(state: .active) } }
            take(part, of: key, instance: update.instance, parser)
        }
    }

    /// Adds one part; an unreadable part does not affect the others.
    private mutating func take(_ part: MIMEPart, of key: String?, instance: String?, _ parser: XMLParser) {
        guard !part.body.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) else { return report(on: key) { $0.showsNothing = true } }
        switch part.contentType?.essence {
        case WatcherFormat.pidfDiffType:
            report(on: key) {
                $0.partial = part.body
                $0.instance = instance
            }
        case WatcherFormat.pidfType, DocumentMediaType.cpimPIDF.name:
            do throws(DocumentError) {
                let document = try reader.readPIDF(part.body, using: parser)
                report(on: key) { $0.pidf = document }
            } catch {
                unreadable.append("\(error)")
            }
        default:
            unreadable.append("a part of type \(part.contentType?.essence ?? "none")")
        }
    }

    /// Reports the end of a presentity that the list no longer has.
    private mutating func end(_ key: String?) {
        report(on: key) { $0.verdict = Verdict(state: .terminated, reason: TerminationReason.noresource.rawValue) }
    }
}
