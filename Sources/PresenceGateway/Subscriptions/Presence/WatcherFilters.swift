import PresenceDocuments
import PresenceFilters
import SIPCore
import XMLCore

/// Filters of one subscription (RFC 4660): what its watcher is shown of the state that it may see, and which changes it is notified of.
///
///     state that the watcher may see --what--> shown
///                                    --trigger, against the state before--> notified, or not
final class WatcherFilters {
    let table: FilterTable
    /// The state of each presentity before the filter, as last rendered.
    private var whole: [String: DocumentView] = [:]
    /// The state of each presentity that triggers compare with the next one.
    private var before: [String: DocumentView] = [:]

    init(_ table: FilterTable) { self.table = table }

    /// The filter of a presentity; in a list that of the member, or of the list.
    private func filter(of resource: WatchedResource, in list: ListSubscription?) -> CompiledFilter? {
        guard let list else { return table.filter(for: resource.entity.description, isRequestURI: true, domain: resource.uri.domainKey) }
        let written = list.written(resource.uri)
        return table.filter(for: written, isRequestURI: false, domain: resource.uri.domainKey)
            ?? table.filter(for: list.uri, isRequestURI: true, domain: SIPURI(list.uri)?.domainKey ?? "")
    }

    /// What the watcher is shown of a state.
    func shown(_ rendered: RenderedPresence, of resource: WatchedResource, in list: ListSubscription?) -> RenderedPresence {
        guard case .document(let view) = rendered, let filter = filter(of: resource, in: list) else { return rendered }
        whole[resource.key] = view
        return .document(view.reduced(by: filter.content))
    }

    /// The state that ``shown(_:of:in:)`` reduced last; nil: none.
    func whole(of resource: WatchedResource) -> RenderedPresence? { whole[resource.key].map { .document($0) } }

    /// Whether the change to the state that was reduced last is to be notified. A change from an unknown state is.
    func isTriggered(by resource: WatchedResource, in list: ListSubscription?) -> Bool {
        guard let filter = filter(of: resource, in: list), filter.hasTriggers, let view = whole[resource.key] else { return true }
        guard let earlier = before.updateValue(view, forKey: resource.key) else { return true }
        return earlier === view ? false : filter.isTriggered(from: earlier.bytes, to: view.bytes)
    }

    /// Notes that the watcher was notified of the state that was reduced last.
    func noteNotified(_ resource: WatchedResource) { before[resource.key] = whole[resource.key] }

    /// Forgets a presentity that is not watched any more.
    func forget(_ resource: WatchedResource) {
        whole[resource.key] = nil
        before[resource.key] = nil
    }
}

/// Reading filters.
extension PresenceSubscriptions {
    /// Reads the filters that a SUBSCRIBE adds to those of its dialog; nil: its body is no filter document.
    /// - Throws: 415 for a format that is not filtered, 413 and 400 for a document that cannot be read, 488 for one that cannot be followed.
    func filters(
        of request: SIPRequest, _ format: WatcherFormat, changing table: FilterTable? = nil
    ) throws(Refusal) -> WatcherFilters? {
        guard WatcherFormat.hasFilters(request) else { return nil }
        guard case .pidf = format else { throw .unsupportedMediaType(accept: WatcherFormat.batchSubscribeType) }
        let limits = configuration.limits
        guard request.body.count <= limits.filterBytes else {
            counters.limitsReached += 1
            throw Refusal(.requestEntityTooLarge, "RFC 4660 5.2: the filters exceed the configured limit", errorID: 2012)
        }
        var table = table ?? FilterTable(limits: FilterLimits(filters: limits.filtersPerSubscription))
        let document: SimpleFilterDocument
        do throws(DocumentError) {
            document = try SimpleFilterDocument.decode(request.body, using: parser)
        } catch {
            if error.code == .limit { counters.limitsReached += 1 }
            throw .unreadable(error, "RFC 4660 5.2", limitID: 2012)
        }
        do throws(FilterError) {
            try table.apply(document)
        } catch {
            if error.code == .limit { counters.limitsReached += 1 }
            throw Refusal(.notAcceptableHere, error.message)
        }
        return WatcherFilters(table)
    }

    /// Applies the filters in a refresh; those that it does not name stay.
    func changeFilters(
        by request: SIPRequest, isUnsubscribe: Bool, of presence: PresenceSubscription
    ) throws(Refusal) {
        let filters = try filters(of: request, presence.format, changing: presence.filters?.table)
        if !isUnsubscribe, let filters { presence.use(filters.table.isEmpty ? nil : filters) }
    }
}
