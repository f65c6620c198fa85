/// What a server offers TLS-DSK with.
public struct TLSDSKOffer: Sendable {
    public var credentials: TLSDSKCredentials
    /// Where clients are told that they get a certificate (`sts-uri`, MS-SIPAE 2.2.1); nil: they must have one.
    public var certificateService: String?

    public init(credentials: TLSDSKCredentials, certificateService: String? = nil) {
        self.credentials = credentials
        self.certificateService = certificateService
    }
}
