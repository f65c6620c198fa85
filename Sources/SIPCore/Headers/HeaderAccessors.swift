/// Typed views of the headers. Reading nil means absent or malformed (the parser has already refused malformed Via, From, To, CSeq,
/// Call-ID, Content-Length and Max-Forwards); setting nil removes.
extension SIPHeaders {
    /// All Via values, topmost first (RFC 3261 20.42).
    public var vias: [Via] {
        get { parsedList(.via) }
        set { setList(.via, newValue.map(\.description)) }
    }

    /// The topmost Via value.
    public var topVia: Via? {
        get { parsedFirst(.via) }
        set { replaceFirstListValue(.via, newValue?.description) }
    }

    /// RFC 3261 20.20.
    public var from: NameAddr? {
        get { parsedFirst(.from) }
        set { setOptional(.from, newValue?.description) }
    }

    /// RFC 3261 20.39.
    public var to: NameAddr? {
        get { parsedFirst(.to) }
        set { setOptional(.to, newValue?.description) }
    }

    /// The tag of From without reading the rest.
    public var fromTag: String? { tag(.from) }

    /// The tag of To without reading the rest.
    public var toTag: String? { tag(.to) }

    /// RFC 3261 20.8; compares byte for byte.
    public var callID: String? {
        get { first(.callID) }
        set { setOptional(.callID, newValue) }
    }

    /// RFC 3261 20.16.
    public var cSeq: CSeq? {
        get { parsedFirst(.cSeq) }
        set { setOptional(.cSeq, newValue?.description) }
    }

    /// RFC 3261 20.22: 0 to 255; larger numbers read as 255.
    public var maxForwards: Int? {
        get { first(.maxForwards).flatMap(DeltaSeconds.parse).map { Int(min($0, 255)) } }
        set { setOptional(.maxForwards, newValue.map(String.init)) }
    }

    /// RFC 6665 8.2.1.
    public var event: Event? {
        get { parsedFirst(.event) }
        set { setOptional(.event, newValue?.description) }
    }

    /// RFC 6665 8.2.3.
    public var subscriptionState: SubscriptionState? {
        get { parsedFirst(.subscriptionState) }
        set { setOptional(.subscriptionState, newValue?.description) }
    }

    /// Seconds; numbers beyond 2^32-1 read as that (RFC 3261 20.19).
    public var expires: UInt32? {
        get { first(.expires).flatMap(DeltaSeconds.parse) }
        set { setOptional(.expires, newValue.map { String($0) }) }
    }

    /// Seconds (RFC 3261 20.23).
    public var minExpires: UInt32? {
        get { first(.minExpires).flatMap(DeltaSeconds.parse) }
        set { setOptional(.minExpires, newValue.map { String($0) }) }
    }

    /// Elements in order, unreadable ones left out; empty also when the header is absent (see ``SIPHeaders/contains(_:)``).
    public var accept: [MediaType] {
        get { parsedList(.accept) }
        set { setOptional(.accept, newValue.isEmpty ? nil : newValue.map(\.description).joined(separator: ", ")) }
    }

    /// RFC 3261 20.15.
    public var contentType: MediaType? {
        get { parsedFirst(.contentType) }
        set { setOptional(.contentType, newValue?.description) }
    }

    /// RFC 3261 20.33.
    public var retryAfter: RetryAfter? {
        get { parsedFirst(.retryAfter) }
        set { setOptional(.retryAfter, newValue?.description) }
    }

    /// The entity-tag that a compositor gave (RFC 3903 11.3.1).
    public var sipETag: String? {
        get { first(.sipETag) }
        set { setOptional(.sipETag, newValue) }
    }

    /// The entity-tag that a publication refers to (RFC 3903 11.3.2).
    public var sipIfMatch: String? {
        get { first(.sipIfMatch) }
        set { setOptional(.sipIfMatch, newValue) }
    }

    /// RFC 3261 20.43.
    public var warnings: [Warning] { parsedList(.warning) }

    /// RFC 3326.
    public var reasons: [Reason] { parsedList(.reason) }

    /// MS-OCER 2.2.1.
    public var msDiagnostics: MSDiagnostics? {
        get { parsedFirst(.msDiagnostics) }
        set { setOptional(.msDiagnostics, newValue?.description) }
    }

    /// The CSeq number that a NOTIFY would have had whose content this answer carries (MS-SIP 3.4.5.1).
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

    /// Whether Supported or Require names the option tag (case-insensitive).
    public func offers(_ optionTag: String) -> Bool { hasToken(.supported, optionTag) || hasToken(.require, optionTag) }
}
