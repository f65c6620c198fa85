@testable import SIPCore

/// Text with `\n` as CRLF, so that messages are readable in the source.
func wire(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
        if byte == 0x0A { bytes.append(0x0D) }
        bytes.append(byte)
    }
    return bytes
}

/// Request with exchangeable parts.
func requestText(
    _ line: String = "SUBSCRIBE sip:alice@example.org SIP/2.0", cSeq: String = "1 SUBSCRIBE", extra: String = "", body: String = ""
) -> String {
    """
    \(line)
    Via: SIP/2.0/UDP edge.contoso.com:5060;branch=z9hG4bKabc;rport
    Max-Forwards: 70
    From: "Bob" <sip:bob@contoso.com>;tag=f1
    To: <sip:alice@example.org>
    Call-ID: c1@edge.contoso.com
    CSeq: \(cSeq)
    \(extra)Content-Length: \(body.utf8.count)

    \(body)
    """
}

/// NOTIFY in a dialog, as passed to a transaction layer for sending.
var notify: SIPRequest {
    var request = SIPRequest(.notify, requestURI: "sip:bob@192.0.2.9")
    request.headers.append(.from, "<sip:alice@example.org>;tag=a")
    request.headers.append(.to, "<sip:bob@contoso.com>;tag=b")
    request.headers.append(.callID, "c9")
    request.headers.append(.cSeq, "1 NOTIFY")
    return request
}

extension Result where Success == SIPMessage, Failure == SIPParseError {
    var request: SIPRequest? {
        if case .success(.request(let request)) = self { return request }
        return nil
    }
    var response: SIPResponse? {
        if case .success(.response(let response)) = self { return response }
        return nil
    }
    var failure: SIPParseError? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
