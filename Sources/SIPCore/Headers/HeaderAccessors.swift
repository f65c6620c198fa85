/// Typed views of the header fields. Getters return nil if the field is absent or malformed (the parser refuses malformed Via,
/// From, To, CSeq, Call-ID, Content-Length and Max-Forwards); setting nil removes the field.
extension SIPHeaders {
    /// Via values, topmost first (RFC 3261 20.42).
    public var vias: [Via] {
        get { parsedList(.via) }
        set { setList(.via, newValue.map(\.description)) }
    }

    /// Topmost Via value; setting it keeps the others.
    public var topVia: Via? {
        get { parsedFirst(.via) }
        set { replaceFirstListValue(.via, newValue?.description) }
    }

    /// From (RFC 3261 20.20).
    public var from: NameAddr? {
        get { parsedFirst(.from) }
        set { setOptional(.from, newValue?.description) }
    }

    /// To (RFC 3261 20.39).
    public var to: NameAddr? {
        get { parsedFirst(.to) }
        set { setOptional(.to, newValue?.description) }
    }

    /// Tag of From, read without creating a name-addr.
    public var fromTag: String? { tag(.from) }

    /// Tag of To, read without creating a name-addr.
    public var toTag: String? { tag(.to) }

    /// Call-ID (RFC 3261 20.8), case-sensitive.
    public var callID: String? {
        get { first(.callID) }
        set { setOptional(.callID, newValue) }
    }

    /// CSeq (RFC 3261 20.16).
    public var cSeq: CSeq? {
        get { parsedFirst(.cSeq) }
        set { setOptional(.cSeq, newValue?.description) }
    }

    /// Max-Forwards, 0 to 255 (RFC 3261 20.22); larger numbers are read as 255.
    public var maxForwards: Int? {
        get { first(.maxForwards).flatMap(DeltaSeconds.parse).map { Int(min($0, 255)) } }
        set { setOptional(.maxForwards, newValue.map(String.init)) }
    }

    /// Event (RFC 6665 8.2.1).
    public var event: Event? {
        get { parsedFirst(.event) }
        set { setOptional(.event, newValue?.description) }
    }

    /// Subscription-State (RFC 6665 8.2.3).
    public var subscriptionState: SubscriptionState? {
        get { parsedFirst(.subscriptionState) }
        set { setOptional(.subscriptionState, newValue?.description) }
    }

    /// Expires in seconds (RFC 3261 20.19); numbers above 2^32 - 1 are read as that.
    public var expires: UInt32? {
        get { first(.expires).flatMap(DeltaSeconds.parse) }
        set { setOptional(.expires, newValue.map { String($0) }) }
    }

    /// Min-Expires in seconds (RFC 3261 20.23).
    public var minExpires: UInt32? {
        get { first(.minExpires).flatMap(DeltaSeconds.parse) }
        set { setOptional(.minExpires, newValue.map { String($0) }) }
    }

    /// Accept elements in order, malformed ones omitted; also empty if the header is absent (see ``SIPHeaders/contains(_:)``).
    public var accept: [MediaType] {
        get { parsedList(.accept) }
        set { setOptional(.accept, newValue.isEmpty ? nil : newValue.map(\.description).joined(separator: ", ")) }
    }

    /// Content-Type (RFC 3261 20.15).
    public var contentType: MediaType? {
        get { parsedFirst(.contentType) }
        set { setOptional(.contentType, newValue?.description) }
    }

    /// Retry-After (RFC 3261 20.33).
    public var retryAfter: RetryAfter? {
        get { parsedFirst(.retryAfter) }
        set { setOptional(.retryAfter, newValue?.description) }
    }

    /// SIP-ETag: entity-tag that a compositor assigned (RFC 3903 11.3.1).
    public var sipETag: String? {
        get { first(.sipETag) }
        set { setOptional(.sipETag, newValue) }
    }

    /// SIP-If-Match: entity-tag that a PUBLISH refers to (RFC 3903 11.3.2).
    public var sipIfMatch: String? {
        get { first(.sipIfMatch) }
        set { setOptional(.sipIfMatch, newValue) }
    }

    /// Warning values (RFC 3261 20.43), malformed ones omitted.
    public var warnings: [Warning] { parsedList(.warning) }

    /// Reason values (RFC 3326), malformed ones omitted.
    public var reasons: [Reason] { parsedList(.reason) }

    /// First ms-diagnostics value (MS-OCER 2.2.1).
    public var msDiagnostics: MSDiagnostics? {
        get { parsedFirst(.msDiagnostics) }
        set { setOptional(.msDiagnostics, newValue?.description) }
    }

    /// CSeq number of the NOTIFY that this response replaces (MS-SIP 3.4.5.1).
    public var msPiggybackCSeq: UInt32? {
        get { first(.msPiggybackCSeq).flatMap(DeltaSeconds.parse) }
        set { setOptional(.msPiggybackCSeq, newValue.map { String($0) }) }
    }

    /// The option tags of Supported (RFC 3261 20.37).
    public var supported: [String] { list(.supported) }

    /// The option tags of Require (RFC 3261 20.32).
    public var require: [String] { list(.require) }

    /// The option tags of Proxy-Require (RFC 3261 20.29).
    public var proxyRequire: [String] { list(.proxyRequire) }

    /// The methods of Allow (RFC 3261 20.5).
    public var allow: [SIPMethod] { list(.allow).map(SIPMethod.init(rawValue:)) }

    /// Whether Supported or Require contains the option tag, ignoring case.
    public func offers(_ optionTag: String) -> Bool { hasToken(.supported, optionTag) || hasToken(.require, optionTag) }
}
