import SIPCore

/// A station that says whatever the script wants, word for word, and keeps what comes back.
public final class Impostor: SansIOEndpoint {
    public let address: TransportAddress
    /// Where it sends everything.
    public let target: TransportAddress
    public private(set) var received: [SIPMessage] = []
    private var output: [OutboundMessage] = []

    public init(address: TransportAddress, target: TransportAddress) {
        self.address = address
        self.target = target
    }

    /// Statuses of the answers, in order.
    public var statuses: [Int] {
        received.compactMap { message in
            if case .response(let response) = message { return response.status.rawValue }
            return nil
        }
    }

    /// Requests that came, which nobody should have sent here.
    public var requests: [SIPRequest] {
        received.compactMap { message in
            if case .request(let request) = message { return request }
            return nil
        }
    }

    public func say(_ text: String) {
        output.append(
            OutboundMessage(bytes: Array(text.utf8), destination: .address(target, from: address.transport == .udp ? address : nil)))
    }

    public func say(_ response: SIPResponse) { say(String(decoding: response.serialized(), as: UTF8.self)) }

    public func say(_ request: SIPRequest) { say(String(decoding: request.serialized(), as: UTF8.self)) }

    public func receive(_ message: InboundMessage, at now: Instant) {
        if case .success(let parsed) = SIPParser.parse(message.bytes) { received.append(parsed) }
    }

    public func receive(_ notice: TransportNotice, at now: Instant) {}
    public func advance(to now: Instant) {}
    public var nextDeadline: Instant? { nil }

    public func takeOutput() -> [OutboundMessage] {
        defer { output = [] }
        return output
    }
}
