import PresenceDocuments
import SIPCore
import XMLCore

/// Watcher as rules see it: its proven identities (RFC 5025 3.1.1), none if it is anonymous.
public struct RuleWatcher: Hashable, Sendable {
    /// Proven identities, such as the `sip` and the `tel` URI of P-Asserted-Identity; empty for an anonymous watcher.
    package let identities: [SIPURI]

    /// Watcher without a proven identity.
    public static let anonymous = RuleWatcher()
    private init() { identities = [] }

    /// Creates a watcher from identities that authentication proved.
    ///
    /// The watcher is anonymous if it asks for privacy of its identity (RFC 3323 4.2, RFC 3325 9.3) or if any of the identities is an
    /// anonymous URI (RFC 3323 4.1.1.3).
    /// - Parameter privacy: Value of the header field Privacy; nil when absent.
    public init(_ identities: [SIPURI], privacy: String? = nil) {
        let isPrivate = privacy.map { Self.hidesIdentity($0) } ?? false
        self.identities = isPrivate || identities.contains(where: Self.isAnonymous) ? [] : identities
    }

    /// Creates a watcher with one identity; see ``init(_:privacy:)-([SIPURI],_)``.
    public init(_ identity: SIPURI, privacy: String? = nil) { self.init([identity], privacy: privacy) }

    /// Whether the watcher has no proven identity.
    public var isAnonymous: Bool { identities.isEmpty }

    /// Whether a Privacy value contains `id` (RFC 3325 9.3).
    private static func hidesIdentity(_ privacy: String) -> Bool {
        privacy.split(whereSeparator: { $0 == ";" || $0 == "," }).contains { value in
            value.filter { $0 != " " && $0 != "\t" }.lowercased() == "id"
        }
    }

    /// Whether the host is `anonymous.invalid` or below it, as that of the anonymous user of a partner.
    private static func isAnonymous(_ uri: SIPURI) -> Bool {
        let host = uri.domainKey
        return host == "anonymous.invalid" || host.utf8.suffix(18).elementsEqual(".anonymous.invalid".utf8)
    }
}

extension SIPURI {
    /// Key by which rules compare identities: `aorKey`, for telephone numbers with the parameters that belong to the number (RFC 3966 4).
    var identityKey: String {
        guard scheme == .tel else { return aorKey }
        var key = aorKey
        let isGlobal = user?.utf8.first == UInt8(ascii: "+")
        for name in isGlobal ? ["ext", "isub"] : ["ext", "isub", "phone-context"] {
            if let value = parameters[name] { key += ";\(name)=\(value.lowercased())" }
        }
        return key
    }
}

/// Sphere of the presentity at some moment (RFC 5025 3.1.2).
public struct PresentitySphere: Hashable, Sendable {
    /// Value that all publications with a sphere have in common; nil if it is undefined.
    public var value: String?
    /// Next moment at which the value may change without a new publication; nil if there is none.
    public var until: Instant?

    public init(_ value: String?, until: Instant? = nil) {
        self.value = value
        self.until = until
    }

    /// No sphere, so that no condition on it matches.
    public static let undefined = PresentitySphere(nil)

    /// Computes the sphere from all published documents of a presentity: undefined if none has one, or if two differ.
    ///
    /// Elements of persons count, while they are valid (RFC 4480 3.1); `unknown` is no sphere.
    public init(of documents: some Sequence<PIDFDocument>, at now: Instant) {
        let moment = DateTime(nanosecondsSince1970: now.nanosecondsSince1970)
        var values: Set<String> = []
        var until: Instant?
        for document in documents {
            for sphere in document.persons.lazy.flatMap(\.rpid.spheres) {
                for boundary in [sphere.info.from, sphere.info.until].compactMap({ $0 }) where boundary > moment {
                    until = Instant.earliest(until, Instant(nanosecondsSince1970: boundary.nanosecondsSince1970))
                }
                guard sphere.info.isValid(at: moment) else { continue }
                for value in sphere.values { values.insert(value.name) }
                // A sphere of another namespace has no token to compare, but differs from those that have one.
                for fragment in sphere.extensions { values.insert("{\(fragment.namespace)}\(fragment.localName)") }
            }
        }
        let only = values.count == 1 ? values.first : nil
        self.init(only == "unknown" ? nil : only, until: until)
    }
}
