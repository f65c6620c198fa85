import SIPCore

/// Sends one request outside a dialog and reports its final response.
final class RequestEndpoint: ClientEndpoint {
    private let onAnswer: (ClientAnswer) -> Void

    init(via: TransportAddress, listeners: [TransportAddress], key: TokenKey, onAnswer: @escaping (ClientAnswer) -> Void) {
        self.onAnswer = onAnswer
        super.init(via: via, listeners: listeners, key: key)
    }

    /// - Parameter complete: Adds the headers and the body of the method.
    func start(_ method: SIPMethod, to uri: String, from: String, at now: Instant, complete: (inout SIPRequest) -> Void) {
        var request = makeRequest(method, to: uri, from: from, fromTag: newTag(), callID: newCallID(), number: 1)
        complete(&request)
        _ = send(request, at: now)
    }

    override func answered(_ id: ClientTransactionID, _ answer: ClientAnswer, at now: Instant) {
        onAnswer(answer)
    }
}
