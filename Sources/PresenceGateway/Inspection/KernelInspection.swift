import FederationRouting
import SIPCore
import SIPSecurity

/// Reports of the kernel, and of what all shards of the node share, which shard 0 reports.
final class KernelInspection: ShardMember, Inspectable {
    let kernel: GatewayKernel
    let context: ShardContext

    init(_ kernel: GatewayKernel, _ context: ShardContext) {
        self.kernel = kernel
        self.context = context
    }

    private var pendingOutput: Int { kernel.output.count + commitLog.waitingMessages }

    private var sharedAuthenticator: Authenticator? { place.index == 0 ? authenticator : nil }

    var sizes: [String: Int] {
        [
            "pendingRequests": pendingRequests.count, "timers": timers.count,
            "clientTransactions": transactions.clientCount, "serverTransactions": transactions.serverCount,
            "changedRecords": commitLog.open.keys.count, "commitsInFlight": commitLog.inFlight.count,
            "waitingMessages": commitLog.waitingMessages,
            "lookups": hops.lookups.count, "deliveries": hops.deliveries.count, "questions": hops.asking.count,
            "undeliverable": hops.undeliverable.count, "connectionCleanup": kernel.connectionCleanup.count,
            "unanswered": unanswered.count, "mailboxes": kernel.mailboxes.count,
        ]
    }

    var tables: [TableSize] {
        let limits = configuration.limits
        var tables = [
            TableSize(name: "server_transactions", entries: transactions.serverCount, limit: limits.transactions),
            TableSize(name: "client_transactions", entries: transactions.clientCount, limit: limits.transactions),
            TableSize(name: "pending_output", entries: pendingOutput, limit: limits.pendingOutput),
            TableSize(name: "names", entries: hops.cache.count, limit: hops.cache.bounds.entries),
            TableSize(name: "hops_down", entries: hops.health.count, limit: hops.health.policy.entries),
            TableSize(name: "requests_waiting", entries: hops.waiting, limit: configuration.naming?.waiting ?? 0),
            TableSize(name: "journal_entries", entries: journal.count, limit: limits.journalEntries),
        ]
        if let shared = sharedAuthenticator {
            tables += [
                TableSize(name: "security_associations", entries: shared.associationCount, limit: shared.limits.associations),
                TableSize(name: "tls_handshakes", entries: shared.handshakeCount, limit: shared.limits.handshakes),
            ]
        }
        return tables
    }

    func count(in counts: inout GatewayCounts) {
        counts.transactions = transactions.clientCount + transactions.serverCount
        counts.timers = timers.count
        counts.pendingOutput = pendingOutput
        counts.latenessMilliseconds = Int(kernel.work.lateness.nanoseconds / 1_000_000)
        if let shared = sharedAuthenticator {
            counts.securityAssociations = shared.associationCount
            counts.tlsHandshakes = shared.handshakeCount
        }
        counts.hopsDown = hops.health.downCount(at: commitLog.now)
        counts.requestsWaiting = hops.waiting
        counts.overloaded = kernel.overload == nil ? 0 : 1
        counts.storesFailing = commitLog.isWorking ? 0 : 1
    }
}
