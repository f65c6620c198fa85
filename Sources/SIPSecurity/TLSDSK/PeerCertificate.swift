import COpenSSL
import SIPCore

/// What a peer's certificate says, once it has been verified.
struct PeerCertificate: Hashable, Sendable {
    /// Names that are read, at most.
    static let nameLimit = 32

    /// URIs and DNS names of the subject's alternative names; where there is no URI, the common name, too.
    let names: [String]
    let end: Instant

    /// Whether the certificate is a user's: one of its names is his SIP URI, with or without `sip:`.
    ///
    /// - Parameter identity: The key of an address of record.
    func names(user identity: String) -> Bool {
        names.contains { name in
            let uri = name.lowercased().hasPrefix("sip:") || name.lowercased().hasPrefix("sips:") ? name : "sip:" + name
            return name.contains("@") && SIPURI(uri)?.aorKey == identity
        }
    }

    /// Whether the certificate is a server's: one of its names is this host, case aside.
    func names(host: String) -> Bool { names.contains { $0.lowercased() == host.lowercased() } }

    /// - Parameter certificate: Stays the caller's.
    init?(_ certificate: OpaquePointer) {
        guard let end = Self.end(of: certificate) else { return nil }
        self.end = end
        let alternatives = Self.alternativeNames(of: certificate)
        names = alternatives.uris + alternatives.hosts + (alternatives.uris.isEmpty ? Self.commonName(of: certificate) : [])
    }

    private static func end(of certificate: OpaquePointer) -> Instant? {
        guard let epoch = ASN1_TIME_set(nil, 0) else { return nil }
        defer { ASN1_STRING_free(epoch) }
        var (days, seconds): (Int32, Int32) = (0, 0)
        guard ASN1_TIME_diff(&days, &seconds, epoch, X509_get0_notAfter(certificate)) == 1 else { return nil }
        // The last moment that nanoseconds can tell is in the year 2262.
        return Instant(secondsSince1970: min(Int64(days) * 86_400 + Int64(seconds), 9_000_000_000))
    }

    private static func alternativeNames(of certificate: OpaquePointer) -> (uris: [String], hosts: [String]) {
        guard let names = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil).map({ OpaquePointer($0) }) else { return ([], []) }
        defer { GENERAL_NAMES_free(names) }
        var (uris, hosts): ([String], [String]) = ([], [])
        for place in 0..<min(OPENSSL_sk_num(names), Int32(nameLimit)) {
            guard let name = OPENSSL_sk_value(names, place)?.assumingMemoryBound(to: GENERAL_NAME.self) else { continue }
            var kind: Int32 = -1
            let value = GENERAL_NAME_get0_value(name, &kind)
            guard kind == GEN_URI || kind == GEN_DNS, let value,
                let text = text(value.assumingMemoryBound(to: ASN1_STRING.self))
            else { continue }
            if kind == GEN_URI { uris.append(text) } else { hosts.append(text) }
        }
        return (uris, hosts)
    }

    /// The one common name of the subject; more than one would leave open which is meant.
    private static func commonName(of certificate: OpaquePointer) -> [String] {
        guard let subject = X509_get_subject_name(certificate) else { return [] }
        let place = X509_NAME_get_index_by_NID(subject, NID_commonName, -1)
        guard place >= 0, X509_NAME_get_index_by_NID(subject, NID_commonName, place) < 0,
            let value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, place))
        else { return [] }
        var octets: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&octets, value)
        guard count > 0, let octets else { return [] }
        defer { CRYPTO_free(octets, #file, #line) }
        return clean(UnsafeBufferPointer(start: octets, count: Int(count))).map { [$0] } ?? []
    }

    private static func text(_ string: UnsafePointer<ASN1_STRING>) -> String? {
        guard let start = ASN1_STRING_get0_data(string) else { return nil }
        return clean(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(string))))
    }

    /// Printable ASCII and what UTF-8 adds to it; a NUL within a name would end it early for somebody else.
    private static func clean(_ octets: UnsafeBufferPointer<UInt8>) -> String? {
        guard (1...512).contains(octets.count), octets.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return String(validating: octets, as: UTF8.self)
    }
}
