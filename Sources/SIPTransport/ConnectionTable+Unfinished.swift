import Logging
import NIOCore
import SIPCore

/// Counts octets of incomplete messages held by the connections of one loop, in total and by remote address.
struct UnfinishedOctets {
    private(set) var total = 0
    private var ofAddress: [RemoteAddressCounts.Key: Int] = [:]

    subscript(address: RemoteAddressCounts.Key) -> Int { ofAddress[address] ?? 0 }

    mutating func change(of address: RemoteAddressCounts.Key, by difference: Int) {
        total += difference
        let sum = self[address] + difference
        ofAddress[address] = sum > 0 ? sum : nil
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
        let growth = octets - connection.unfinishedOctets
        guard connection.state != .closed, growth != 0 else { return }
        let address = connection.addressKey
        connection.unfinishedOctets = octets
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
        let holders = connections.values.filter { $0.unfinishedOctets > 0 && (address == nil || $0.addressKey == address) }
            .sorted { ($0.insideSince ?? now, $0.id.rawValue) < ($1.insideSince ?? now, $1.id.rawValue) }
        if unfinishedReportedAt.map({ now - $0 >= .seconds(60) }) ?? true {
            unfinishedReportedAt = now
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
