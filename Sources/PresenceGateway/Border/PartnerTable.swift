import FederationRouting
import SIPCore

/// Counters of requests from one partner.
package struct PartnerCounters: Hashable, Sendable {
    /// Requests received, including those beyond the rate.
    package var messages: UInt64 = 0
    /// Requests refused because of the rate limit.
    package var tooMany: UInt64 = 0
    /// Requests refused because of the limit of watched URIs.
    package var tooManyURIs: UInt64 = 0
    /// Requests refused because of the rights between users.
    package var noRight: UInt64 = 0
    /// Requests refused because their peer may not send for this partner.
    package var unauthorizedPeers: UInt64 = 0

    /// Creates counters of 0.
    package init() {}

    static func += (left: inout PartnerCounters, right: PartnerCounters) {
        left.messages &+= right.messages
        left.tooMany &+= right.tooMany
        left.tooManyURIs &+= right.tooManyURIs
        left.noRight &+= right.noRight
        left.unauthorizedPeers &+= right.unauthorizedPeers
    }
}

/// One partner, as reported to an operator.
package struct PartnerReport: Hashable, Sendable {
    /// Name of the partner's domain.
    package var name: String
    /// Counters of its requests.
    package var counters = PartnerCounters()
    /// Number of different URIs that its users watch.
    package var watchedURIs = 0
    /// State of its servers.
    package var contact = PartnerContact()
    /// Upstream subscriptions that its servers may have lost.
    package var unverified = 0
    /// Time since which the first of them is unverified; nil: none.
    package var unverifiedSince: Instant?
    /// Whether it has an entry of its own.
    package var isConfigured = false
    /// Side of its domain; nil: no entry covers it any more.
    package var side: DomainSide?

    /// Combines the reports of several shards, sorted by name.
    package static func sum(_ reports: [[PartnerReport]]) -> [PartnerReport] {
        var sums: [String: PartnerReport] = [:]
        for report in reports.joined() {
            guard var sum = sums[report.name] else {
                sums[report.name] = report
                continue
            }
            sum.counters += report.counters
            sum.watchedURIs += report.watchedURIs
            sum.unverified += report.unverified
            sum.unverifiedSince = .earliest(sum.unverifiedSince, report.unverifiedSince)
            sum.contact.add(report.contact)
            sums[report.name] = sum
        }
        return sums.values.sorted { $0.name < $1.name }
    }
}

/// The configured partners and those with messages; each shard has its own table.
struct PartnerTable {
    /// Reason for which all subscriptions at a partner are in doubt.
    ///
    /// It concerns a domain, not a server: it holds no request back and chooses no server (``FederationRouting/TargetHealth`` orders those),
    /// but decides that the domain's subscriptions are verified, and how often OPTIONS ask for its return.
    enum Absence {
        /// OPTIONS, or a request outside dialogs on the domain's own route, found no server or no answer to OPTIONS. Ended by any response
        /// other than 408 and 503.
        case unreachable
        /// OPTIONS are answered with 408 or 503, as by a proxy with a failed server. Ended by another response to OPTIONS.
        case unavailable
    }

    private struct Record {
        var absence: Absence?
        var counters = PartnerCounters()
        var contact = PartnerContact()
        var bucket: TokenBucket?
        /// Number of dialogs of its users with each URI.
        var watched: [String: Int] = [:]

        /// Counts a message; returns false if it is beyond the rate.
        mutating func admits(_ limits: PartnerLimits, at now: Instant) -> Bool {
            counters.messages &+= 1
            contact.heard(at: now)
            guard let rate = limits.messagesPerSecond else {
                bucket = nil
                return true
            }
            if bucket?.rate != rate { bucket = TokenBucket(rate: rate, at: now) }
            if bucket?.take(at: now) ?? true { return true }
            counters.tooMany &+= 1
            return false
        }
    }

    private var records: [String: Record] = [:]
    private static let limit = 10_000
    /// Number of records at which some are removed; higher than the limit if few could be removed, so that not every new name searches
    /// them.
    private var room = PartnerTable.limit
    /// Partners with an entry of their own; their records are kept.
    private var configured: Set<String> = []

    /// Number of URIs watched by users of partners.
    var watchedCount: Int { records.values.reduce(0) { $0 + $1.watched.count } }

    var reports: [PartnerReport] {
        configured.union(records.keys).sorted().map { name in
            let record = records[name] ?? Record()
            return PartnerReport(
                name: name, counters: record.counters, watchedURIs: record.watched.count, contact: record.contact,
                isConfigured: configured.contains(name))
        }
    }

    /// Applies another configuration; removed partners keep their record only while their users watch URIs.
    mutating func configure(_ names: Set<String>) {
        let gone = configured.subtracting(names)
        configured = names
        for name in gone where records[name]?.watched.isEmpty ?? false { records[name] = nil }
    }

    mutating func sent(to name: String) { change(name) { $0.contact.sent() } }

    /// - Returns: whether the partner changed from down to up.
    mutating func answered(by name: String, after span: TimeSpan, at now: Instant) -> Bool {
        change(name) { record in
            let before = record.contact.state
            record.contact.answered(after: span, at: now)
            return before == .down
        }
    }

    /// - Returns: whether the partner changed to down.
    mutating func failed(_ reason: String, by name: String, isVerdict: Bool, at now: Instant) -> Bool {
        change(name) { record in
            let before = record.contact.state
            record.contact.failed(reason, isVerdict: isVerdict, at: now)
            return before != .down && record.contact.state == .down
        }
    }

    /// Records a fault of the configuration.
    mutating func misconfigured(_ reason: String, by name: String, for method: SIPMethod, at now: Instant) {
        change(name) { $0.contact.misconfigured(reason, for: method, at: now) }
    }

    /// Clears the fault of a method after an accepted request.
    mutating func configurationWorks(at name: String, for method: SIPMethod) {
        guard records[name]?.contact.faults[method] != nil else { return }
        change(name) { $0.contact.configurationWorks(for: method) }
    }

    func isAway(_ name: String) -> Bool { records[name]?.absence != nil }

    /// - Returns: whether the partner was present before.
    mutating func left(_ name: String, _ absence: Absence) -> Bool {
        change(name) { record in
            let before = record.absence
            if before == nil || absence == .unreachable { record.absence = absence }
            return before == nil
        }
    }

    /// Ends the absence of a partner that answered, other than with 408 or 503.
    /// - Returns: whether it was absent before.
    mutating func returned(_ name: String, toOptions: Bool) -> Bool {
        guard let absence = records[name]?.absence, toOptions || absence == .unreachable else { return false }
        records[name]?.absence = nil
        return true
    }

    func isConfigured(_ name: String) -> Bool { configured.contains(name) }

    private mutating func change<Result>(_ name: String, _ body: (inout Record) -> Result) -> Result {
        makeRoom(for: name)
        return body(&records[name, default: Record()])
    }

    /// Counts a message.
    /// - Returns: false if it is beyond the rate.
    mutating func admits(_ name: String, _ limits: PartnerLimits, at now: Instant) -> Bool {
        makeRoom(for: name)
        return records[name, default: Record()].admits(limits, at: now)
    }

    /// Counts a refusal.
    mutating func count(_ path: WritableKeyPath<PartnerCounters, UInt64>, of name: String) {
        makeRoom(for: name)
        records[name, default: Record()].counters[keyPath: path] &+= 1
    }

    /// Whether the limit of watched URIs is reached and this URI is not among them.
    func isFull(_ name: String, _ limits: PartnerLimits, for key: String) -> Bool {
        guard let most = limits.watchedURIs, let record = records[name] else { return limits.watchedURIs == 0 }
        return record.watched.count >= most && record.watched[key] == nil
    }

    mutating func watch(_ key: String, by name: String) {
        makeRoom(for: name)
        records[name, default: Record()].watched[key, default: 0] += 1
    }

    mutating func unwatch(_ key: String, by name: String) {
        guard let count = records[name]?.watched[key] else { return }
        records[name]?.watched[key] = count > 1 ? count - 1 : nil
    }

    /// Bounds the records of partners without an entry: removes those without messages and requests first, then those without watched
    /// URIs.
    private mutating func makeRoom(for name: String) {
        guard records.count >= room, records[name] == nil else { return }
        // If less than a quarter was removed, the next search is postponed, so that not every new name causes one.
        let enough = Self.limit / 4 * 3
        defer { room = records.count <= enough ? Self.limit : 2 * records.count }
        let configured = configured
        records = records.filter {
            $0.value.counters.messages > 0 || $0.value.contact.requestsSent > 0 || !$0.value.watched.isEmpty || configured.contains($0.key)
        }
        guard records.count > enough else { return }
        records = records.filter { !$0.value.watched.isEmpty || configured.contains($0.key) }
    }
}
