/// Spellings of the known header names and the search for one by its bytes: length, first and last letter, then one comparison.
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
    private let names: [String]
    /// `Name: ` as bytes, ready to be sent.
    private let heads: [[UInt8]]
    private let lowercase: [[UInt8]]
    private let slots: [UInt8]
    private let compact: [UInt8]

    private init() {
        let count = KnownHeader.allCases.count
        var names = [String](repeating: "", count: count)
        var heads = [[UInt8]](repeating: [], count: count)
        var lowercase = [[UInt8]](repeating: [], count: count)
        var slots = [UInt8](repeating: 0, count: Self.slotCount)
        var compact = [UInt8](repeating: 0, count: 256)
        for (known, name, letter) in Self.rows {
            let index = Int(known.rawValue)
            names[index] = name
            heads[index] = Array((name + ": ").utf8)
            let key = name.utf8.map(ASCII.lower)
            lowercase[index] = key
            var slot = Self.slot(key.count, key[0], key[key.count - 1])
            while slots[slot] != 0 { slot = (slot + 1) % Self.slotCount }
            slots[slot] = known.rawValue
            for byte in letter.utf8 {
                compact[Int(byte)] = known.rawValue
                compact[Int(byte & 0xDF)] = known.rawValue
            }
        }
        self.names = names
        self.heads = heads
        self.lowercase = lowercase
        self.slots = slots
        self.compact = compact
    }

    @inline(__always)
    private static func slot(_ length: Int, _ first: UInt8, _ last: UInt8) -> Int {
        (length &* 37 &+ Int(first | 0x20) &* 11 &+ Int(last | 0x20) &* 5) % slotCount
    }

    func name(_ known: KnownHeader) -> String { names[Int(known.rawValue)] }

    func head(_ known: KnownHeader) -> [UInt8] { heads[Int(known.rawValue)] }

    /// The known header with this name, long or compact, in any case.
    func lookup(_ name: UnsafeBufferPointer<UInt8>) -> KnownHeader {
        guard let first = name.first else { return .unknown }
        if name.count == 1 { return KnownHeader(rawValue: compact[Int(first)]) ?? .unknown }
        var slot = Self.slot(name.count, first, name[name.count - 1])
        while slots[slot] != 0 {
            let candidate = slots[slot]
            if Self.equal(name, lowercase[Int(candidate)]) { return KnownHeader(rawValue: candidate) ?? .unknown }
            slot = (slot + 1) % Self.slotCount
        }
        return .unknown
    }

    @inline(__always)
    private static func equal(_ name: UnsafeBufferPointer<UInt8>, _ key: [UInt8]) -> Bool {
        guard name.count == key.count else { return false }
        return key.withUnsafeBufferPointer { key in
            for index in 0..<key.count where ASCII.lower(name[index]) != key[index] { return false }
            return true
        }
    }
}
