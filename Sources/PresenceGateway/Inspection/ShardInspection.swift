import FederationRouting
import Registration
import SIPCore
import SIPSecurity

/// Reports of a shard for operators, composed of the answers of its flows. They change nothing.
final class ShardInspection: FlowsMember {
    let kernel: GatewayKernel
    let context: ShardContext
    /// All flows, which own it.
    private unowned var all: Flows!

    init(_ kernel: GatewayKernel, _ context: ShardContext) {
        self.kernel = kernel
        self.context = context
    }

    var flows: Flows { all }

    /// Connects it with the flows; call it before the first request.
    func connect(_ flows: Flows) { all = flows }

    /// Numbers of live dialogs, publications and other entries.
    var counts: GatewayCounts {
        var counts = GatewayCounts()
        counts.watcherDialogs = flows.subscriptions.dialogs.presenceCount
        counts.upstreamSubscriptions = flows.upstream.upstreams.count
        (counts.presentities, counts.publications) = flows.presentities.publishedCounts
        counts.publicationBridges = flows.publications.count
        counts.homeDialogs = flows.subscriptions.dialogs.count - counts.watcherDialogs
        counts.registrations = flows.homeServer.home.registrar.count
        counts.transactions = transactions.clientCount + transactions.serverCount
        counts.timers = timers.count
        counts.watchedResources = flows.presenceSubscriptions.watchedResources
        counts.pendingOutput = kernel.output.count + commitLog.waitingMessages
        counts.latenessMilliseconds = Int(kernel.work.lateness.nanoseconds / 1_000_000)
        if place.index == 0, let authenticator {
            counts.securityAssociations = authenticator.associationCount
            counts.tlsHandshakes = authenticator.handshakeCount
        }
        counts.hopsDown = hops.health.downCount(at: commitLog.now)
        counts.requestsWaiting = hops.waiting
        counts.unverifiedUpstreams = flows.upstream.upstreams.values.count(where: { $0.doubtedSince != nil })
        counts.storesFailing = commitLog.isWorking ? 0 : 1
        return counts
    }
}
