/// Spellings of the known header names, and lookup by their bytes: length, first and last letter, then one comparison.
final class HeaderTable: Sendable {
    static let shared = HeaderTable()

    private static let rows: [(KnownHeader, String, compact: String)] = [
        (.via, "Via", "v"),
        (.from, "From", "f"),
        (.to, "To", "t"),
        (.callID, "Call-ID", "i"),
        (.cSeq, "CSeq", ""),
        (.maxForwards, "Max-Forwards", ""),
        (.contact, "Contact", "m"),
        (.route, "Route", ""),
        (.recordRoute, "Record-Route", ""),
        (.contentType, "Content-Type", "c"),
        (.contentLength, "Content-Length", "l"),
        (.contentEncoding, "Content-Encoding", "e"),
        (.contentDisposition, "Content-Disposition", ""),
        (.contentLanguage, "Content-Language", ""),
        (.contentID, "Content-ID", ""),
        (.mimeVersion, "MIME-Version", ""),
        (.event, "Event", "o"),
        (.subscriptionState, "Subscription-State", ""),
        (.allowEvents, "Allow-Events", "u"),
        (.expires, "Expires", ""),
        (.minExpires, "Min-Expires", ""),
        (.accept, "Accept", ""),
        (.acceptEncoding, "Accept-Encoding", ""),
        (.acceptLanguage, "Accept-Language", ""),
        (.allow, "Allow", ""),
        (.supported, "Supported", "k"),
        (.require, "Require", ""),
        (.proxyRequire, "Proxy-Require", ""),
        (.unsupported, "Unsupported", ""),
        (.retryAfter, "Retry-After", ""),
        (.sipETag, "SIP-ETag", ""),
        (.sipIfMatch, "SIP-If-Match", ""),
        (.suppressIfMatch, "Suppress-If-Match", ""),
        (.warning, "Warning", ""),
        (.reason, "Reason", ""),
        (.server, "Server", ""),
        (.userAgent, "User-Agent", ""),
        (.date, "Date", ""),
        (.timestamp, "Timestamp", ""),
        (.organization, "Organization", ""),
        (.subject, "Subject", "s"),
        (.priority, "Priority", ""),
        (.inReplyTo, "In-Reply-To", ""),
        (.replyTo, "Reply-To", ""),
        (.errorInfo, "Error-Info", ""),
        (.callInfo, "Call-Info", ""),
        (.alertInfo, "Alert-Info", ""),
        (.authorization, "Authorization", ""),
        (.wwwAuthenticate, "WWW-Authenticate", ""),
        (.proxyAuthorization, "Proxy-Authorization", ""),
        (.proxyAuthenticate, "Proxy-Authenticate", ""),
        (.authenticationInfo, "Authentication-Info", ""),
        (.proxyAuthenticationInfo, "Proxy-Authentication-Info", ""),
        (.pAssertedIdentity, "P-Asserted-Identity", ""),
        (.pPreferredIdentity, "P-Preferred-Identity", ""),
        (.privacy, "Privacy", ""),
        (.path, "Path", ""),
        (.serviceRoute, "Service-Route", ""),
        (.pChargingVector, "P-Charging-Vector", ""),
        (.pAccessNetworkInfo, "P-Access-Network-Info", ""),
        (.historyInfo, "History-Info", ""),
        (.acceptContact, "Accept-Contact", "a"),
        (.rejectContact, "Reject-Contact", "j"),
        (.requestDisposition, "Request-Disposition", "d"),
        (.referTo, "Refer-To", "r"),
        (.referredBy, "Referred-By", "b"),
        (.sessionExpires, "Session-Expires", "x"),
        (.identity, "Identity", "y"),
        (.msDiagnostics, "ms-diagnostics", ""),
        (.msDiagnosticsPublic, "ms-diagnostics-public", ""),
        (.msPiggybackCSeq, "ms-piggyback-cseq", ""),
        (.msSourceNetwork, "ms-source-network", ""),
        (.msEdgeProxyMessageTrust, "ms-edge-proxy-message-trust", ""),
        (.msKeepAlive, "ms-keep-alive", ""),
        (.msUserLogonData, "ms-user-logon-data", ""),
        (.msAsserted, "ms-asserted-verification-level", ""),
        (.presenceState, "presence-state", ""),
    ]

    private static let slotCount = 512
    private static let stride = 40

    private let names: [String]
    /// Tables written by `init` only and never freed: zero-terminated lists of numbers, lower-case names and `Name: ` heads at
    /// fixed strides.
    private nonisolated(unsafe) let slots: UnsafeMutablePointer<UInt8>
    private nonisolated(unsafe) let compact: UnsafeMutablePointer<UInt8>
    private nonisolated(unsafe) let keys: UnsafeMutablePointer<UInt8>
    private nonisolated(unsafe) let keyLengths: UnsafeMutablePointer<UInt8>
    private nonisolated(unsafe) let heads: UnsafeMutablePointer<UInt8>

    private init() {
        let count = KnownHeader.allCases.count
        func memory(_ size: Int) -> UnsafeMutablePointer<UInt8> {
            let pointer = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
            pointer.initialize(repeating: 0, count: size)
            return pointer
        }
        var names = [String](repeating: "", count: count)
        slots = memory(Self.slotCount)
        compact = memory(256)
        keys = memory(count * Self.stride)
        keyLengths = memory(count)
        heads = memory(count * Self.stride)
        for (known, name, letter) in Self.rows {
            let index = Int(known.rawValue)
            names[index] = name
            let key = name.utf8.map(ASCII.lower)
            precondition(key.count + 2 <= Self.stride, "a known header name is longer than its slot")
            keyLengths[index] = UInt8(key.count)
            for (offset, byte) in key.enumerated() { keys[index * Self.stride + offset] = byte }
            for (offset, byte) in (name + ": ").utf8.enumerated() { heads[index * Self.stride + offset] = byte }
            var slot = Self.slot(key.count, key[0], key[key.count - 1])
            while slots[slot] != 0 { slot = (slot + 1) % Self.slotCount }
            slots[slot] = known.rawValue
            for byte in letter.utf8 {
                compact[Int(byte)] = known.rawValue
                compact[Int(byte & 0xDF)] = known.rawValue
            }
        }
        self.names = names
    }

    @inline(__always)
    private static func slot(_ length: Int, _ first: UInt8, _ last: UInt8) -> Int {
        (length &* 37 &+ Int(first | 0x20) &* 11 &+ Int(last | 0x20) &* 5) & (slotCount - 1)
    }

    func name(_ known: KnownHeader) -> String { names[Int(known.rawValue)] }

    /// Bytes of `Name: `, ready to send; never freed.
    @inline(__always)
    func head(_ known: KnownHeader) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: heads + Int(known.rawValue) * Self.stride, count: Int(keyLengths[Int(known.rawValue)]) + 2)
    }

    /// Known header with this name, long or compact, ignoring case.
    ///
    /// The tables hold raw values of `KnownHeader` only, so that a value needs no check.
    /// - Parameter name: Without CR, which setting bit 5 would turn into `-`.
    @inline(__always)
    func lookup(_ name: UnsafeBufferPointer<UInt8>) -> KnownHeader {
        let count = name.count
        guard count > 0 else { return .unknown }
        let first = name[0]
        if count == 1 { return unsafeBitCast(compact[Int(first)], to: KnownHeader.self) }
        var slot = Self.slot(count, first, name[count - 1])
        while true {
            let candidate = slots[slot]
            if candidate == 0 { return .unknown }
            if Int(keyLengths[Int(candidate)]) == count, equal(name, keys + Int(candidate) * Self.stride) {
                return unsafeBitCast(candidate, to: KnownHeader.self)
            }
            slot = (slot + 1) & (Self.slotCount - 1)
        }
    }

    /// Compares eight octets at a time; setting bit 5 turns letters into lower case and keeps digits and `-`.
    @inline(__always)
    private func equal(_ name: UnsafeBufferPointer<UInt8>, _ key: UnsafeMutablePointer<UInt8>) -> Bool {
        let count = name.count
        guard count >= 8, let base = UnsafeRawPointer(name.baseAddress) else {
            for index in 0..<count where ASCII.lower(name[index]) != key[index] { return false }
            return true
        }
        let keys = UnsafeRawPointer(key)
        func differs(_ offset: Int) -> Bool {
            base.loadUnaligned(fromByteOffset: offset, as: UInt64.self) | 0x2020_2020_2020_2020
                != keys.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        var offset = 0
        while offset + 8 <= count {
            if differs(offset) { return false }
            offset += 8
        }
        return !differs(count - 8)
    }
}
