import PresenceGateway
import SIPCore

/// The envelopes of one process under way, with or without one of the rules of its mailboxes.
///
///     leave --delay--> arrive --renumbered if their order changes--> receiving shard
final class EnvelopePath {
    /// An envelope under way.
    struct Parcel {
        let envelope: ShardEnvelope
        /// Number among the envelopes of its route that do not overtake each other; nil: it may overtake and be overtaken.
        let order: UInt64?
    }

    private struct Route: Hashable {
        let source: Int
        let target: Int

        init(_ envelope: ShardEnvelope) { (source, target) = (envelope.source, envelope.target) }
    }

    private let viewsOvertake: Bool
    private let missingRule: SimulatedRule?
    /// Number of the last ordered parcel of each route, when it left.
    private var left: [Route: UInt64] = [:]
    /// Number of the last ordered parcel of each route that was handed on.
    private var ordered: [Route: UInt64] = [:]
    /// Ordered parcels that arrived before an earlier one.
    private var early: [Route: [UInt64: ShardEnvelope]] = [:]
    /// Number of envelopes of each route that were handed on.
    private var handedOn: [Route: UInt64] = [:]
    /// Number of the last view, if the numbers of views are replaced.
    private var lastView: UInt64 = 0

    /// - Parameters:
    ///   - viewsOvertake: whether views arrive in any order.
    ///   - rule: rule that is switched off; nil: none.
    init(viewsOvertake: Bool = false, without rule: SimulatedRule? = nil) {
        self.viewsOvertake = viewsOvertake
        missingRule = rule
    }

    private var changesOrder: Bool { viewsOvertake || missingRule == .envelopesInOrder }

    /// Takes an envelope when it leaves its shard.
    func leave(_ envelope: ShardEnvelope) -> Parcel {
        let message = envelope.content as? WatchMessage
        if missingRule == .envelopesInOrder { return Parcel(envelope: envelope, order: nil) }
        if viewsOvertake, case .views? = message { return Parcel(envelope: envelope, order: nil) }
        left[Route(envelope), default: 0] += 1
        return Parcel(envelope: envelope, order: left[Route(envelope)])
    }

    /// Takes a parcel when it arrives.
    /// - Returns: the envelopes to hand to the receiving shard.
    func arrive(_ parcel: Parcel) -> [ShardEnvelope] {
        guard changesOrder else { return [altered(parcel.envelope, parcel.envelope.sequence)] }
        let route = Route(parcel.envelope)
        guard let order = parcel.order else { return [renumbered(parcel.envelope)] }
        early[route, default: [:]][order] = parcel.envelope
        var next: [ShardEnvelope] = []
        while let envelope = early[route]?.removeValue(forKey: ordered[route, default: 0] + 1) {
            ordered[route, default: 0] += 1
            next.append(renumbered(envelope))
        }
        return next
    }

    /// The envelope with the next number of its route, so that the receiving shard hands it on at once.
    private func renumbered(_ envelope: ShardEnvelope) -> ShardEnvelope {
        handedOn[Route(envelope), default: 0] += 1
        return altered(envelope, handedOn[Route(envelope)] ?? 0)
    }

    /// The envelope without the part of its view that the missing rule needs.
    private func altered(_ envelope: ShardEnvelope, _ sequence: UInt64) -> ShardEnvelope {
        var content = envelope.content
        if case .views(var view)? = content as? WatchMessage {
            for index in view.addressees.indices { alter(&view.addressees[index]) }
            content = WatchMessage.views(view)
        }
        return ShardEnvelope(from: envelope.source, to: envelope.target, sequence: sequence, content)
    }

    private func alter(_ addressee: inout SharedView.Addressee) {
        guard missingRule == .viewNumbers else { return }
        lastView += 1
        addressee.sequence = lastView
    }
}
