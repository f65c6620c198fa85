import SIPCore

/// Checks CSeq numbers of requests in dialogs, from a gateway and its successors after a kill (RFC 3261 12.2.1.1).
///
///     same branch                                        retransmission, not checked
///     higher number                                      accepted
///     equal number, same request, same process           failover to another server (RFC 3263 4.3), accepted
///     equal number, other request or other process       fault
///     lower number                                       fault
///
/// Checks requests when they are sent: reordering on the network is not a fault of the sender.
final class SimulatedSequences {
    /// Last request of a dialog.
    private struct Sent {
        var number: UInt32
        var method: SIPMethod
        var expires: UInt32?
        var body: [UInt8]
        var process: Int

        /// Whether `other` is the same request, apart from its Via and Contact.
        func isSame(as other: Sent) -> Bool {
            number == other.number && method == other.method && expires == other.expires && body == other.body && process == other.process
        }
    }

    /// Requests with a number that was used or exceeded in the same dialog; at most 20.
    private(set) var faults: [String] = []
    private var last: [String: Sent] = [:]
    /// Branches of sent requests; a retransmission has the same branch.
    private var branches: Set<String> = []
    private var process = 0

    /// A process begins; it does not know the requests of the one before.
    func beginProcess() { process += 1 }

    func note(_ message: OutboundMessage) {
        guard case .success(.request(let request)) = SIPParser.parse(message.bytes), request.headers.toTag != nil,
            let number = request.headers.cSeq?.number, let tag = request.headers.fromTag, let branch = request.headers.topVia?.branch,
            branches.insert(branch).inserted
        else { return }
        let dialog = "\(request.headers.callID ?? "") \(tag) \(request.headers.toTag ?? "")"
        let sent = Sent(
            number: number, method: request.method, expires: request.headers.expires, body: request.body, process: process)
        if let before = last[dialog], number <= before.number, !sent.isSame(as: before) {
            if faults.count < 20 {
                faults.append("\(request.method) with CSeq \(number) after \(before.method) \(before.number) in the dialog \(dialog)")
            }
            return
        }
        last[dialog] = sent
    }
}
