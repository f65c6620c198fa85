import SIPCore

/// Station that sends arbitrary text of the script and records all parseable input.
package final class UnauthorizedPeer: SansIOEndpoint {
    /// Address from which it sends.
    package let address: TransportAddress
    /// Address to which it sends everything.
    package let target: TransportAddress
    /// Received messages that could be parsed, in order.
    package private(set) var received: [SIPMessage] = []
    private var output: [OutboundMessage] = []

    /// Creates a station; attach it to a network before use.
    package init(address: TransportAddress, target: TransportAddress) {
        self.address = address
        self.target = target
    }

    /// Status codes of the received responses, in order.
    package var statuses: [Int] {
        received.compactMap { message in
            if case .response(let response) = message { return response.status.rawValue }
            return nil
        }
    }

    /// Received requests; a correct gateway sends none here.
    package var requests: [SIPRequest] {
        received.compactMap { message in
            if case .request(let request) = message { return request }
            return nil
        }
    }

    /// Sends text as one message, unchanged.
    package func say(_ text: String) {
        output.append(
            OutboundMessage(bytes: Array(text.utf8), destination: .address(target, from: address.transport == .udp ? address : nil)))
    }

    /// Sends a response.
    package func say(_ response: SIPResponse) { say(String(decoding: response.serialized(), as: UTF8.self)) }

    /// Sends a request.
    package func say(_ request: SIPRequest) { say(String(decoding: request.serialized(), as: UTF8.self)) }

    /// Records a message; unparseable ones are ignored.
    package func receive(_ message: InboundMessage, at now: Instant) {
        if case .success(let parsed) = SIPParser.parse(message.bytes) { received.append(parsed) }
    }

    /// Ignores transport notices.
    package func receive(_ notice: TransportNotice, at now: Instant) {}
    /// Does nothing: the station has no timers.
    package func advance(to now: Instant) {}
    /// Always nil.
    package var nextDeadline: Instant? { nil }

    /// Returns and removes the messages to send.
    package func takeOutput() -> [OutboundMessage] {
        defer { output = [] }
        return output
    }
}
