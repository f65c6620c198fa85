import SIPCore

/// Sequence numbers of the requests that a gateway and those that follow it after a kill send in dialogs (RFC 3261 12.2.1.1).
///
/// They are judged as the requests leave: what overtakes what on the network is no fault of the sender.
final class SimulatedSequences {
    /// Requests with a lower number than one that left before in the same dialog.
    private(set) var faults: [String] = []
    private var last: [String: UInt32] = [:]
    /// Branches of the requests that left; those of an unanswered request leave again.
    private var branches: Set<String> = []

    func note(_ message: OutboundMessage) {
        guard case .success(.request(let request)) = SIPParser.parse(message.bytes), request.headers.toTag != nil,
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
