import COpenSSL
import SIPCore

/// An X.509 certificate (RFC 5280): its octets and the fields used for decisions and messages.
public struct Certificate: Hashable, Sendable, CustomStringConvertible {
    /// The DER encoding.
    public let octets: [UInt8]
    /// The subject, such as `CN=edge.example.net,O=Example`; cut at 256 octets.
    public let subject: String
    /// The issuer, in the form of ``subject``.
    public let issuer: String
    /// The common name of the subject in lower case; nil if there is none, or more than one.
    public let commonName: String?
    /// The `dNSName`s in subjectAltName in lower case, including wildcards.
    public let dnsNames: [String]
    /// Hosts of the `sip:` URIs without user part in subjectAltName, in lower case (RFC 5922 7.1).
    public let sipDomains: [String]
    /// The IP addresses in subjectAltName as text.
    public let addresses: [String]
    /// Whether the certificate has subjectAltName, with any content.
    public let hasAlternativeNames: Bool
    /// Start of validity in seconds since 1970.
    public let notBefore: Int64
    /// End of validity in seconds since 1970, at most 9,000,000,000.
    public let notAfter: Int64
    /// SHA-256 of ``octets``: 64 hexadecimal digits in lower case.
    public let fingerprint: String
    /// Purposes in extendedKeyUsage as object identifiers; nil: all purposes.
    let purposes: [String]?

    /// Parses a certificate.
    /// - Parameter octets: The DER encoding without further octets.
    /// - Returns: nil if it is no certificate.
    public init?(octets: [UInt8]) {
        guard let read = Self.x509(octets) else { return nil }
        defer { X509_free(read) }
        self.init(read, octets: octets)
    }

    /// - Parameter read: Not freed.
    private init?(_ read: OpaquePointer, octets: [UInt8]) {
        guard let start = X509Fields.seconds(X509_get0_notBefore(read)), let end = X509Fields.seconds(X509_get0_notAfter(read)) else {
            return nil
        }
        let names = X509Fields.alternativeNames(of: read)
        self.octets = octets
        subject = X509Fields.text(ofName: X509_get_subject_name(read))
        issuer = X509Fields.text(ofName: X509_get_issuer_name(read))
        commonName = X509Fields.commonName(of: read)?.lowercased()
        dnsNames = names.hosts.map { $0.lowercased() }
        sipDomains = names.uris.compactMap { text in
            guard let uri = SIPURI(text), uri.scheme == .sip, uri.user == nil, !uri.host.isEmpty else { return nil }
            return uri.domainKey
        }
        addresses = names.addresses
        hasAlternativeNames = names.isPresent
        notBefore = start
        notAfter = end
        fingerprint = Hexadecimal.text(HashAlgorithm.sha256.digest(octets))
        purposes = X509Fields.purposes(of: read)
    }

    /// The certificates of a PEM text in its order; other blocks, such as keys, are skipped.
    public static func all(inPEM text: [UInt8]) -> [Certificate] {
        var result: [Certificate] = []
        text.withUnsafeBytes { bytes in
            guard let source = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return }
            defer { BIO_free(source) }
            while let read = PEM_read_bio_X509(source, nil, nil, nil) {
                defer { X509_free(read) }
                if let octets = octets(of: read), let certificate = Certificate(read, octets: octets) { result.append(certificate) }
            }
        }
        ERR_clear_error()
        return result
    }

    /// Whether the unencrypted private key in a PEM text belongs to this certificate.
    ///
    /// - Returns: nil if the text has no such key.
    public func isKept(byPEM key: [UInt8]) -> Bool? {
        defer { ERR_clear_error() }
        return key.withUnsafeBytes { bytes -> Bool? in
            guard let source = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { BIO_free(source) }
            // Fail instead of prompting for a passphrase.
            guard let key = PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in -1 }, nil), let read = Self.x509(octets) else {
                return nil
            }
            defer {
                EVP_PKEY_free(key)
                X509_free(read)
            }
            return X509_check_private_key(read, key) == 1
        }
    }

    /// Subject and names for logs.
    public var description: String {
        let names = sipDomains.map { "sip:" + $0 } + dnsNames + addresses
        return names.isEmpty ? subject : "\(subject) (\(PeerIdentity.brief(names)))"
    }

    /// Parses DER; the caller frees the result.
    static func x509(_ octets: [UInt8]) -> OpaquePointer? {
        defer { ERR_clear_error() }
        return octets.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            guard let read = d2i_X509(nil, &start, buffer.count) else { return nil }
            guard start == buffer.baseAddress.map({ $0 + buffer.count }) else {
                X509_free(read)
                return nil
            }
            return read
        }
    }

    static func octets(of read: OpaquePointer) -> [UInt8]? {
        let count = i2d_X509(read, nil)
        guard count > 0 else { return nil }
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, written in
            var start = buffer.baseAddress
            written = i2d_X509(read, &start) == count ? Int(count) : 0
        }
    }
}

extension PeerIdentity {
    /// The identity proved by a verified certificate.
    ///
    /// - Parameter roots: The names of the root sets that the chain leads to.
    public convenience init(_ certificate: Certificate, roots: Set<String>) {
        self.init(
            dnsNames: certificate.dnsNames, sipDomains: certificate.sipDomains, addresses: certificate.addresses,
            hasAlternativeNames: certificate.hasAlternativeNames, commonName: certificate.commonName, notAfter: certificate.notAfter,
            fingerprint: certificate.fingerprint, roots: roots)
    }
}
