import COpenSSL
import SIPCore

/// Reads fields of an OpenSSL certificate without freeing it; names that are no valid text are left out.
enum X509Fields {
    /// Largest number of names read; certificates for many domains have hundreds.
    static let nameLimit = 1_024

    /// The names in subjectAltName by kind, each in certificate order.
    struct AlternativeNames {
        var uris: [String] = []
        var hosts: [String] = []
        var addresses: [String] = []
        /// Whether the extension exists, with any content.
        var isPresent = false
    }

    static func alternativeNames(of certificate: OpaquePointer) -> AlternativeNames {
        var result = AlternativeNames()
        result.isPresent = X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1) >= 0
        guard let names = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil).map({ OpaquePointer($0) }) else { return result }
        defer { GENERAL_NAMES_free(names) }
        for place in 0..<min(OPENSSL_sk_num(names), Int32(nameLimit)) {
            guard let name = OPENSSL_sk_value(names, place)?.assumingMemoryBound(to: GENERAL_NAME.self) else { continue }
            var kind: Int32 = -1
            guard let value = GENERAL_NAME_get0_value(name, &kind)?.assumingMemoryBound(to: ASN1_STRING.self) else { continue }
            switch kind {
            case GEN_URI: if let text = text(value) { result.uris.append(text) }
            case GEN_DNS: if let text = text(value) { result.hosts.append(text) }
            case GEN_IPADD: if let text = address(value) { result.addresses.append(text) }
            default: continue
            }
        }
        return result
    }

    /// The common name of the subject; nil if there are several, because it would be ambiguous.
    static func commonName(of certificate: OpaquePointer) -> String? {
        guard let subject = X509_get_subject_name(certificate) else { return nil }
        let place = X509_NAME_get_index_by_NID(subject, NID_commonName, -1)
        guard place >= 0, X509_NAME_get_index_by_NID(subject, NID_commonName, place) < 0,
            let value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, place))
        else { return nil }
        var octets: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&octets, value)
        guard let octets else { return nil }
        defer { CRYPTO_free(octets, #file, #line) }
        guard count > 0 else { return nil }
        return clean(UnsafeBufferPointer(start: octets, count: Int(count)))
    }

    /// `CN=edge.example.net,O=Example` (RFC 4514) for messages; at most 256 octets.
    static func text(ofName name: OpaquePointer?) -> String {
        guard let name, let memory = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(memory) }
        guard isthmus_x509_print_name(memory, name) >= 0 else { return "" }
        var octets = [UInt8](repeating: 0, count: 256)
        let count = BIO_read(memory, &octets, Int32(octets.count))
        return count > 0 ? String(decoding: octets[..<Int(count)], as: UTF8.self) : ""
    }

    /// Seconds since 1970, at most 9,000,000,000, because an `Instant` ends in the year 2262.
    static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        guard let time, let epoch = ASN1_TIME_set(nil, 0) else { return nil }
        defer { ASN1_STRING_free(epoch) }
        var (days, seconds): (Int32, Int32) = (0, 0)
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
        return min(Int64(days) * 86_400 + Int64(seconds), 9_000_000_000)
    }

    /// The purposes in extendedKeyUsage as object identifiers; nil: the extension is absent, and all purposes are allowed.
    static func purposes(of certificate: OpaquePointer) -> [String]? {
        guard X509_get_ext_by_NID(certificate, NID_ext_key_usage, -1) >= 0 else { return nil }
        guard let usage = X509_get_ext_d2i(certificate, NID_ext_key_usage, nil, nil).map({ OpaquePointer($0) }) else { return [] }
        defer { EXTENDED_KEY_USAGE_free(usage) }
        return (0..<min(OPENSSL_sk_num(usage), Int32(nameLimit))).compactMap { place in
            guard let object = OPENSSL_sk_value(usage, place) else { return nil }
            var octets = [CChar](repeating: 0, count: 80)
            let count = OBJ_obj2txt(&octets, Int32(octets.count), OpaquePointer(object), 1)
            guard count > 0, count < octets.count else { return nil }
            return String(decoding: octets[..<Int(count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    private static func text(_ string: UnsafePointer<ASN1_STRING>) -> String? {
        guard let start = ASN1_STRING_get0_data(string) else { return nil }
        return clean(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(string))))
    }

    private static func address(_ string: UnsafePointer<ASN1_STRING>) -> String? {
        guard let start = ASN1_STRING_get0_data(string) else { return nil }
        let octets = Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(string))))
        switch octets.count {
        case 4: return octets.map { String($0) }.joined(separator: ".")
        case 16:
            return stride(from: 0, to: 16, by: 2).map { String(Int(octets[$0]) << 8 | Int(octets[$0 + 1]), radix: 16) }.joined(
                separator: ":")
        default: return nil
        }
    }

    /// Accepts 1 to 512 octets of UTF-8 without ASCII control characters; a NUL inside a name would truncate it in other software.
    private static func clean(_ octets: UnsafeBufferPointer<UInt8>) -> String? {
        guard (1...512).contains(octets.count), octets.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            let text = String(validating: octets, as: UTF8.self)
        else { return nil }
        // Refuse C1 controls and line separators, which could forge lines or control a terminal in logs.
        let isPlain = text.unicodeScalars.allSatisfy { !(0x80...0x9F).contains($0.value) && $0.value != 0x2028 && $0.value != 0x2029 }
        return isPlain ? text : nil
    }
}
