import SIPCore

/// Why a REGISTER is refused: the sender's fault, nothing was changed.
public struct RegistrationRefusal: Error, Hashable, Sendable {
    public var status: SIPStatus
    /// What is wrong, with the rule.
    public var explanation: String
    /// MS-OCER number for ms-diagnostics; nil: the status says enough.
    public var errorID: UInt32?
    /// Seconds for Min-Expires of a 423.
    public var minimumExpires: Int?
    /// Option tags for Require of a 421.
    public var required: [String] = []

    init(_ status: SIPStatus, _ explanation: String, errorID: UInt32? = nil) {
        self.status = status
        self.explanation = explanation
        self.errorID = errorID
    }
}

/// A REGISTER as the registrar reads it (RFC 3261 10.2, MS-SIPREGE 2.2.1).
public struct RegistrationRequest: Hashable, Sendable {
    /// Whose client asks.
    public enum Model: Hashable, Sendable {
        /// An enhanced presence client, which must name its endpoint.
        case enterprise
        /// RFC 3261: a binding is its Contact.
        case simple
    }

    public enum Wish: Hashable, Sendable {
        /// No Contact: say what is bound.
        case query
        /// `Contact: *` with Expires 0.
        case removeAll
        case bind([Requested])
    }

    /// One Contact.
    public struct Requested: Hashable, Sendable {
        public var contact: NameAddr
        public var endpoint: EndpointID?
        /// Seconds; nil: not said.
        public var expires: Int?
    }

    public var wish: Wish
    public var callID: String
    public var cSeq: UInt32
    /// The client speaks categories (MS-SIPREGE 2.2.1.5).
    public var speaksCategories: Bool
    /// The client asked for keep-alive by the hop (MS-CONMGMT 2.2.1).
    public var asksKeepAlive: Bool

    /// Checks the form of a REGISTER.
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
        wish = try Self.wish(headers, identity: identity, model: model)
    }

    private static func checkEvent(_ headers: SIPHeaders) throws(RegistrationRefusal) {
        let events = headers.values(.event)
        if events.count > 1 { throw RegistrationRefusal(.badRequest, "MS-SIPREGE 3.2.5.1: more than one Event") }
        if !events.isEmpty, headers.event?.package != "registration" {
            throw RegistrationRefusal(.badEvent, "MS-SIPREGE 3.2.5.1: Event is not registration", errorID: 4055)
        }
    }

    /// The endpoint that asks: by `+sip.instance` or `epid`, which must agree when both are there (MS-SIPRE 3.3.5.2).
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

    private static func wish(_ headers: SIPHeaders, identity: EndpointID?, model: Model) throws(RegistrationRefusal) -> Wish {
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
