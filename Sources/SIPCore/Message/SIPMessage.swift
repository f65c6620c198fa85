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
        headers = source.answer(copiesRoute: copiesRoute, isTrying: status == .trying, toTag: toTag)
    }

    /// The method of the request that this answers, from CSeq.
    public var method: SIPMethod? { headers.cSeq?.method }
}

extension SIPHeaders {
    /// The lines that an answer repeats, in one copy; `;tag=` is added to To unless it has one.
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
                // `sip:a@b` without brackets takes `;tag` as a header parameter too (RFC 3261 20), so appending is always right.
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
