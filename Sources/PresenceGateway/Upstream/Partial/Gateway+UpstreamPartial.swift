import PresenceDocuments
import SIPCore
import SIPEvents
import XMLCore

/// Partial presence from the remote domain (RFC 5262, RFC 5263): applies differences, and requests the full state after a loss.
extension Gateway {
    /// Applies a partial document; returns nil if it adds nothing new or does not fit.
    func source(
        ofPartial document: [UInt8], instance: String?, of resource: UpstreamResource, _ upstream: UpstreamSubscription
    ) -> PresenceSource? {
        var partial = resource.partial ?? PartialPresence(instance: instance)
        if partial.instance != instance { partial = PartialPresence(instance: instance) }
        defer { resource.partial = partial }
        var limits = XMLPatch.Limits()
        limits.document.bytes = configuration.limits.bodyBytes
        let before = partial.copy.version
        var reader = DocumentReader(.liberal)
        defer { noteFlaws(reader.flaws, of: upstream, at: commitLog.now) }
        do throws(PartialPIDFError) {
            switch try partial.copy.receive(document, limits: limits, reader: &reader) {
            case .document(let pidf):
                if before.map({ $0 &+ 1 == partial.copy.version }) ?? false { upstream.fullState.fitted() }
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
        upstream.fullState.miss()
        return nil
    }

    /// Refreshes a subscription if the full state is wanted. After repeated misfits it stops accepting partial documents.
    func fetchFullState(_ upstream: UpstreamSubscription, at now: Instant) {
        if upstream.fullState.isExhausted, upstream.offersPartial {
            log(.warning, "partial presence goes on not to fit and is asked for no more", ["call-id": upstream.callID])
            upstream.offersPartial = false
            upstream.domain.declinePartial(at: now)
        }
        guard upstream.fullState.isWanted, upstream.hasSink else { return }
        upstream.fullState.asked()
        perform(upstream.subscriber.change(at: now), on: upstream, at: now)
    }

    /// Subscribes again without partial documents after a refusal that they may have caused (RFC 5263 4.4). Returns false if they did not.
    func declinePartial(_ upstream: UpstreamSubscription, after status: Int, at now: Instant) -> Bool {
        guard upstream.offersPartial, upstream.hasSink, [406, 415, 488, 489].contains(status) else { return false }
        log(.info, "far side takes no partial presence", ["call-id": upstream.callID, "status": String(status)])
        upstream.offersPartial = false
        upstream.domain.declinePartial(at: now)
        perform(upstream.subscriber.restart(at: now), on: upstream, at: now)
        return true
    }
}
