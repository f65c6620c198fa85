import COpenSSL

/// The algorithms that this room takes from OpenSSL 3, each fetched once.
///
/// MD4 and RC4 come from the legacy provider, loaded into a library context of our own: nothing else in the process gets them.
public final class CryptoLibrary: Sendable {
    static let shared = CryptoLibrary()

    /// Why MD4 and RC4, and with them NTLM and new credentials, cannot be used here; nil: they can. Ask before offering NTLM.
    public static var problem: String? {
        shared.hasLegacy ? nil : "OpenSSL's legacy provider (MD4, RC4) cannot be loaded; it is part of the package libssl3"
    }

    /// Never written after `init`, never freed; OpenSSL's fetched algorithms may be used by any thread.
    private nonisolated(unsafe) let digests: [HashAlgorithm: OpaquePointer]
    nonisolated(unsafe) let rc4: OpaquePointer?

    private init() {
        let library = OSSL_LIB_CTX_new()
        _ = OSSL_PROVIDER_load(library, "default")
        _ = OSSL_PROVIDER_load(library, "legacy")
        var digests: [HashAlgorithm: OpaquePointer] = [:]
        for algorithm in HashAlgorithm.allCases { digests[algorithm] = EVP_MD_fetch(library, algorithm.rawValue, nil) }
        self.digests = digests
        rc4 = EVP_CIPHER_fetch(library, "RC4", nil)
    }

    private var hasLegacy: Bool { digests[.md4] != nil && rc4 != nil }

    func digest(_ algorithm: HashAlgorithm) -> OpaquePointer {
        guard let digest = digests[algorithm] else {
            // A missing algorithm must never become a known hash value; the program asks for `problem` before it gets here.
            preconditionFailure("OpenSSL has no \(algorithm.rawValue)")
        }
        return digest
    }
}
