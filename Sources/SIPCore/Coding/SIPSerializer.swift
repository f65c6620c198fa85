/// Writes messages: long header names, no folding, Content-Length always and last (RFC 3261 7.3, 18.3).
public enum SIPSerializer {
    public static func serialize(_ message: SIPMessage) -> [UInt8] {
        switch message {
        case .request(let request): return serialize(request)
        case .response(let response): return serialize(response)
        }
    }

    public static func serialize(_ request: SIPRequest) -> [UInt8] {
        var out = [UInt8]()
        out.reserveCapacity(capacity(request.headers, request.body) + request.requestURI.utf8.count + 32)
        for byte in request.method.rawValue.utf8 where ASCII.classes[Int(byte)] & ASCII.token != 0 { out.append(byte) }
        out.append(0x20)
        appendText(request.requestURI, blank: nil, to: &out)
        out.append(contentsOf: requestTail)
        appendRest(request.headers, request.body, to: &out)
        return out
    }

    public static func serialize(_ response: SIPResponse) -> [UInt8] {
        var out = [UInt8]()
        out.reserveCapacity(capacity(response.headers, response.body) + response.reason.utf8.count + 32)
        out.append(contentsOf: statusHead)
        appendNumber(min(max(response.status.rawValue, 100), 699), to: &out)
        out.append(0x20)
        appendText(response.reason, blank: 0x20, to: &out)
        out.append(0x0D)
        out.append(0x0A)
        appendRest(response.headers, response.body, to: &out)
        return out
    }

    private static let requestTail = Array(" SIP/2.0\r\n".utf8)
    private static let statusHead = Array("SIP/2.0 ".utf8)
    private static let lengthHead = Array("Content-Length: ".utf8)

    private static func capacity(_ headers: SIPHeaders, _ body: [UInt8]) -> Int {
        var total = body.count + 32
        for entry in headers.entries { total += Int(entry.valueLength) + Int(entry.nameLength) + 20 }
        return total
    }

    /// Text of a start line; control characters are left out, blanks replaced or left out.
    private static func appendText(_ text: String, blank: UInt8?, to out: inout [UInt8]) {
        for byte in text.utf8 where byte >= 0x20 {
            if byte == 0x20 {
                if let blank { out.append(blank) }
            } else {
                out.append(byte)
            }
        }
    }

    static func appendNumber(_ number: Int, to out: inout [UInt8]) {
        if number >= 10 { appendNumber(number / 10, to: &out) }
        out.append(0x30 + UInt8(number % 10))
    }

    private static func appendRest(_ headers: SIPHeaders, _ body: [UInt8], to out: inout [UInt8]) {
        appendFields(headers, to: &out, skipping: .contentLength)
        out.append(contentsOf: lengthHead)
        appendNumber(body.count, to: &out)
        out.append(contentsOf: [0x0D, 0x0A, 0x0D, 0x0A])
        out.append(contentsOf: body)
    }

    static func appendFields(_ headers: SIPHeaders, to out: inout [UInt8], skipping skipped: KnownHeader?) {
        let table = HeaderTable.shared
        headers.storage.withUnsafeBufferPointer { bytes in
            for entry in headers.entries where entry.known != skipped {
                if entry.known == .unknown {
                    out.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[entry.nameRange]))
                    out.append(0x3A)
                    out.append(0x20)
                } else {
                    out.append(contentsOf: table.head(entry.known))
                }
                out.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[entry.valueRange]))
                out.append(0x0D)
                out.append(0x0A)
            }
        }
    }
}

extension SIPRequest {
    /// The message as bytes.
    public func serialized() -> [UInt8] { SIPSerializer.serialize(self) }
}

extension SIPResponse {
    /// The message as bytes.
    public func serialized() -> [UInt8] { SIPSerializer.serialize(self) }
}
