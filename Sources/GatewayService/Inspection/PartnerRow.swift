import Administration
import FederationRouting
import PresenceDocuments
import PresenceGateway
import SIPCore
import SIPSecurity

/// State of one partner, for `isthmus partners` and the administration pages.
package struct PartnerRow: Codable, Hashable, Sendable {
    package struct Failure: Codable, Hashable, Sendable {
        package var at: DateTime
        package var reason: String
    }

    package struct Refusals: Codable, Hashable, Sendable {
        /// Requests refused for exceeding the rate; `uris` counts those exceeding the limit of watched URIs.
        package var rate: UInt64
        package var uris: UInt64
        /// Requests refused because the user may not watch the other.
        package var rights: UInt64
        /// Requests from other senders in the name of this partner.
        package var impostor: UInt64
    }

    package struct CertificateEnd: Codable, Hashable, Sendable {
        package var subject: String
        package var notAfter: DateTime
        /// SHA-256 fingerprint, 64 hexadecimal digits.
        package var fingerprint: String
    }

    package var name: String
    /// Side of the domain; nil when no configuration entry covers it any more.
    package var side: String?
    /// Whether the domain has its own configuration entry.
    package var configured: Bool
    package var state: PartnerContact.State
    package var since: DateTime?
    package var lastAnswer: DateTime?
    /// Last failure; a configuration fault takes precedence over a past failure.
    package var lastFailure: Failure?
    /// Time of the last request from the partner.
    package var lastHeard: DateTime?
    /// Round-trip time of the last answered request in ms; `smoothedRoundTripMs` is its moving average.
    package var roundTripMs: Double?
    package var smoothedRoundTripMs: Double?
    package var sent: UInt64
    package var answered: UInt64
    package var failed: UInt64
    package var received: UInt64
    package var refused: Refusals
    /// Number of different URIs that its users watch.
    package var watched: Int
    /// Number of upstream subscriptions that may have been lost at its servers, and the time of the first; nil for none.
    package var unverified: Int?
    package var unverifiedSince: DateTime?
    /// Certificate of the partner that expires first.
    package var certificate: CertificateEnd?

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
            rate: counters.tooMany, uris: counters.tooManyURIs, rights: counters.noRight, impostor: counters.unauthorizedPeers)
        watched = report.watchedURIs
        unverified = report.unverified > 0 ? report.unverified : nil
        unverifiedSince = report.unverifiedSince.map(DateTime.init)
        self.certificate = certificate.map {
            CertificateEnd(
                subject: $0.description, notAfter: DateTime(nanosecondsSince1970: $0.notAfter * 1_000_000_000), fingerprint: $0.fingerprint)
        }
    }

    /// Limit of unconfigured partners in metrics and health: those with the most requests.
    private static let shownOthers = 200

    /// Returns the configured partners, and at most 200 others.
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
    /// Converts an instant.
    init(_ instant: Instant) { self.init(nanosecondsSince1970: instant.nanosecondsSince1970) }
}

extension TimeSpan {
    /// Milliseconds, rounded to microseconds.
    fileprivate var wholeMicroseconds: Double { Double((nanoseconds + 500) / 1_000) / 1_000 }
}
