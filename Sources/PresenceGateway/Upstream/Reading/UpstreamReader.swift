import PresenceDocuments
import SIPCore
import SIPEvents

/// Notified documents with flaws: parts are skipped, and unreadable documents lead to a refresh.
final class UpstreamReader: UpstreamPart {
    unowned let flow: UpstreamFlow

    init(_ flow: UpstreamFlow) { self.flow = flow }

    /// Reads a notification; after an unreadable one the known state is unverified and the full state is requested.
    /// - Throws: refusal of the NOTIFY.
    func read(_ body: [UInt8], _ headers: SIPHeaders, of upstream: UpstreamSubscription, at now: Instant) throws(Refusal) -> UpstreamContent
    {
        do throws(Refusal) {
            let content = try self.content(try decoded(body, headers), headers.contentType, of: upstream)
            noteFlaws(content.reader.flaws, of: upstream, at: now)
            couldNotReadParts(of: content, upstream, at: now)
            return content
        } catch {
            couldNotRead(error.explanation, of: upstream, at: now)
            fetchFullState(upstream, at: now)
            throw error
        }
    }

    /// Reads the body of a notification of any upstream subscription.
    private func content(_ body: [UInt8], _ type: MediaType?, of upstream: UpstreamSubscription) throws(Refusal) -> UpstreamContent {
        let keys = upstream.resources.map(\.key)
        guard let list = upstream.list, let type, type.essence == WatcherFormat.relatedType else {
            return try UpstreamContent(body, contentType: type, presentities: keys, parser: parser)
        }
        return try list.read(
            body, contentType: type, presentities: keys, parser: parser, limit: max(configuration.limits.resourcesPerBatch, 1_000))
    }

    /// Counts the skipped parts of a document; for `explain`, a subscription keeps a flaw that differs from the one before.
    func noteFlaws(_ flaws: [DocumentFlaw], of upstream: UpstreamSubscription, at now: Instant) {
        guard let first = flaws.first else { return }
        counters.documentFlaws += UInt64(flaws.count)
        let words = first.description + (flaws.count > 1 ? ", and \(flaws.count - 1) more" : "")
        guard upstream.reading.note(flaw: words) else { return }
        log(.info, "notified document has flaws", ["call-id": upstream.callID, "rule": words])
        flow.note(.flawed, upstream, rule: words, at: now)
    }

    // MARK: unreadable documents

    /// Nothing of a message can be read: the known state of every presentity of the subscription is unverified.
    private func couldNotRead(_ problem: String, of upstream: UpstreamSubscription, at now: Instant) {
        counters.documentsUnreadable += 1
        log(.notice, "notified document cannot be read", ["call-id": upstream.callID, "rule": problem])
        if upstream.resources.contains(where: { $0.unreadable?.problem != problem }) {
            flow.note(.unreadable, upstream, rule: problem, at: now)
        }
        let isAsking = upstream.reading.fullState.isPending
        for resource in upstream.resources {
            couldNotRead(problem, of: resource, upstream, isAsking: isAsking, isShown: false, at: now)
        }
        askToReadLater(upstream, at: now)
    }

    /// Parts of a message cannot be read: the known state of their presentities is unverified. The other parts are used.
    private func couldNotReadParts(of content: UpstreamContent, _ upstream: UpstreamSubscription, at now: Instant) {
        guard let first = content.unreadable.first else { return }
        counters.documentsUnreadable += UInt64(content.unreadable.count)
        let others = content.unreadable.count - 1
        log(
            .notice, "notified document cannot be read",
            ["call-id": upstream.callID, "rule": first.problem + (others > 0 ? ", and \(others) more" : "")])
        let shown = Set(content.reports.lazy.filter(\.hasState).map(\.key))
        let isAsking = upstream.reading.fullState.isPending
        let unread = content.unreadPresentities
        if unread.count > Self.notedPresentities { flow.note(.unreadable, upstream, rule: first.problem, at: now) }
        for (key, problem) in unread {
            guard let resource = upstream.resource(key) else { continue }
            if unread.count <= Self.notedPresentities, resource.unreadable?.problem != problem {
                flow.note(.unreadable, upstream, resource, rule: problem, at: now)
            }
            couldNotRead(problem, of: resource, upstream, isAsking: isAsking, isShown: shown.contains(key), at: now)
        }
        askToReadLater(upstream, at: now)
    }

    /// Presentities of one message with a journal entry each; more of them have one entry together.
    private static let notedPresentities = 16

    /// The last document of a presentity cannot be read: the known state is shown for as long as that of a lost subscription, and one
    /// refresh of the subscription requests the whole state. The third such refresh in a row is the last one at once: from then on
    /// `when-lost` applies, and one refresh in ``UpstreamReading/pause`` follows, since a notifier drops a subscription with a refused NOTIFY
    /// (RFC 6665 4.2.2).
    /// - Parameters:
    ///   - isAsking: a refresh is planned or unanswered, and no further one is sent.
    ///   - isShown: another part of the message has state of the presentity.
    private func couldNotRead(
        _ problem: String, of resource: UpstreamResource, _ upstream: UpstreamSubscription, isAsking: Bool, isShown: Bool, at now: Instant
    ) {
        guard resource.hasSink else { return }
        if resource.couldNotRead(problem, isAsking: isAsking, at: now) { upstream.reading.fullState.want() }
        if !isShown { flow.reporter.applyWhenLost(resource, of: upstream, isDown: resource.unreadable?.isExhausted ?? false, at: now) }
    }

    private func askToReadLater(_ upstream: UpstreamSubscription, at now: Instant) {
        if upstream.hasUnreadable { upstream.reading.becameUnread(at: now) }
        flow.schedule(upstream)
    }

    func askToRead(_ upstream: UpstreamSubscription, at now: Instant) {
        guard upstream.reading.advance(hasUnreadable: upstream.hasUnreadable, at: now), upstream.hasSink, !upstream.subscriber.isFetch
        else { return }
        flow.perform(upstream.subscriber.change(at: now), on: upstream, at: now)
    }
}
