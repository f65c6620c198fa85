import SIPCore
import Synchronization

/// Signatures of requests and responses under an association, common to all MS-SIPAE schemes (3.1.4, 3.3.4, 3.3.5.2).
///
/// A wrong signature is not counted as a failure of its address: keys of 128 bits cannot be guessed, and a forged datagram must not
/// pause the users of the address.
extension Authenticator {
    func checkSignature(
        _ value: AuthorizationValue, _ opaque: String, isProxy: Bool, _ request: SIPRequest, _ claim: Claim,
        _ demand: AuthenticationDemand, at now: Instant
    ) -> AuthenticationOutcome {
        guard let (association, number) = verified(value, opaque, request) else { return challenge(claim, demand, .wrong, at: now) }
        guard association.identity == claim.identity else { return Self.wrongIdentity }
        guard isStillUser(association) else {
            tables.withLock { $0.associations.end(association.id) }
            return challenge(claim, demand, .wrong, at: now)
        }
        guard association.endpoint == claim.endpoint,
            tables.withLock({ $0.associations.accept(association.id, number: number, flow: claim.flow, isProxy: isProxy) })
        else { return challenge(claim, demand, .wrong, at: now) }
        return .accepted(identity: association.identity, association: association.id)
    }

    /// Whether the user still exists, with the password used at sign-in.
    private func isStillUser(_ association: SecurityAssociation) -> Bool {
        switch association.proof {
        case .password(let login, let account): lookup(login) == account
        case .certificate: isUser(association.identity)
        }
    }

    /// The association and number of a signed request; nil if the signature is wrong or the association unknown.
    private func verified(_ value: AuthorizationValue, _ opaque: String, _ request: SIPRequest) -> (SecurityAssociation, UInt32)? {
        guard let association = tables.withLock({ $0.associations[opaque.lowercased()]?.association }),
            value.isScheme(association.keys.scheme), let number = verifiedNumber(value, association, request)
        else { return nil }
        return (association, number)
    }

    /// The number of a request; nil if its signature is wrong.
    func verifiedNumber(_ value: AuthorizationValue, _ association: SecurityAssociation, _ request: SIPRequest) -> UInt32? {
        guard let random = value["crand"], random.utf8.count <= 64, let numberText = value["cnum"], let number = UInt32(numberText),
            let response = value["response"].flatMap({ Hexadecimal.bytes($0) })
        else { return nil }
        let buffer = SignatureBuffer(
            .init(
                scheme: value.scheme, random: random, number: numberText, realm: Self.realm, targetName: value["targetname"] ?? ""),
            request.headers, status: nil, version: association.version)
        return ConstantTime.equal(association.keys.signature(of: buffer.text, .clientToServer), response) ? number : nil
    }

    /// Signs a response under the association of its request; unchanged if the association has ended.
    public func sign(_ response: inout SIPResponse, under association: String) {
        guard let (header, name) = signature(under: association, response.headers, status: response.status) else { return }
        response.headers.set(name, header)
    }

    /// Signs a response that is sent before authentication, if the request has a valid signature.
    ///
    /// Changes no state: no handshake is started, advanced or ended, no number is marked as used, and no failure is counted.
    public func sign(_ response: inout SIPResponse, to request: SIPRequest, at now: Instant) {
        guard request.headers.contains(.authorization) || request.headers.contains(.proxyAuthorization),
            let from = request.headers.from
        else { return }
        tables.withLock { $0.associations.sweep(at: now) }
        for name in [SIPHeaderName.authorization, .proxyAuthorization] {
            for line in request.headers.values(name).prefix(Self.credentialLimit) {
                guard let value = AuthorizationValue(line), isOurs(value), let opaque = value["opaque"] else { continue }
                guard let (association, _) = verified(value, opaque, request), association.identity == from.uri.aorKey,
                    association.endpoint == from.parameters["epid"] ?? ""
                else { return }
                return sign(&response, under: association.id)
            }
        }
    }

    /// Signs a request of this server if its connection or remote address is the last known one of an association of the user in To
    /// (MS-SIPAE 3.3.4).
    public func sign(_ request: inout SIPRequest, connection: ConnectionID?, remote: TransportAddress?, at now: Instant) {
        guard let to = request.headers.to else { return }
        let flow = ClientFlow(identity: to.uri.aorKey, connection: connection, remote: remote)
        let id = tables.withLock { tables in
            tables.associations.sweep(at: now)
            return tables.associations.association(at: flow)
        }
        guard let id, let (header, name) = signature(under: id, request.headers, status: nil) else { return }
        request.headers.set(name, header)
    }

    private func signature(under id: String, _ message: SIPHeaders, status: SIPStatus?) -> (String, SIPHeaderName)? {
        let drawn = tables.withLock { tables -> (AssociationTable.Entry, UInt32, [UInt8])? in
            guard let number = tables.associations.nextServerNumber(id), let entry = tables.associations[id] else { return nil }
            return (entry, number, tables.keys.draw(4))
        }
        guard let (entry, number, octets) = drawn else { return nil }
        let association = entry.association
        let random = Hexadecimal.text(octets).uppercased()
        let buffer = SignatureBuffer(
            .init(
                scheme: association.keys.scheme, random: random, number: String(number), realm: Self.realm,
                targetName: association.targetName),
            message, status: status, version: association.version)
        let proof = Hexadecimal.text(association.keys.signature(of: buffer.text, .serverToClient))
        let header =
            "\(association.keys.scheme) qop=\"auth\", opaque=\"\(id)\", srand=\"\(random)\", snum=\"\(number)\", rspauth=\"\(proof)\", "
            + "targetname=\"\(association.targetName)\", realm=\"\(Self.realm)\", version=\(association.version)"
        return (header, entry.isProxy ? .proxyAuthenticationInfo : .authenticationInfo)
    }
}
