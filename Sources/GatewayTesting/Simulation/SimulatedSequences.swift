import SIPCore

/// Checks CSeq numbers of notifications in dialogs, from a gateway and its successors after a kill (RFC 3261 12.2.1.1).
///
/// A SUBSCRIBE is not checked: one that is sent again to another server (RFC 3263 4.3) has a new branch and its old number.
/// Checks requests when they are sent: reordering on the network is not a fault of the sender.
final class SimulatedSequences {
    /// Requests with a lower CSeq than an earlier one in the same dialog; at most 20.
    private(set) var faults: [String] = []
    private var last: [String: UInt32] = [:]
    /// Branches of sent requests; a retransmission has the same branch.
    private var branches: Set<String> = []

    func note(_ message: OutboundMessage) {
        guard case .success(.request(let request)) = SIPParser.parse(message.bytes), request.headers.toTag != nil,
            request.method == .notify || request.method == .benotify,
            let number = request.headers.cSeq?.number, let tag = request.headers.fromTag, let branch = request.headers.topVia?.branch,
            branches.insert(branch).inserted
        else { return }
        let dialog = "\(request.headers.callID ?? "") \(tag) \(request.headers.toTag ?? "")"
        if let before = last[dialog], number < before, faults.count < 20 {
            faults.append("\(request.method) with CSeq \(number) after \(before) in the dialog \(dialog)")
        }
        last[dialog] = max(last[dialog] ?? 0, number)
    }
}
