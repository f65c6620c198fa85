/// Fields that match a 2xx to its transaction, read in one pass without creating strings.
///
/// Responses to notifications are a third of a notifier's input, and only their arrival matters.
struct QuickAnswer {
    /// Status, 200 to 299.
    var status: Int
    var via: ViaSpans
    var branch: Range<Int>
    var method: Range<Int>
    var number: UInt32
    /// Whole values of Call-ID and From.
    var callID: Range<Int>
    var from: Range<Int>

    /// Reads a plain 2xx: one Via, no Contact, none of these fields folded. nil for all other messages, which ``SIPParser`` reads
    /// or refuses.
    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        let start = "SIP/2.0 2".utf8
        guard bytes.count > 16, bytes.prefix(start.count).elementsEqual(start), (0x30...0x39).contains(bytes[9]),
            (0x30...0x39).contains(bytes[10]), bytes[11] == 0x20 || bytes[11] == 0x0D
        else { return nil }
        status = 200 + Int(bytes[9] - 0x30) * 10 + Int(bytes[10] - 0x30)
        var isSound = true
        guard let line = HeaderBlockReader.lineEnd(bytes, 0, bytes.count, &isSound), isSound else { return nil }
        var reader = HeaderBlockReader(bytes, from: line.next, to: bytes.count)
        var via: ViaSpans?
        var branch: Range<Int>?
        var method: Range<Int>?
        var number: UInt32?
        var callID: Range<Int>?
        var from: Range<Int>?
        reading: while true {
            switch reader.next() {
            case .field(_, let value, .via, let isFolded):
                var scanner = ByteScanner(bytes, value)
                guard via == nil, !isFolded, let spans = ViaSpans(&scanner) else { return nil }
                via = spans
                let isWhole = SIPParameters.scan(&scanner) { scanner, name, value, _ in
                    if name.count == 6, scanner.matches(name, "branch") { branch = value }
                }
                scanner.skipLWS()
                guard isWhole, scanner.isAtEnd else { return nil }
            case .field(_, let value, .cSeq, let isFolded):
                var scanner = ByteScanner(bytes, value)
                guard method == nil, !isFolded, let value = scanner.number(limit: UInt64(CSeq.limit)) else { return nil }
                number = UInt32(value)
                scanner.skipLWS()
                method = scanner.token()
                guard scanner.isAtEnd else { return nil }
            case .field(_, let value, .callID, let isFolded):
                guard callID == nil, !isFolded else { return nil }
                callID = value
            case .field(_, let value, .from, let isFolded):
                guard from == nil, !isFolded else { return nil }
                from = value
            case .field(_, _, .contact, _), .malformed, .truncated:
                return nil
            case .field:
                continue
            case .end:
                break reading
            }
        }
        guard let via, let branch, let method, let number, let callID, let from else { return nil }
        (self.via, self.branch, self.method, self.number, self.callID, self.from) = (via, branch, method, number, callID, from)
    }

    /// Whether it repeats the values of the request octet by octet; a response with another spelling of From is left to
    /// ``SIPParser``.
    func fits(_ client: TransactionLayer.Client, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard number == client.number else { return false }
        let places = client.places
        return client.message.bytes.withUnsafeBufferPointer { sent in
            sent.isEqual(places.branch.range, to: bytes, branch) && sent.isEqual(places.method.range, to: bytes, method)
                && sent.isEqual(places.callID.range, to: bytes, callID) && sent.isEqual(places.from.range, to: bytes, from)
                && via.isSentBy(sent, places.sentBy.range, bytes)
        }
    }
}
