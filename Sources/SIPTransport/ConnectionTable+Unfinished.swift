import Logging
import NIOCore
import SIPCore

/// Counts octets of incomplete messages held by the connections of one loop, in total and by remote address.
struct UnfinishedOctets {
    private(set) var total = 0
    private var ofAddress: [RemoteAddressCounts.Key: Int] = [:]
    /// Time of the last report of too many octets.
    private var reportedAt: NIODeadline?

    subscript(address: RemoteAddressCounts.Key) -> Int { ofAddress[address] ?? 0 }

    mutating func change(of address: RemoteAddressCounts.Key, by difference: Int) {
        total += difference
        let sum = self[address] + difference
        ofAddress[address] = sum > 0 ? sum : nil
    }

    /// Whether too many octets are reported now: once in 60 s.
    mutating func isReported(at now: NIODeadline) -> Bool {
        if let reportedAt, now - reportedAt < .seconds(60) { return false }
        reportedAt = now
        return true
    }
}

/// Limits the octets of incomplete messages.
///
/// Beyond the limit, connections with the oldest incomplete messages are closed until three quarters of the limit remain: valid messages
/// complete within moments, so an attacker's are the oldest, however few octets each holds. Closing several at once keeps an attacker from
/// causing a search for the oldest with each segment.
extension ConnectionTable {
    /// Records the octets of incomplete messages that a connection holds.
    func noteUnfinished(_ connection: StreamConnection, _ octets: Int) {
        guard !connection.isClosed else { return }
        let growth = connection.holds(octets)
        guard growth != 0 else { return }
        let address = connection.addressKey
        unfinished.change(of: address, by: growth)
        guard growth > 0 else { return }
        if unfinished[address] > host.options.unfinishedOctetsPerAddress {
            closeOldestUnfinished(to: host.options.unfinishedOctetsPerAddress / 4 * 3, of: address)
        }
        if unfinished.total > host.options.unfinishedOctets {
            closeOldestUnfinished(to: host.options.unfinishedOctets / 4 * 3, of: nil)
        }
    }

    /// - Parameter address: Closes only connections from this address; nil for all.
    private func closeOldestUnfinished(to bound: Int, of address: RemoteAddressCounts.Key?) {
        let now = NIODeadline.now()
        let holders = connections.all.filter { $0.input.unfinishedOctets > 0 && (address == nil || $0.addressKey == address) }
            .sorted { ($0.input.insideSince ?? now, $0.id.rawValue) < ($1.input.insideSince ?? now, $1.id.rawValue) }
        if unfinished.isReported(at: now) {
            host.logger.notice(
                "too many octets of unfinished messages: the oldest connections with one are closed",
                metadata: ["remote": "\(holders.first?.remote.host ?? "")", "octets": "\(unfinished.total)"])
        }
        for holder in holders {
            guard (address.map { unfinished[$0] } ?? unfinished.total) > bound else { break }
            host.counters.unfinishedCloses &+= 1
            abandon(holder, reason: "a message that was not finished")
        }
        host.schedulePump()
    }
}
