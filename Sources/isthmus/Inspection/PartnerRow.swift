import Administration
import PresenceDocuments
import PresenceGateway
import SIPCore
import SIPSecurity

/// One partner as `isthmus partners` shows it, and as the pages of the administration listener do.
struct PartnerRow: Codable, Hashable, Sendable {
    struct Failure: Codable, Hashable, Sendable {
        var at: DateTime
        var reason: String
    }

    struct Refusals: Codable, Hashable, Sendable {
        /// Beyond its rate, and beyond the URIs that its users may watch.
        var rate: UInt64
        var uris: UInt64
        /// Users who may not watch each other.
        var rights: UInt64
        /// Said to come from it by somebody else.
        var impostor: UInt64
    }

    struct CertificateEnd: Codable, Hashable, Sendable {
        var subject: String
        var notAfter: DateTime
        /// SHA-256, 64 hexadecimal digits.
        var fingerprint: String
    }

    var name: String
    /// nil: no entry covers it any more.
    var side: String?
    /// It has an entry of its own.
    var configured: Bool
    var state: PartnerContact.State
    var since: DateTime?
    var lastAnswer: DateTime?
    /// What the configuration lacks comes before what passed.
    var lastFailure: Failure?
    /// When a request came from there last.
    var lastHeard: DateTime?
    /// Of the last request that was answered, and smoothed.
    var roundTripMs: Double?
    var smoothedRoundTripMs: Double?
    var sent: UInt64
    var answered: UInt64
    var failed: UInt64
    var received: UInt64
    var refused: Refusals
    /// Different URIs that its users watch.
    var watched: Int
    /// Subscriptions there of which it is not known whether its servers still know them, and since when the first; nil: none.
    var unverified: Int?
    var unverifiedSince: DateTime?
    /// Of those that it showed, the one that ends first.
    var certificate: CertificateEnd?

    init(_ report: PartnerReport, certificate: Certificate?) {
        let (contact, counters) = (report.contact, report.counters)
        name = report.name
        side = report.side?.rawValue
        configured = report.isConfigured
        state = contact.state
        since = contact.since.map(DateTime.init)
        lastAnswer = contact.lastAnswer.map(DateTime.init)
        lastFailure = (contact.fault ?? contact.lastFailure).map { Failure(at: DateTime($0.at), reason: $0.reason) }
        lastHeard = contact.lastHeard.map(DateTime.init)
        roundTripMs = contact.roundTrip.map(\.wholeMicroseconds)
        smoothedRoundTripMs = contact.smoothedRoundTrip.map(\.wholeMicroseconds)
        sent = contact.requestsSent
        answered = contact.answers
        failed = contact.failures
        received = counters.messages
        refused = Refusals(
            rate: counters.tooMany, uris: counters.tooManyURIs, rights: counters.noRight, impostor: counters.impostors)
        watched = report.watchedURIs
        unverified = report.unverified > 0 ? report.unverified : nil
        unverifiedSince = report.unverifiedSince.map(DateTime.init)
        self.certificate = certificate.map {
            CertificateEnd(
                subject: $0.description, notAfter: DateTime(nanosecondsSince1970: $0.notAfter * 1_000_000_000), fingerprint: $0.fingerprint)
        }
    }

    /// Partners that nobody configured of which metrics and health tell, those with the most requests.
    private static let shownOthers = 200

    /// Those with an entry of their own, and of the others so many that the number of rows is bounded.
    static func shown(_ rows: [PartnerRow]) -> [PartnerRow] {
        let others = rows.filter { !$0.configured }.sorted { ($1.received + $1.sent, $0.name) < ($0.received + $0.sent, $1.name) }
        let kept = Set(others.prefix(shownOthers).map(\.name))
        return rows.filter { $0.configured || kept.contains($0.name) }
    }

    var health: HealthReport.Partner {
        HealthReport.Partner(
            name: name, state: state.rawValue, since: since?.text, lastError: lastFailure?.reason, roundTripMilliseconds: roundTripMs)
    }
}

extension DateTime {
    /// The same moment, as documents write it.
    init(_ instant: Instant) { self.init(nanosecondsSince1970: instant.nanosecondsSince1970) }
}

extension TimeSpan {
    /// Milliseconds, rounded to the microsecond.
    fileprivate var wholeMicroseconds: Double { Double((nanoseconds + 500) / 1_000) / 1_000 }
}
