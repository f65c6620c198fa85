import FederationRouting
import SIPCore

/// Assertions about the sender in received requests.
extension RequestScreening {
    /// The sender of a request: the identity asserted by a trusted neighbour (RFC 3325 9.1), else From. Other assertions were removed
    /// before.
    static func sender(of request: SIPRequest) throws(Refusal) -> SIPURI {
        guard let from = request.headers.from?.uri else { throw .badRequest("RFC 3261 20.20: From cannot be read") }
        let anonymous = try Self.anonymousSender(request.headers, from: from)
        guard let asserted = request.headers.assertedIdentities.lazy.map(\.uri).first(where: \.scheme.hasHost) else {
            return anonymous ?? from
        }
        if let anonymous, Self.hidesIdentity(request.headers) { return anonymous }
        // The upstream SUBSCRIBE names the watcher, so a watcher that must not be named cannot be served.
        if Self.hidesIdentity(request.headers), asserted.aorKey != from.aorKey {
            throw Refusal(SIPStatus(rawValue: 433), "RFC 5079 5: a watcher that hides its identity is not served")
        }
        return asserted
    }

    /// Whether Privacy hides the sender's identity from untrusted networks (RFC 3323 4.2, RFC 3325 9.3).
    static func hidesIdentity(_ headers: SIPHeaders) -> Bool {
        headers.values(.privacy).flatMap { $0.split { $0 == ";" || $0 == "," } }
            .contains { ["id", "user", "header"].contains($0.filter { $0 != " " }.lowercased()) }
    }

    /// The network that an edge server of our enterprise marked in a request; nil: none.
    static func markedNetwork(_ headers: SIPHeaders) -> DomainNetwork? {
        var mark = headers.first(.msSourceNetwork)?.lowercased()
        if mark == nil, let trust = headers.first(.msEdgeProxyMessageTrust) {
            let part = trust.split(separator: ";").first { $0.filter { $0 != " " }.lowercased().hasPrefix("ms-source-network=") }
            mark = part.map { String($0.drop { $0 != "=" }.dropFirst()).lowercased() }
        }
        switch mark.map({ $0.filter { $0 != " " } }) {
        case "publiccloud": return .publicCloud
        case "federation": return .federated
        default: return nil
        }
    }
}
