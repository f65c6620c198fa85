import PresenceDocuments
import SIPCore
import SIPEvents
import XMLCore

extension UpstreamContent {
    /// Reads a notification of a standard resource list (RFC 4662 5).
    /// - Parameters:
    ///   - state: state of the list; updated.
    ///   - isKept: whether the remote domain stores the list, so that presentities outside it can still be watched separately.
    /// - Throws: 400 if neither the list nor a part can be read; an unreadable part is skipped.
    init(
        list body: [UInt8], contentType: MediaType, state: inout ResourceListState, isKept: Bool, presentities: [String], parser: XMLParser,
        limit: Int
    ) throws(Refusal) {
        self.init(asked: presentities)
        let notification: ResourceListNotification
        do throws(Refusal) {
            notification = try ResourceListNotification(
                body, contentType: contentType, parser: parser, limits: .init(resources: limit), reader: &reader)
        } catch {
            guard error.isUnreadableDocument, takeParts(of: body, contentType, parser) else { throw error }
            hasList = true
            needsFullState = true
            unreadable.append(UnreadablePart(key: nil, problem: error.explanation))
            return
        }
        let outcome = state.receive(notification, limit: limit)
        hasList = true
        isDifference = !outcome.isFull && !outcome.isOutdated
        needsFullState = outcome.needsFullState
        isOverfull = outcome.isOverfull
        for update in outcome.updates { take(update, parser) }
        for problem in outcome.unreadableLists { unreadable.append(UnreadablePart(key: nil, problem: problem)) }
        for uri in outcome.gone where !isKept { end(CategoryRequest.address(uri)?.aorKey) }
        // The members of an unreadable inner list are unknown.
        guard outcome.isFull, outcome.unreadableLists.isEmpty else { return }
        let listed = Set(state.resources.compactMap { CategoryRequest.address($0)?.aorKey })
        for key in presentities where !listed.contains(key) {
            if isKept { unlisted.append(key) } else { end(key) }
        }
    }

    private mutating func take(_ update: ResourceListState.Update, _ parser: XMLParser) {
        let key = CategoryRequest.address(update.uri)?.aorKey
        if let problem = update.problem { return unreadable.append(UnreadablePart(key: key ?? update.uri, problem: problem)) }
        switch update.instanceState {
        case .unknown: break
        case .pending: report(on: key) { $0.instanceState = InstanceState(state: .pending) }
        case .terminated(let reason): report(on: key) { $0.instanceState = InstanceState(state: .terminated, reason: reason) }
        case .active:
            guard let part = update.document else { return report(on: key) { $0.instanceState = InstanceState(state: .active) } }
            take(part, of: key, update.uri, instance: update.instance, parser)
        }
    }

    /// Takes the documents of a list that cannot be read itself, by the presentities that they name.
    /// - Returns: false: there is none.
    private mutating func takeParts(of body: [UInt8], _ type: MediaType, _ parser: XMLParser) -> Bool {
        guard let parts = try? MIMEMultipart(body, contentType: type).leaves() else { return false }
        for part in parts where Self.isPIDF(part) {
            guard let document = try? reader.readPIDF(part.body, using: parser) else { continue }
            report(on: CategoryRequest.address(document.entity)?.aorKey) { $0.take(document) }
        }
        return !reports.isEmpty
    }

    private static func isPIDF(_ part: MIMEPart) -> Bool {
        [WatcherFormat.pidfType, DocumentMediaType.cpimPIDF.name].contains(part.contentType?.essence)
    }

    /// Adds one part; an unreadable part does not affect the others.
    /// - Parameter uri: URI of the presentity in the list.
    private mutating func take(_ part: MIMEPart, of key: String?, _ uri: String, instance: String?, _ parser: XMLParser) {
        guard !part.body.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) else { return report(on: key) { $0.showNothing() } }
        switch part.contentType?.essence {
        case WatcherFormat.pidfDiffType:
            report(on: key) { $0.take(partial: part.body, instance: instance) }
        case WatcherFormat.pidfType, DocumentMediaType.cpimPIDF.name:
            do throws(DocumentError) {
                let document = try reader.readPIDF(part.body, using: parser)
                report(on: key) { $0.take(document) }
            } catch {
                unreadable.append(UnreadablePart(key: key ?? uri, problem: "\(error)"))
            }
        default:
            unreadable.append(UnreadablePart(key: key ?? uri, problem: "a part of type \(part.contentType?.essence ?? "none")"))
        }
    }

    /// Reports the end of a presentity that the list no longer has.
    private mutating func end(_ key: String?) {
        report(on: key) { $0.instanceState = InstanceState(state: .terminated, reason: TerminationReason.noresource.rawValue) }
    }
}
