import PresenceDocuments
import SIPCore
import SIPEvents

/// Notified documents with flaws: parts are skipped, and unreadable documents lead to a refresh.
extension Gateway {
    /// Reads a notification; after an unreadable one the known state is unverified and the full state is requested.
    /// - Throws: refusal of the NOTIFY.
    func read(_ body: [UInt8], _ headers: SIPHeaders, of upstream: UpstreamSubscription, at now: Instant) throws(Refusal) -> UpstreamContent
    {
        do throws(Refusal) {
            let content = try content(try decoded(body, headers), headers.contentType, of: upstream)
            noteFlaws(content.reader.flaws, of: upstream, at: now)
            if content.unreadable.isEmpty, content.reports.contains(where: \.hasState) { upstream.becameReadable() }
            if upstream.list == nil {
                if let problem = content.unreadable.first {
                    couldNotRead(problem, of: upstream, at: now)
                } else if content.reports.contains(where: { $0.hasState && $0.partial == nil }) {
                    upstream.fullState.fitted()
                }
            }
            return content
        } catch {
            couldNotRead(error.explanation, of: upstream, at: now)
            fetchFullState(upstream, at: now)
            throw error
        }
    }

    /// Counts the skipped parts of a document; for `explain`, a subscription keeps a flaw that differs from the one before.
    func noteFlaws(_ flaws: [DocumentFlaw], of upstream: UpstreamSubscription, at now: Instant) {
        guard let first = flaws.first else { return }
        counters.documentFlaws += UInt64(flaws.count)
        let words = first.description + (flaws.count > 1 ? ", and \(flaws.count - 1) more" : "")
        guard upstream.lastFlaw != words else { return }
        upstream.lastFlaw = words
        log(.info, "notified document has flaws", ["call-id": upstream.callID, "rule": words])
        note(.flawed, upstream, rule: words, at: now)
    }

    /// Handles an unreadable document: the known state is unverified, is shown as for a lost subscription, and a refresh requests the full
    /// state. After the third in a row (``FullStateDemand``) `when-lost` applies. A refresh every ``readingPause`` continues, because a
    /// notifier drops a subscription after its NOTIFY was refused (RFC 6665 4.2.2).
    private func couldNotRead(_ problem: String, of upstream: UpstreamSubscription, at now: Instant) {
        counters.documentsUnreadable += 1
        log(.notice, "notified document cannot be read", ["call-id": upstream.callID, "rule": problem])
        note(.unreadable, upstream, rule: problem, at: now)
        upstream.unreadable = problem
        if upstream.unverifiedSince == nil { upstream.unverifiedSince = now }
        if upstream.asksToReadAt == nil { upstream.asksToReadAt = now + Self.readingPause }
        upstream.fullState.miss()
        applyWhenLost(upstream, isDown: upstream.fullState.isExhausted, at: now)
        schedule(upstream)
    }

    /// Time between two refreshes while documents cannot be read.
    private static let readingPause = TimeSpan.seconds(30)

    func askToRead(_ upstream: UpstreamSubscription, at now: Instant) {
        guard let moment = upstream.asksToReadAt, now >= moment else { return }
        upstream.asksToReadAt = upstream.unreadable == nil ? nil : now + Self.readingPause
        guard upstream.unreadable != nil, upstream.hasSink, !upstream.subscriber.isFetch else { return }
        perform(upstream.subscriber.change(at: now), on: upstream, at: now)
    }
}
