import SIPCore

/// The refusal of a REGISTER because of the request or a limit; nothing was changed.
public struct RegistrationRefusal: Error, Hashable, Sendable {
    /// The status of the response.
    public var status: SIPStatus
    /// The error with the section of its rule.
    package var explanation: String
    /// Error number of MS-OCER for ms-diagnostics; nil: the response has none.
    package var errorID: UInt32?
    /// Min-Expires of a 423 in seconds; nil for other statuses.
    package var minimumExpires: Int?
    /// Option tags of Require in a 421.
    package var required: [String] = []

    init(_ status: SIPStatus, _ explanation: String, errorID: UInt32? = nil) {
        self.status = status
        self.explanation = explanation
        self.errorID = errorID
    }
}

/// A parsed REGISTER (RFC 3261 10.2, MS-SIPREGE 2.2.1).
public struct RegistrationRequest: Hashable, Sendable {
    /// The kind of client, which decides how an endpoint is identified.
    public enum Model: Hashable, Sendable {
        /// Enhanced presence client; must send `epid` or `+sip.instance`.
        case enterprise
        /// Client of RFC 3261; the Contact URI identifies the binding.
        case simple
    }

    /// The requested operation.
    public enum Operation: Hashable, Sendable {
        /// No Contact: the response lists the bindings.
        case query
        /// `Contact: *` with Expires 0: remove all bindings.
        case removeAll
        /// Add, refresh or remove one binding per Contact.
        case bind([Requested])
    }

    /// One Contact of the request.
    public struct Requested: Hashable, Sendable {
        /// The Contact as received.
        public var contact: NameAddr
        /// The endpoint identifier; nil for ``Model/simple``.
        public var endpoint: EndpointID?
        /// Requested interval in seconds, from the Contact or else from Expires; nil if neither has one; 0 removes the
        /// binding.
        public var expires: Int?
    }

    /// The requested operation.
    public var operation: Operation
    /// Call-ID of the request.
    public var callID: String
    /// CSeq number of the request.
    public var cSeq: UInt32
    /// Whether Supported has `msrtc-event-categories` (MS-SIPREGE 2.2.1.5).
    package var speaksCategories: Bool
    /// Whether the client requests hop-by-hop keep-alive (MS-CONMGMT 2.2.1).
    package var asksKeepAlive: Bool

    /// Parses and validates a REGISTER.
    /// - Throws: 400, 421 or 489 with the broken rule.
    public init(_ request: SIPRequest, model: Model) throws(RegistrationRefusal) {
        let headers = request.headers
        guard let callID = headers.callID, let cSeq = headers.cSeq else {
            throw RegistrationRefusal(.badRequest, "RFC 3261 10.2: a REGISTER needs Call-ID and CSeq")
        }
        self.callID = callID
        self.cSeq = cSeq.number
        try Self.checkEvent(headers)
        speaksCategories = headers.hasToken(.supported, "msrtc-event-categories")
        if speaksCategories, !headers.hasToken(.supported, "gruu-10") {
            var refusal = RegistrationRefusal(
                .extensionRequired, "MS-SIPREGE 2.2.1.5: msrtc-event-categories needs gruu-10", errorID: 2057)
            refusal.required = ["gruu-10"]
            throw refusal
        }
        let keepAlive = headers.values(.msKeepAlive)
        if keepAlive.count > 1 { throw RegistrationRefusal(.badRequest, "MS-CONMGMT 2.2.1: more than one ms-keep-alive") }
        asksKeepAlive = keepAlive.first.map { $0.prefix(3).lowercased() == "uac" } ?? false
        let identity = model == .enterprise ? try Self.identity(headers) : nil
        operation = try Self.operation(headers, identity: identity, model: model)
    }

    private static func checkEvent(_ headers: SIPHeaders) throws(RegistrationRefusal) {
        let events = headers.values(.event)
        if events.count > 1 { throw RegistrationRefusal(.badRequest, "MS-SIPREGE 3.2.5.1: more than one Event") }
        if !events.isEmpty, headers.event?.package != "registration" {
            throw RegistrationRefusal(.badEvent, "MS-SIPREGE 3.2.5.1: Event is not registration", errorID: 4055)
        }
    }

    /// The endpoint of the client from `+sip.instance` or `epid`, which must agree if both are present (MS-SIPRE 3.3.5.2).
    private static func identity(_ headers: SIPHeaders) throws(RegistrationRefusal) -> EndpointID {
        var byInstance: EndpointID?
        if let text = headers.contact?.sipInstance {
            guard let id = EndpointID(text) else {
                throw RegistrationRefusal(.badRequest, "MS-SIPRE 3.3.5.2: +sip.instance is no UUID", errorID: 4010)
            }
            byInstance = id
        }
        var byEPID: EndpointID?
        if let epid = headers.from?.epid, !epid.isEmpty {
            guard epid.utf8.count <= EndpointID.longestEPID else {
                throw RegistrationRefusal(.badRequest, "MS-SIPRE 2.2.1: epid has more than 16 characters", errorID: 4012)
            }
            byEPID = EndpointID(epid: epid)
        }
        if let byInstance, let byEPID, byInstance != byEPID {
            throw RegistrationRefusal(.badRequest, "MS-SIPRE 3.3.5.2: epid and +sip.instance name different endpoints")
        }
        guard let id = byInstance ?? byEPID else {
            throw RegistrationRefusal(.badRequest, "MS-SIPREGE 3.2.5.1: neither epid nor +sip.instance names the endpoint", errorID: 4010)
        }
        return id
    }

    private static func operation(_ headers: SIPHeaders, identity: EndpointID?, model: Model) throws(RegistrationRefusal) -> Operation {
        let expires = headers.expires.map { Int(clamping: $0) }
        if headers.contains(.expires), expires == nil {
            throw RegistrationRefusal(.badRequest, "RFC 3261 20.19: Expires cannot be read")
        }
        let lines = headers.values(.contact)
        if lines.isEmpty { return .query }
        if lines.contains("*") {
            guard lines.count == 1, expires == 0 else {
                throw RegistrationRefusal(.badRequest, "RFC 3261 10.2.2: Contact * stands alone, with Expires 0")
            }
            return .removeAll
        }
        let contacts = headers.contacts
        guard !contacts.isEmpty, contacts.count == headers.list(.contact).count, contacts.allSatisfy(\.uri.scheme.hasHost) else {
            throw RegistrationRefusal(.badRequest, "RFC 3261 20.10: a Contact cannot be read, or is no SIP URI")
        }
        if model == .enterprise, contacts.count > 1 {
            throw RegistrationRefusal(.badRequest, "MS-SIPREGE 3.2.5.1: an endpoint registers one Contact")
        }
        return .bind(
            contacts.map {
                Requested(contact: $0, endpoint: identity, expires: $0.expires.map { Int(clamping: $0) } ?? expires)
            })
    }
}
