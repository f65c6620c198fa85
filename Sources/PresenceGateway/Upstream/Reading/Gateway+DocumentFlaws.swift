import PresenceDocuments
import SIPCore
import SIPEvents

/// Notified documents that are flawed: what is passed over, and what is done where nothing can be read.
extension Gateway {
    /// Reads what a notification says; what cannot be read leaves what is known unverified, and is asked for anew.
    /// - Throws: The refusal of the NOTIFY.
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

    /// Counts the parts of a document that were passed over; a leg's flaw is kept for `explain` when it differs from the one before.
    func noteFlaws(_ flaws: [DocumentFlaw], of upstream: UpstreamSubscription, at now: Instant) {
        guard let first = flaws.first else { return }
        counters.documentFlaws += UInt64(flaws.count)
        let words = first.description + (flaws.count > 1 ? ", and \(flaws.count - 1) more" : "")
        guard upstream.lastFlaw != words else { return }
        upstream.lastFlaw = words
        log(.info, "notified document has flaws", ["call-id": upstream.callID, "rule": words])
        note(.flawed, upstream, rule: words, at: now)
    }

    /// A document cannot be read: the known state is unverified, is shown for as long as that of a lost leg, and a refresh asks for the whole
    /// state. Three that follow each other at once are the last (``FullStateDemand``): from then on `when-lost` applies, and
    /// one refresh in ``readingPause`` asks, since a notifier drops a subscription whose NOTIFY is refused (RFC 6665 4.2.2).
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

    /// From one refresh to the next while documents cannot be read.
    private static let readingPause = TimeSpan.seconds(30)

    func askToRead(_ upstream: UpstreamSubscription, at now: Instant) {
        guard let moment = upstream.asksToReadAt, now >= moment else { return }
        upstream.asksToReadAt = upstream.unreadable == nil ? nil : now + Self.readingPause
        guard upstream.unreadable != nil, upstream.hasSink, !upstream.subscriber.isFetch else { return }
        perform(upstream.subscriber.change(at: now), on: upstream, at: now)
    }
}
