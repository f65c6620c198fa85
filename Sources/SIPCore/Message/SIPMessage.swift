/// Request or response (RFC 3261 7).
public enum SIPMessage: Equatable, Sendable {
    case request(SIPRequest)
    case response(SIPResponse)

    /// Header fields of the request or response.
    public var headers: SIPHeaders {
        switch self {
        case .request(let request): return request.headers
        case .response(let response): return response.headers
        }
    }

    /// Body of the request or response; empty when there is none.
    public var body: [UInt8] {
        switch self {
        case .request(let request): return request.body
        case .response(let response): return response.body
        }
    }
}

/// Request (RFC 3261 7.1).
public struct SIPRequest: Equatable, Sendable {
    /// Method of the request line.
    public var method: SIPMethod
    /// Request-URI as written.
    public var requestURI: String
    /// Header fields in order.
    public var headers: SIPHeaders
    /// Body; the serializer writes its length as Content-Length, which is not kept as a header.
    public var body: [UInt8]

    /// Creates a request; the Request-URI is not checked.
    public init(_ method: SIPMethod, requestURI: String, headers: SIPHeaders = SIPHeaders(), body: [UInt8] = []) {
        self.method = method
        self.requestURI = requestURI
        self.headers = headers
        self.body = body
    }

    /// Creates a request with the written form of `uri`.
    public init(_ method: SIPMethod, uri: SIPURI, headers: SIPHeaders = SIPHeaders(), body: [UInt8] = []) {
        self.init(method, requestURI: uri.description, headers: headers, body: body)
    }

    /// Request-URI, parsed at every access; that of a parsed request is valid.
    public var uri: SIPURI {
        get { SIPURI(requestURI) ?? SIPURI(opaque: requestURI, scheme: .init(rawValue: "")) }
        set { requestURI = newValue.description }
    }
}

/// Response (RFC 3261 7.2).
public struct SIPResponse: Equatable, Sendable {
    /// Status code of the status line.
    public var status: SIPStatus
    /// Reason phrase as written; may be empty.
    public var reason: String
    /// Header fields in order.
    public var headers: SIPHeaders
    /// Body; the serializer writes its length as Content-Length, which is not kept as a header.
    public var body: [UInt8]

    /// Creates a response; by default with the usual reason phrase of the status.
    public init(_ status: SIPStatus, reason: String? = nil, headers: SIPHeaders = SIPHeaders(), body: [UInt8] = []) {
        self.status = status
        self.reason = reason ?? status.reasonPhrase
        self.headers = headers
        self.body = body
    }

    /// Creates the response to a request: copies Via, From, To, Call-ID and CSeq, and Record-Route if the response can create a
    /// dialog (RFC 3261 8.2.6.2, 12.1.1).
    ///
    /// - Parameter toTag: Tag added to To, unless To has one or the status is 100. A UAS needs it for every other response.
    public init(to request: SIPRequest, status: SIPStatus, reason: String? = nil, toTag: String? = nil, body: [UInt8] = []) {
        self.init(status, reason: reason, body: body)
        let source = request.headers
        let copiesRoute =
            (status.isSuccess || (status.isProvisional && status != .trying))
            && (request.method == .subscribe || request.method == .invite || request.method == .refer || request.method == .notify)
        headers = source.answer(copiesRoute: copiesRoute, isTrying: status == .trying, toTag: toTag)
    }

    /// Method of the request, from CSeq; nil if that is malformed.
    public var method: SIPMethod? { headers.cSeq?.method }
}

extension SIPHeaders {
    /// Lines that a response repeats, in one copy; adds `;tag=` to To unless it has one.
    fileprivate func answer(copiesRoute: Bool, isTrying: Bool, toTag: String?) -> SIPHeaders {
        var chosen: [Entry] = []
        chosen.reserveCapacity(12)
        var size = 0
        var newTag: String?
        for entry in entries {
            switch entry.known {
            case .via, .from, .callID, .cSeq: break
            case .recordRoute where copiesRoute: break
            case .timestamp where isTrying: break
            case .to:
                // Appending is always right: `sip:a@b` without brackets takes `;tag` as a header parameter too (RFC 3261 20).
                if let toTag, !isTrying, !toTag.isEmpty, toTag.utf8.allSatisfy(ASCII.isToken), tag(of: entry) == nil {
                    newTag = ";tag=" + toTag
                }
            default: continue
            }
            chosen.append(entry)
            size += Int(entry.valueLength)
        }
        let values = [UInt8](unsafeUninitializedCapacity: size + (newTag?.utf8.count ?? 0)) { target, count in
            storage.withUnsafeBufferPointer { bytes in
                for index in chosen.indices {
                    let range = chosen[index].valueRange
                    chosen[index].valueStart = UInt32(count)
                    if let base = target.baseAddress, let from = bytes.baseAddress {
                        (base + count).initialize(from: from + range.lowerBound, count: range.count)
                    }
                    count += range.count
                    guard chosen[index].known == .to, let tag = newTag else { continue }
                    for byte in tag.utf8 {
                        target[count] = byte
                        count += 1
                    }
                    chosen[index].valueLength += UInt32(tag.utf8.count)
                    newTag = nil
                }
            }
        }
        return SIPHeaders(storage: values, entries: chosen)
    }
}
