import COpenSSL
import SIPCore

/// One X.509 certificate (RFC 5280), read once: its octets, and what of it decides or explains.
public struct Certificate: Hashable, Sendable, CustomStringConvertible {
    /// DER.
    public let octets: [UInt8]
    /// `CN=edge.example.net,O=Example`.
    public let subject: String
    public let issuer: String
    /// In lower case; nil with none or with several.
    public let commonName: String?
    /// The `dNSName`s of subjectAltName in lower case, wildcards as they stand.
    public let dnsNames: [String]
    /// Hosts of the `sip:` URIs without user in subjectAltName, in lower case (RFC 5922 7.1).
    public let sipDomains: [String]
    /// The addresses of subjectAltName.
    public let addresses: [String]
    public let hasAlternativeNames: Bool
    /// Seconds since 1970.
    public let notBefore: Int64
    /// Seconds since 1970.
    public let notAfter: Int64
    /// SHA-256 of the octets, 64 hexadecimal digits.
    public let fingerprint: String
    /// Purposes of extendedKeyUsage as dotted numbers; nil: all.
    let purposes: [String]?

    /// - Parameter octets: DER, whole.
    /// - Returns: nil when it is no certificate.
    public init?(octets: [UInt8]) {
        guard let read = Self.x509(octets) else { return nil }
        defer { X509_free(read) }
        self.init(read, octets: octets)
    }

    /// - Parameter read: Stays the caller's.
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

    /// All certificates of a PEM text, in its order; other things in it, such as a key, are passed over.
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

    /// Whether the private key of a PEM text, which must not be encrypted, is this certificate's.
    ///
    /// - Returns: nil when the text holds no such key.
    public func isKept(byPEM key: [UInt8]) -> Bool? {
        defer { ERR_clear_error() }
        return key.withUnsafeBytes { bytes -> Bool? in
            guard let source = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { BIO_free(source) }
            // Nobody is there to be asked for a passphrase.
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

    /// Subject and names for a log.
    public var description: String {
        let names = sipDomains.map { "sip:" + $0 } + dnsNames + addresses
        return names.isEmpty ? subject : "\(subject) (\(PeerIdentity.brief(names)))"
    }

    /// The caller frees it.
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
    /// What a verified certificate proves.
    ///
    /// - Parameter roots: The sets of roots to which it leads.
    public convenience init(_ certificate: Certificate, roots: Set<String>) {
        self.init(
            dnsNames: certificate.dnsNames, sipDomains: certificate.sipDomains, addresses: certificate.addresses,
            hasAlternativeNames: certificate.hasAlternativeNames, commonName: certificate.commonName, notAfter: certificate.notAfter,
            fingerprint: certificate.fingerprint, roots: roots)
    }
}
