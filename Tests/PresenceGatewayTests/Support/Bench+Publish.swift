import SIPCore

extension Bench {
    /// Sends a PUBLISH; the answer is for the test to read.
    /// - Parameters:
    ///   - user: the presentity's URI, or its address without scheme.
    ///   - expires: nil: the header is left out.
    ///   - from: who publishes, if it is not the presentity.
    ///   - extra: whole header lines.
    func sendPublish(
        _ user: String, _ body: String, type: String = "application/pidf+xml", event: String = "presence", ifMatch: String? = nil,
        expires: Int? = 600, from: String? = nil, extra: String = "", via peer: TransportAddress = Bench.endpoint
    ) {
        let id = number()
        func uri(_ text: String) -> String { text.contains(":") ? text : "sip:" + text }
        send(
            "PUBLISH \(uri(user)) SIP/2.0\r\nVia: SIP/2.0/\(peer.transport.rawValue.uppercased()) \(peer.host):\(peer.port)"
                + ";branch=z9hG4bKp\(id)\r\nMax-Forwards: 70\r\nFrom: <\(uri(from ?? user))>;tag=p\(id)\r\nTo: <\(uri(user))>\r\n"
                + "Call-ID: p\(id)\r\nCSeq: 1 PUBLISH\r\nEvent: \(event)\r\n" + (expires.map { "Expires: \($0)\r\n" } ?? "")
                + (ifMatch.map { "SIP-If-Match: \($0)\r\n" } ?? "") + extra + (body.isEmpty ? "" : "Content-Type: \(type)\r\n")
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)", from: peer)
    }
}
