import FederationRouting
import SIPCore

/// What was taken from one partner, and what was refused it.
public struct PartnerCounters: Hashable, Sendable {
    public var messages: UInt64 = 0
    /// Beyond its rate.
    public var tooMany: UInt64 = 0
    /// Beyond the URIs that its users may watch.
    public var tooManyURIs: UInt64 = 0
    /// Users who may not watch each other.
    public var noRight: UInt64 = 0
    /// Said to come from it by somebody else.
    public var impostors: UInt64 = 0

    public init() {}

    static func += (left: inout PartnerCounters, right: PartnerCounters) {
        left.messages &+= right.messages
        left.tooMany &+= right.tooMany
        left.tooManyURIs &+= right.tooManyURIs
        left.noRight &+= right.noRight
        left.impostors &+= right.impostors
    }
}

/// One partner as an operator sees it.
public struct PartnerReport: Hashable, Sendable {
    public var name: String
    public var counters = PartnerCounters()
    /// Different URIs that its users watch.
    public var watchedURIs = 0
    /// How its servers answer.
    public var contact = PartnerContact()
    /// Far legs there of which it is not known whether its servers still know them, and since when the first of them.
    public var unverified = 0
    public var unverifiedSince: Instant?
    /// It has an entry of its own.
    public var isConfigured = false
    /// nil: no entry covers it any more.
    public var side: DomainSide?

    /// Of several shards, by name.
    public static func sum(_ reports: [[PartnerReport]]) -> [PartnerReport] {
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

/// The partners of the configuration, and those that were heard or asked; a shard has its own.
struct PartnerTable {
    /// Reason for which all subscriptions at a partner are in doubt.
    enum Absence {
        /// OPTIONS, or a request outside of dialogs by the domain's own way, found no server, or OPTIONS were not answered. Any answer but
        /// 408 and 503 ends it.
        case unreachable
        /// OPTIONS are answered 408 or 503, as by a proxy whose server is away. Another answer to OPTIONS ends it.
        case unavailable
    }

    private struct Record {
        var absence: Absence?
        var counters = PartnerCounters()
        var contact = PartnerContact()
        var bucket: TokenBucket?
        /// In how many dialogs of its users each URI is.
        var watched: [String: Int] = [:]

        /// Notes a message; false when it is beyond the rate.
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
    /// So many records are there before somebody gives way; more than the limit where too few did, so that not every new name looks for them.
    private var room = PartnerTable.limit
    /// Those that have an entry of their own; they are never forgotten.
    private var configured: Set<String> = []

    /// URIs that users of partners watch.
    var watchedCount: Int { records.values.reduce(0) { $0 + $1.watched.count } }

    var reports: [PartnerReport] {
        configured.union(records.keys).sorted().map { name in
            let record = records[name] ?? Record()
            return PartnerReport(
                name: name, counters: record.counters, watchedURIs: record.watched.count, contact: record.contact,
                isConfigured: configured.contains(name))
        }
    }

    /// Takes the partners of another configuration; of those that are gone nothing is kept but what their users watch.
    mutating func configure(_ names: Set<String>) {
        let gone = configured.subtracting(names)
        configured = names
        for name in gone where records[name]?.watched.isEmpty ?? false { records[name] = nil }
    }

    mutating func sent(to name: String) { change(name) { $0.contact.sent() } }

    /// - Returns: whether it is up now, and was down.
    mutating func answered(by name: String, after span: TimeSpan, at now: Instant) -> Bool {
        change(name) { record in
            let before = record.contact.state
            record.contact.answered(after: span, at: now)
            return before == .down
        }
    }

    /// - Returns: whether it is down now, and was not.
    mutating func failed(_ reason: String, by name: String, isVerdict: Bool, at now: Instant) -> Bool {
        change(name) { record in
            let before = record.contact.state
            record.contact.failed(reason, isVerdict: isVerdict, at: now)
            return before != .down && record.contact.state == .down
        }
    }

    /// What the partner asks for is missing in the configuration.
    mutating func misconfigured(_ reason: String, by name: String, for method: SIPMethod, at now: Instant) {
        change(name) { $0.contact.misconfigured(reason, for: method, at: now) }
    }

    /// A request was accepted: for its method nothing is missing.
    mutating func configurationWorks(at name: String, for method: SIPMethod) {
        guard records[name]?.contact.faults[method] != nil else { return }
        change(name) { $0.contact.configurationWorks(for: method) }
    }

    func isAway(_ name: String) -> Bool { records[name]?.absence != nil }

    /// - Returns: whether it was there before.
    mutating func left(_ name: String, _ absence: Absence) -> Bool {
        change(name) { record in
            let before = record.absence
            if before == nil || absence == .unreachable { record.absence = absence }
            return before == nil
        }
    }

    /// A partner answered, and not 408 or 503.
    /// - Returns: whether it was away before.
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

    /// Notes a message.
    /// - Returns: false when it is beyond the rate.
    mutating func admits(_ name: String, _ limits: PartnerLimits, at now: Instant) -> Bool {
        makeRoom(for: name)
        return records[name, default: Record()].admits(limits, at: now)
    }

    /// Notes a refusal.
    mutating func count(_ path: WritableKeyPath<PartnerCounters, UInt64>, of name: String) {
        makeRoom(for: name)
        records[name, default: Record()].counters[keyPath: path] &+= 1
    }

    /// Whether a partner's users watch as many URIs as they may, and this is not among them.
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

    /// Of partners that nobody configured there may be any number: names that were only claimed are forgotten first, then whoever
    /// watches nobody.
    private mutating func makeRoom(for name: String) {
        guard records.count >= room, records[name] == nil else { return }
        // Unless a quarter gave way, the next look is far off: else one would be taken for each new name.
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
