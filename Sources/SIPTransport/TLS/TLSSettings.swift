import Glibc
import SIPCore
import SIPSecurity

/// What TLS needs to know, read and checked: who we are, whom we trust and what partners have to prove. Replaced whole on a reload.
public struct TLSSettings: Sendable {
    /// A chain of certificates of ours, its first our own, and the key of that, all in PEM form.
    public struct Identity: Hashable, Sendable {
        public var chain: [Certificate]
        public var keyPEM: [UInt8]

        /// Why a pair of texts is no identity.
        public enum Problem: Error, Hashable, Sendable {
            case certificate(String)
            case key(String)
        }

        /// - Throws: ``Problem`` naming the text and what is wrong with it.
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

    /// Shown to every peer that asks for none of ``names``, and when connecting.
    public var identity: Identity
    /// Shown to a peer that asks for one of these names (RFC 6066 3), in lower case.
    public var names: [String: Identity]
    /// Sets of roots by their names: `PeerIdentity.commonRoots`, and the domains that have roots of their own.
    public var roots: [String: [Certificate]]
    /// What has to be proved at an address, by its `TransportAddress.provenName`; others prove that name by ``defaultRule``.
    public var expectations: [String: PeerExpectation] = [:]
    /// What servers within a domain have to prove, by the domain: those that its DNS names. Without names, each its own.
    public var expectationsWithin: [String: PeerExpectation] = [:]
    public var defaultRule = PeerNameRule.domain
    /// What clients have to prove one of, where a certificate is required; nil: any name.
    public var clientExpectations: [PeerExpectation]?
    /// How long a handshake may take.
    public var handshakeTimeout = TimeSpan.seconds(10)
    /// Handshakes that may be under way on one loop; more are closed at once.
    public var maximumHandshakes = 1_000
    /// Since how long before the end of a certificate is warned, once a day.
    public var warningTime = TimeSpan.seconds(30 * 86_400)

    public init(identity: Identity, names: [String: Identity] = [:], roots: [String: [Certificate]]) {
        self.identity = identity
        self.names = names
        self.roots = roots
    }

    /// What the peer at an address has to prove before it is sent anything.
    public func expectation(of address: TransportAddress) -> PeerExpectation {
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
    /// When it ends, for people.
    public var endText: String { DateText.utc(notAfter) }
}

/// Moments as RFC 3339 writes them, in UTC.
public enum DateText {
    /// Seconds since 1970 as `2031-05-06T07:08:09Z`, with milliseconds as `2031-05-06T07:08:09.010Z`.
    public static func utc(_ seconds: Int64, milliseconds: Int? = nil) -> String {
        var time = time_t(seconds)
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return "\(seconds)" }
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let fraction = milliseconds.map { "." + "00\($0)".suffix(3) } ?? ""
        return "\(parts.tm_year + 1_900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
            + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))\(fraction)Z"
    }
}
