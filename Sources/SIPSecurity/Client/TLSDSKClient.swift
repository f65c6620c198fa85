import SIPCore

/// The client side of TLS-DSK in SIP (MS-SIPAE 3.2.5.1): signs in with a certificate, signs requests, verifies messages.
public struct TLSDSKClient: Sendable {
    private let credentials: TLSDSKCredentials
    private var secrets: SecretKeys
    private var targetName = ""
    private var opaque: String?
    private var handshake: TLSHandshake?
    /// The flight for the next request.
    private var flight: [UInt8]?
    private var signature: ClientSignature?

    /// Creates a client.
    /// - Parameter secret: 32 or more random octets.
    public init(credentials: TLSDSKCredentials, secret: [UInt8]) {
        self.credentials = credentials
        secrets = SecretKeys(secret)
    }

    /// Whether the handshake has finished, so that requests are signed.
    public var isSigning: Bool { signature != nil }

    /// Processes a 401: an offer of TLS-DSK, or a flight of the server.
    /// - Returns: whether to repeat the request after ``authorize(_:)``; false if the server refused the certificate, or its own
    ///   certificate does not name it.
    public mutating func receive(challenge response: SIPResponse, at now: Instant) -> Bool {
        for line in response.headers.values(.wwwAuthenticate) {
            guard let value = AuthorizationValue(line), value.isScheme("TLS-DSK"), value["realm"] == Authenticator.realm,
                let target = value["targetname"]
            else { continue }
            guard let token = value["gssapi-data"] else {
                // An offer during a handshake is a refusal; an offer for a signed request ends the association.
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

    /// Sets Authorization to the next flight, or to a signature; does nothing before the first offer.
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
    /// - Parameter status: The status of a response; nil for a request.
    public func verifies(_ message: SIPHeaders, status: SIPStatus?) -> Bool {
        signature?.verifies(message, status: status, opaque: opaque) ?? false
    }
}
