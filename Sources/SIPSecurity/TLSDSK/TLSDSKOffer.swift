/// The settings of a server that offers TLS-DSK.
public struct TLSDSKOffer: Sendable {
    /// Certificate, key and client authority.
    public var credentials: TLSDSKCredentials
    /// URI at which clients obtain a certificate (`sts-uri`, MS-SIPAE 2.2.1); nil: not advertised.
    public var certificateService: String?

    /// Creates an offer.
    public init(credentials: TLSDSKCredentials, certificateService: String? = nil) {
        self.credentials = credentials
        self.certificateService = certificateService
    }
}
