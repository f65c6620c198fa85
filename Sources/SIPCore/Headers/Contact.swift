extension NameAddr {
    /// The Contact `q` in thousandths, 1000 if not written (RFC 3261 20.10).
    public var quality: Int { MediaType("*", "*", parameters: parameters).quality }

    /// The Contact `expires` in seconds (RFC 3261 20.10).
    public var expires: UInt32? { parameters["expires"].flatMap(DeltaSeconds.parse) }

    /// The Contact `+sip.instance` without quotes, such as `<urn:uuid:...>` (RFC 5626 4.1).
    public var sipInstance: String? { parameters["+sip.instance"] }
}

extension SIPHeaders {
    /// Every Contact value that can be read, in order; empty for `*`.
    public var contacts: [NameAddr] { parsedList(.contact) }

    /// The first Contact value: the remote target of a dialog (RFC 3261 12.1).
    public var contact: NameAddr? {
        get { parsedFirst(.contact) }
        set { setOptional(.contact, newValue?.description) }
    }
}
