/// A request or a response (RFC 3261 7).
public enum SIPMessage: Equatable, Sendable {
    case request(SIPRequest)
    case response(SIPResponse)

    public var headers: SIPHeaders {
        switch self {
        case .request(let request): return request.headers
        case .response(let response): return response.headers
        }
    }

    public var body: [UInt8] {
        switch self {
        case .request(let request): return request.body
        case .response(let response): return response.body
        }
    }
}

/// A request (RFC 3261 7.1).
public struct SIPRequest: Equatable, Sendable {
    public var method: SIPMethod
    /// The Request-URI as written.
    public var requestURI: String
    public var headers: SIPHeaders
    /// Content-Length is not kept as a header: the serialiser writes the body's length.
    public var body: [UInt8]

    public init(_ method: SIPMethod, requestURI: String, headers: SIPHeaders = SIPHeaders(), body: [UInt8] = []) {
        self.method = method
        self.requestURI = requestURI
        self.headers = headers
        self.body = body
    }

    public init(_ method: SIPMethod, uri: SIPURI, headers: SIPHeaders = SIPHeaders(), body: [UInt8] = []) {
        self.init(method, requestURI: uri.description, headers: headers, body: body)
    }

    /// The Request-URI taken apart on every call; a parsed request's always can be.
    public var uri: SIPURI {
        get { SIPURI(requestURI) ?? SIPURI(opaque: requestURI, scheme: .init(rawValue: "")) }
        set { requestURI = newValue.description }
    }
}

/// A response (RFC 3261 7.2).
public struct SIPResponse: Equatable, Sendable {
    public var status: SIPStatus
    /// As written; may be empty.
    public var reason: String
    public var headers: SIPHeaders
    /// Content-Length is not kept as a header: the serialiser writes the body's length.
    public var body: [UInt8]

    public init(_ status: SIPStatus, reason: String? = nil, headers: SIPHeaders = SIPHeaders(), body: [UInt8] = []) {
        self.status = status
        self.reason = reason ?? status.reasonPhrase
        self.headers = headers
        self.body = body
    }

    /// The answer to a request: Via, From, To, Call-ID and CSeq copied, and for a dialog-creating answer Record-Route (RFC 3261 8.2.6.2,
    /// 12.1.1).
    ///
    /// - Parameter toTag: Added to To unless To has a tag already or the status is 100. Give every response of a UAS one.
    public init(to request: SIPRequest, status: SIPStatus, reason: String? = nil, toTag: String? = nil, body: [UInt8] = []) {
        self.init(status, reason: reason, body: body)
        let source = request.headers
        let copiesRoute =
            (status.isSuccess || (status.isProvisional && status != .trying))
            && (request.method == .subscribe || request.method == .invite || request.method == .refer || request.method == .notify)
        headers.storage.reserveCapacity(512)
        headers.entries.reserveCapacity(16)
        for entry in source.entries {
            switch entry.known {
            case .via, .from, .callID, .cSeq:
                headers.copy(entry, from: source)
            case .recordRoute where copiesRoute:
                headers.copy(entry, from: source)
            case .timestamp where status == .trying:
                headers.copy(entry, from: source)
            case .to:
                headers.copy(entry, from: source)
                if let toTag, status != .trying { headers.addTag(toTag) }
            default:
                continue
            }
        }
    }

    /// The method of the request that this answers, from CSeq.
    public var method: SIPMethod? { headers.cSeq?.method }
}

extension SIPHeaders {
    /// Appends `;tag=` to the line just copied, unless it has a tag; its value is the last thing in the storage.
    fileprivate mutating func addTag(_ tag: String) {
        guard var entry = entries.last, self.tag(name(of: entry)) == nil,
            tag.utf8.allSatisfy({ ASCII.classes[Int($0)] & ASCII.token != 0 })
        else { return }
        // `sip:a@b` without brackets takes `;tag` as a header parameter too (RFC 3261 20), so appending is always right.
        let before = storage.count
        storage.append(contentsOf: [0x3B, 0x74, 0x61, 0x67, 0x3D])
        storage.append(contentsOf: tag.utf8)
        entry.valueLength += UInt32(storage.count - before)
        entries[entries.count - 1] = entry
    }
}
