import SIPCore

/// The client's end of TLS-DSK in SIP (MS-SIPAE 3.2.5.1): signs in with a certificate, signs every request, verifies every message.
public struct TLSDSKClient: Sendable {
    private let credentials: TLSDSKCredentials
    private var secrets: SecretKeys
    private var targetName = ""
    private var opaque: String?
    private var handshake: TLSHandshake?
    /// The flight that the next request carries.
    private var flight: [UInt8]?
    private var signature: ClientSignature?

    /// - Parameter secret: 32 octets of randomness.
    public init(credentials: TLSDSKCredentials, secret: [UInt8]) {
        self.credentials = credentials
        secrets = SecretKeys(secret)
    }

    /// Whether the handshake is over, so that requests are signed.
    public var isSigning: Bool { signature != nil }

    /// Takes a 401 in: the offer of TLS-DSK, or the server's flight.
    /// - Returns: whether there is something to try: the same request again, made ready by ``authorize(_:at:)``. There is not when the
    ///   server refused the certificate, or has one that is not its own.
    public mutating func receive(challenge response: SIPResponse, at now: Instant) -> Bool {
        for line in response.headers.values(.wwwAuthenticate) {
            guard let value = AuthorizationValue(line), value.isScheme("TLS-DSK"), value["realm"] == Authenticator.realm,
                let target = value["targetname"]
            else { continue }
            guard let token = value["gssapi-data"] else {
                // An offer in the middle of a handshake is a refusal; one to a signed request is the end of the association.
                guard handshake == nil else { return false }
                (targetName, opaque, signature) = (target, nil, nil)
                handshake = credentials.handshake()
                return take([], at: now)
            }
            guard handshake != nil, let octets = Base64.bytes(token), let name = value["opaque"] else { return false }
            opaque = name
            return take(octets, at: now)
        }
        return false
    }

    private mutating func take(_ octets: [UInt8], at now: Instant) -> Bool {
        switch handshake?.step(octets, at: now) {
        case .more(let next)?:
            flight = next
            return true
        case .done(let rest, let established)?:
            guard rest.isEmpty, established.peer.names(host: targetName) else { return false }
            (handshake, flight) = (nil, nil)
            signature = ClientSignature(.tlsDSK(established.keys), targetName: targetName)
            return true
        case .failed?, nil:
            (handshake, flight) = (nil, nil)
            return false
        }
    }

    /// Puts Authorization on a request: the next flight, or a signature.
    public mutating func authorize(_ request: inout SIPRequest) {
        guard !targetName.isEmpty else { return }
        var value = ClientSignature.head("TLS-DSK", targetName: targetName, opaque: opaque)
        if let signed = signature?.parameters(for: request.headers, random: secrets.draw(4)) {
            value += signed
        } else if let flight {
            value += ", gssapi-data=\"\(Base64.text(flight))\", version=4"
        }
        request.headers.set(.authorization, value)
    }

    /// Whether the server signed this message with the keys of this sign-in.
    /// - Parameter status: Of a response; nil for a request.
    public func verifies(_ message: SIPHeaders, status: SIPStatus?) -> Bool {
        signature?.verifies(message, status: status, opaque: opaque) ?? false
    }
}
