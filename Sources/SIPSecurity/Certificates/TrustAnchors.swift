import COpenSSL
import SIPCore

/// The reason a certificate chain is not trusted (RFC 5280 6), with the certificate at fault.
public struct ChainRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure, most informative first: of several root sets that refuse a chain, the first kind is reported.
    public enum Rule: String, Hashable, Sendable, CaseIterable {
        case expired, notYetValid, wrongPurpose, weak, invalid, unknownRoot, selfSigned
    }

    /// The kind of failure.
    public var rule: Rule
    /// The certificate at fault: the peer's own, or one between it and the root.
    public var certificate: Certificate
    /// The error text of OpenSSL with the section, or a message of Isthmus.
    public var reason: String

    /// `CERTIFICATE: REASON`.
    public var description: String { "\(certificate): \(reason)" }
}

/// A set of root certificates. Chains are verified by OpenSSL at security level 2: keys and hashes of at least 112 bits.
public final class TrustAnchors: Sendable {
    /// The role of the peer in the connection.
    public enum Role: Sendable { case client, server }

    /// Largest number of certificates between the peer's and the root.
    private static let depth: Int32 = 8

    /// The root certificates as given.
    public let roots: [Certificate]
    /// Written only in `init`; reading OpenSSL's store is thread-safe.
    private nonisolated(unsafe) let store: OpaquePointer

    /// Creates a set; nil if it is empty or OpenSSL refuses a root.
    public init?(_ roots: [Certificate]) {
        guard !roots.isEmpty, let store = X509_STORE_new() else { return nil }
        for root in roots {
            guard let read = Certificate.x509(root.octets) else {
                X509_STORE_free(store)
                return nil
            }
            let isTaken = X509_STORE_add_cert(store, read) == 1
            X509_free(read)
            guard isTaken else {
                X509_STORE_free(store)
                ERR_clear_error()
                return nil
            }
        }
        ERR_clear_error()
        self.roots = roots
        self.store = store
    }

    deinit { X509_STORE_free(store) }

    /// Verifies that a chain leads to one of the roots at a time.
    ///
    /// A certificate with extendedKeyUsage needs a purpose for TLS or SIP domains (RFC 5924 4). A client may present a server
    /// certificate, because many authorities issue no others; a server may not present a client certificate.
    ///
    /// - Parameter chain: The peer's certificate first, the others in any order; must not be empty.
    /// - Throws: ``ChainRefusal`` with the first failure.
    public func verify(_ chain: [Certificate], as role: Role, at now: Instant) throws(ChainRefusal) {
        guard let leaf = chain.first else { preconditionFailure("a chain has a certificate") }
        let read = chain.map { Certificate.x509($0.octets) }
        defer { read.forEach { $0.map { X509_free($0) } } }
        guard let own = read[0], let others = OPENSSL_sk_new_null(), let context = X509_STORE_CTX_new() else {
            throw ChainRefusal(rule: .invalid, certificate: leaf, reason: "the certificate cannot be read")
        }
        defer {
            X509_STORE_CTX_free(context)
            OPENSSL_sk_free(others)
            ERR_clear_error()
        }
        for other in read.dropFirst() { if let other { OPENSSL_sk_push(others, UnsafeRawPointer(other)) } }
        guard X509_STORE_CTX_init(context, store, own, others) == 1, let parameters = X509_STORE_CTX_get0_param(context) else {
            throw ChainRefusal(rule: .invalid, certificate: leaf, reason: "out of memory")
        }
        X509_VERIFY_PARAM_set_time(parameters, Int(now.secondsSince1970))
        X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        X509_VERIFY_PARAM_set_depth(parameters, Self.depth)
        guard X509_verify_cert(context) == 1 else { throw refusal(context, leaf) }
        try checkPurpose(of: leaf, as: role)
    }

    private func checkPurpose(of leaf: Certificate, as role: Role) throws(ChainRefusal) {
        guard let purposes = leaf.purposes else { return }
        let server = "1.3.6.1.5.5.7.3.1"
        let client = "1.3.6.1.5.5.7.3.2"
        let taken: Set<String> = ["2.5.29.37.0", "1.3.6.1.5.5.7.3.20", server]
        guard purposes.contains(where: { taken.contains($0) || (role == .client && $0 == client) }) else {
            throw ChainRefusal(
                rule: .wrongPurpose, certificate: leaf,
                reason: "its extendedKeyUsage is not for \(role == .server ? "servers" : "TLS") (RFC 5280 4.2.1.12, RFC 5924 4)")
        }
    }

    private func refusal(_ context: OpaquePointer, _ leaf: Certificate) -> ChainRefusal {
        let code = X509_STORE_CTX_get_error(context)
        var blamed = leaf
        if let current = X509_STORE_CTX_get_current_cert(context), let other = Certificate(copying: current) { blamed = other }
        let text = String(cString: X509_verify_cert_error_string(Int(code)))
        return ChainRefusal(rule: Self.rule(of: code), certificate: blamed, reason: "\(text) (RFC 5280 6)")
    }

    static func rule(of code: Int32) -> ChainRefusal.Rule {
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        case X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_INVALID_CA: .wrongPurpose
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK: .weak
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED:
            .unknownRoot
        default: .invalid
        }
    }
}

extension Certificate {
    /// - Parameter read: Not freed.
    fileprivate init?(copying read: OpaquePointer) {
        guard let octets = Self.octets(of: read) else { return nil }
        self.init(octets: octets)
    }
}
