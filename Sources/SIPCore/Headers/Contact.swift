extension NameAddr {
    /// Quality of a Contact (`q`) in thousandths, 0 to 1000; 1000 when absent (RFC 3261 20.10).
    public var quality: Int { MediaType("*", "*", parameters: parameters).quality }

    /// `expires` of a Contact in seconds (RFC 3261 20.10); nil when absent or malformed.
    public var expires: UInt32? { parameters["expires"].flatMap(DeltaSeconds.parse) }

    /// `+sip.instance` of a Contact without quotes, such as `<urn:uuid:...>` (RFC 5626 4.1).
    public var sipInstance: String? { parameters["+sip.instance"] }
}

extension SIPHeaders {
    /// Contact values in order, malformed ones omitted; empty for `*`.
    public var contacts: [NameAddr] { parsedList(.contact) }

    /// First Contact value: the remote target of a dialog (RFC 3261 12.1).
    public var contact: NameAddr? {
        get { parsedFirst(.contact) }
        set { setOptional(.contact, newValue?.description) }
    }
}
