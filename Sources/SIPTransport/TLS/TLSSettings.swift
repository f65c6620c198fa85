import Glibc
import SIPCore
import SIPSecurity

/// TLS settings after reading and checking: own certificates, trusted roots and the identities that peers must prove. A reload replaces
/// them as a whole.
public struct TLSSettings: Sendable {
    /// An own certificate chain, starting with the own certificate, and its private key.
    public struct Identity: Hashable, Sendable {
        /// Certificates of the chain, the own certificate first; never empty.
        package var chain: [Certificate]
        /// Private key of the first certificate, in PEM.
        package var keyPEM: [UInt8]

        /// Error for a certificate chain or key that cannot be used.
        public enum Problem: Error, Hashable, Sendable {
            case certificate(String)
            case key(String)
        }

        /// Reads a chain and its key, and checks that they match and that the own certificate is valid at `now`.
        /// - Throws: ``Problem`` naming the text and its fault.
        public init(chainPEM: [UInt8], keyPEM: [UInt8], at now: Instant) throws(Problem) {
            chain = Certificate.all(inPEM: chainPEM)
            guard let own = chain.first else { throw .certificate("holds no certificate in PEM form") }
            switch own.isKept(byPEM: keyPEM) {
            case nil: throw .key("holds no private key in PEM form that can be read without a passphrase")
            case false: throw .key("is not the key of the certificate of \(own)")
            default: break
            }
            guard own.notAfter > now.secondsSince1970 else { throw .certificate("\(own) has expired at \(own.endText)") }
            guard own.notBefore <= now.secondsSince1970 else {
                throw .certificate("\(own) is not valid before \(DateText.utc(own.notBefore))")
            }
            self.keyPEM = keyPEM
        }
    }

    /// Identity presented to peers that request none of ``names``, and when connecting.
    package var identity: Identity
    /// Identities by requested server name (RFC 6066 3), in lower case.
    package var names: [String: Identity]
    /// Sets of roots by name: `PeerIdentity.commonRoots`, and the domains that have their own roots.
    package var roots: [String: [Certificate]]
    /// Identities that servers must prove, by `TransportAddress.provenName`; other servers must prove that name by ``defaultRule``.
    package var expectations: [String: PeerExpectation] = [:]
    /// Identities that the servers of a domain must prove, by the domain from which DNS names them. Without names, each server must prove
    /// its own name.
    package var expectationsWithin: [String: PeerExpectation] = [:]
    /// Rule for server names without an entry in ``expectations`` or ``expectationsWithin``.
    package var defaultRule = PeerNameRule.domain
    /// Identities of which a client must prove one, at listeners that require a certificate; nil accepts any name.
    package var clientExpectations: [PeerExpectation]?
    /// Time limit of a handshake; 10 s by default.
    package var handshakeTimeout = TimeSpan.seconds(10)
    /// Limit of running handshakes with accepted connections on one loop; further connections are closed at once.
    package var maximumHandshakes = 1_000
    /// Time before a certificate's expiry from which a warning is logged, once a day; 30 days by default.
    package var warningTime = TimeSpan.seconds(30 * 86_400)

    /// Creates settings with no expectations; change the other properties before use.
    public init(identity: Identity, names: [String: Identity] = [:], roots: [String: [Certificate]]) {
        self.identity = identity
        self.names = names
        self.roots = roots
    }

    /// Returns the identity that the server at an address must prove before anything is sent to it.
    package func expectation(of address: TransportAddress) -> PeerExpectation {
        let name = address.provenName ?? SIPURI(host: address.host).domainKey
        if let expectation = expectations[name] { return expectation }
        var domain = name[...]
        while true {
            if let within = expectationsWithin[String(domain)] {
                guard within.names.isEmpty else { return within }
                return PeerExpectation([name], by: within.rule, reusesConnections: within.reusesConnections)
            }
            guard let dot = domain.firstIndex(of: ".") else { return PeerExpectation([name], by: defaultRule) }
            domain = domain[domain.index(after: dot)...]
        }
    }
}

extension Certificate {
    /// Expiry as text in UTC.
    package var endText: String { DateText.utc(notAfter) }
}

/// Formats times in UTC by RFC 3339.
package enum DateText {
    /// Formats seconds since 1970 as `2031-05-06T07:08:09Z`, with milliseconds as `2031-05-06T07:08:09.010Z`.
    package static func utc(_ seconds: Int64, milliseconds: Int? = nil) -> String {
        var time = time_t(seconds)
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return "\(seconds)" }
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let fraction = milliseconds.map { "." + "00\($0)".suffix(3) } ?? ""
        return "\(parts.tm_year + 1_900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
            + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))\(fraction)Z"
    }
}
