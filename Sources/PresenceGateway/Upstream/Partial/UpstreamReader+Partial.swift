import PresenceDocuments
import SIPCore
import SIPEvents
import XMLCore

/// Partial presence from the remote domain (RFC 5262, RFC 5263): applies differences, and requests the full state after a loss.
extension UpstreamReader {
    /// Applies a partial document; returns nil if it adds nothing new or does not fit.
    func source(
        ofPartial document: [UInt8], instance: String?, of resource: UpstreamResource, _ upstream: UpstreamSubscription
    ) -> PresenceSource? {
        var limits = XMLPatch.Limits()
        limits.document.bytes = configuration.limits.bodyBytes
        var reader = DocumentReader(.liberal)
        defer { noteFlaws(reader.flaws, of: upstream, at: commitLog.now) }
        do throws(PartialPIDFError) {
            let (outcome, isNext) = try resource.receive(partial: document, instance: instance, limits: limits, reader: &reader)
            switch outcome {
            case .document(let pidf):
                if isNext { upstream.reading.fullState.fitted() }
                return .pidf(pidf)
            case .outdated:
                counters.notificationsSuppressed += 1
                return nil
            case .gap:
                log(.info, "partial presence is missing, the full state is fetched", ["call-id": upstream.callID])
            }
        } catch {
            log(.notice, "partial presence does not fit, the full state is fetched", ["call-id": upstream.callID, "rule": "\(error)"])
        }
        counters.partialStateMissed += 1
        upstream.reading.fullState.miss()
        return nil
    }

    /// Refreshes a subscription if the full state is wanted. After repeated misfits it stops accepting partial documents.
    func fetchFullState(_ upstream: UpstreamSubscription, at now: Instant) {
        if upstream.reading.fullState.isExhausted, upstream.form.offersPartial {
            log(.warning, "partial presence goes on not to fit and is asked for no more", ["call-id": upstream.callID])
            upstream.form.declinePartial()
            upstream.domain.declinePartial(at: now)
        }
        guard upstream.reading.fullState.isWanted, upstream.hasSink else { return }
        upstream.reading.fullState.asked()
        flow.perform(upstream.subscriber.change(at: now), on: upstream, at: now)
    }

    /// Subscribes again without partial documents after a refusal that they may have caused (RFC 5263 4.4). Returns false if they did not.
    func declinePartial(_ upstream: UpstreamSubscription, after status: Int, at now: Instant) -> Bool {
        guard upstream.form.offersPartial, upstream.hasSink, [406, 415, 488, 489].contains(status) else { return false }
        log(.info, "far side takes no partial presence", ["call-id": upstream.callID, "status": String(status)])
        upstream.form.declinePartial()
        upstream.domain.declinePartial(at: now)
        flow.perform(upstream.subscriber.restart(at: now), on: upstream, at: now)
        return true
    }
}
