import COpenSSL

/// The algorithms of OpenSSL 3 used by this module, each fetched once.
///
/// MD4 and RC4 come from the legacy provider in a separate library context, so that other code in the process cannot use them.
public final class CryptoLibrary: Sendable {
    static let shared = CryptoLibrary()

    /// The reason MD4 and RC4 are unavailable, without which NTLM and new credentials fail; nil if they are available. Check it
    /// before offering NTLM.
    public static var problem: String? {
        shared.hasLegacy ? nil : "OpenSSL's legacy provider (MD4, RC4) cannot be loaded; it is part of the package libssl3"
    }

    /// Written only in `init` and kept for the life of the process; fetched algorithms are thread-safe.
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
            // Stop instead of returning a constant hash; callers check `problem` first.
            preconditionFailure("OpenSSL has no \(algorithm.rawValue)")
        }
        return digest
    }
}
