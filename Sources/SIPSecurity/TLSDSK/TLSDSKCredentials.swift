import COpenSSL

/// The certificate and key of one end of TLS-DSK, and the authority that issues the certificates of the other end.
///
/// The handshake uses TLS 1.0 to 1.2, as clients in use require; no data are encrypted with it. Cipher suites have a keyed hash,
/// which also signs the later messages, and SHA-1 comes first, because all clients support it. The old versions need security level 0
/// of OpenSSL; certificates must still meet level 2: RSA keys of 2048 bits, no SHA-1 signatures.
public final class TLSDSKCredentials: Sendable {
    /// The unusable input, with the reason.
    public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// The input at fault.
        public enum Field: String, Hashable, Sendable { case certificate, key, authority }

        /// The input at fault.
        public var field: Field
        /// The error text of OpenSSL, or a message of Isthmus.
        public var reason: String

        /// `FIELD: REASON`.
        public var description: String { "\(field.rawValue): \(reason)" }
    }

    private static let suites =
        "ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:AES256-SHA:AES128-SHA:"
        + "ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:AES256-SHA256:AES128-SHA256:@SECLEVEL=0"

    /// Written only in `init`; using OpenSSL's context for handshakes is thread-safe.
    private nonisolated(unsafe) let context: OpaquePointer
    private let isServer: Bool

    /// Creates the credentials of a server.
    ///
    /// - Parameters:
    ///   - certificate: PEM; the server's certificate first, then intermediate certificates.
    ///   - key: PEM, unencrypted.
    ///   - clientAuthority: PEM; the authorities that may issue certificates of clients.
    /// - Throws: ``Problem`` with the input at fault.
    public convenience init(certificate: [UInt8], key: [UInt8], clientAuthority: [UInt8]) throws(Problem) {
        try self.init(certificate: certificate, key: key, authority: clientAuthority, isServer: true)
    }

    /// Creates the credentials of a client; `serverAuthority` holds the authorities for certificates of servers.
    /// - Throws: ``Problem`` with the input at fault.
    public convenience init(certificate: [UInt8], key: [UInt8], serverAuthority: [UInt8]) throws(Problem) {
        try self.init(certificate: certificate, key: key, authority: serverAuthority, isServer: false)
    }

    private init(certificate: [UInt8], key: [UInt8], authority: [UInt8], isServer: Bool) throws(Problem) {
        guard let context = SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method()) else {
            throw Problem(field: .certificate, reason: "OpenSSL cannot make a TLS context")
        }
        (self.context, self.isServer) = (context, isServer)
        guard isthmus_ssl_set_versions(context, TLS1_VERSION, TLS1_2_VERSION) == 1, SSL_CTX_set_cipher_list(context, Self.suites) == 1
        else { throw Problem(field: .certificate, reason: "OpenSSL lacks the cipher suites of TLS-DSK") }
        isthmus_ssl_restrict(context)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        SSL_CTX_set_verify_depth(context, 4)
        // Without this callback OpenSSL would check certificates at the level of the cipher suites.
        SSL_CTX_set_cert_verify_callback(
            context,
            { store, _ in
                X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(store), 2)
                return X509_verify_cert(store)
            }, nil)
        try useOwn(certificate, key)
        try trust(authority)
    }

    deinit { SSL_CTX_free(context) }

    /// Starts a handshake of this end; nil if memory is exhausted.
    func handshake() -> TLSHandshake? { TLSHandshake(context: context, isServer: isServer) }

    private func useOwn(_ certificate: [UInt8], _ key: [UInt8]) throws(Problem) {
        let chain = Self.certificates(certificate)
        defer { chain.forEach { X509_free($0) } }
        guard let own = chain.first else { throw Problem(field: .certificate, reason: "holds no certificate in PEM form") }
        guard SSL_CTX_use_certificate(context, own) == 1 else { throw Problem(field: .certificate, reason: Self.lastReason) }
        for link in chain.dropFirst() where isthmus_ssl_add_chain(context, link) != 1 {
            throw Problem(field: .certificate, reason: Self.lastReason)
        }
        let read = Self.reading(key) { source in
            // Fail instead of prompting for a passphrase.
            PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let read else { throw Problem(field: .key, reason: "holds no private key in PEM form that can be read without a passphrase") }
        defer { EVP_PKEY_free(read) }
        guard SSL_CTX_use_PrivateKey(context, read) == 1, SSL_CTX_check_private_key(context) == 1 else {
            throw Problem(field: .key, reason: "is not the key of the certificate")
        }
        ERR_clear_error()
    }

    private func trust(_ authority: [UInt8]) throws(Problem) {
        let trusted = Self.certificates(authority)
        defer { trusted.forEach { X509_free($0) } }
        guard !trusted.isEmpty else { throw Problem(field: .authority, reason: "holds no certificate in PEM form") }
        for certificate in trusted {
            guard X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate) == 1 else {
                throw Problem(field: .authority, reason: Self.lastReason)
            }
            if isServer { SSL_CTX_add_client_CA(context, certificate) }
        }
    }

    /// Parses all certificates of a PEM text; the caller frees them.
    private static func certificates(_ text: [UInt8]) -> [OpaquePointer] {
        var result: [OpaquePointer] = []
        _ = reading(text) { source -> OpaquePointer? in
            while let certificate = PEM_read_bio_X509(source, nil, nil, nil) { result.append(certificate) }
            return nil
        }
        ERR_clear_error()
        return result
    }

    private static func reading(_ text: [UInt8], _ read: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
        text.withUnsafeBytes { bytes in
            guard let source = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { BIO_free(source) }
            return read(source)
        }
    }

    private static var lastReason: String {
        ERR_reason_error_string(ERR_peek_last_error()).map { String(cString: $0) } ?? "OpenSSL refuses it"
    }
}
