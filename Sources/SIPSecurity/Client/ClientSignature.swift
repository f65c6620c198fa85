import SIPCore

/// Signs the requests of a client and verifies the server's signatures after sign-in with any scheme (MS-SIPAE 3.2.5.1).
struct ClientSignature: Sendable {
    private let keys: SigningKeys
    private let targetName: String
    /// Number of the client's last message.
    private var number: UInt32 = 0

    init(_ keys: SigningKeys, targetName: String) {
        self.keys = keys
        self.targetName = targetName
    }

    /// The common first part of Authorization values.
    static func head(_ scheme: String, targetName: String, opaque: String?) -> String {
        "\(scheme) qop=\"auth\", realm=\"\(Authenticator.realm)\", targetname=\"\(targetName)\""
            + (opaque.map { ", opaque=\"\($0)\"" } ?? "")
    }

    /// The parameters that sign a request with these headers.
    /// - Parameter random: 4 octets.
    mutating func parameters(for headers: SIPHeaders, random: [UInt8]) -> String {
        number += 1
        let random = Hexadecimal.text(random)
        let proof = signature(.clientToServer, of: headers, status: nil, scheme: keys.scheme, random: random, number: String(number))
        return ", crand=\"\(random)\", cnum=\"\(number)\", response=\"\(Hexadecimal.text(proof))\""
    }

    /// Whether the server signed this message.
    /// - Parameter status: The status of a response; nil for a request.
    func verifies(_ message: SIPHeaders, status: SIPStatus?, opaque: String?) -> Bool {
        guard let value = message.first(.authenticationInfo).flatMap({ AuthorizationValue($0) }), value["opaque"] == opaque,
            let random = value["srand"], let number = value["snum"], let proof = value["rspauth"].flatMap({ Hexadecimal.bytes($0) })
        else { return false }
        let own = signature(.serverToClient, of: message, status: status, scheme: value.scheme, random: random, number: number)
        return ConstantTime.equal(own, proof)
    }

    private func signature(
        _ direction: SigningDirection, of headers: SIPHeaders, status: SIPStatus?, scheme: String, random: String, number: String
    ) -> [UInt8] {
        let buffer = SignatureBuffer(
            .init(scheme: scheme, random: random, number: number, realm: Authenticator.realm, targetName: targetName), headers,
            status: status, version: 4)
        return keys.signature(of: buffer.text, direction)
    }
}
