import SIPCore

/// Addresses of partners that send without TLS and are known by name only: their next hops are host names or located by
/// DNS, and `peers` has no address. Requests are accepted from the resolved addresses for the lifetime of the DNS answers.
///
/// Stores results; performs no lookups. Bounded by the configuration: one plan per goal of each domain.
public struct LocatedServers: Hashable, Sendable {
    private struct Found: Hashable {
        var hosts: [AddressBlock]
        var until: Instant
    }

    /// Goals by domain; the host of each goal is the domain.
    private var goals: [String: [HopGoal]] = [:]
    private var found: [HopGoal: Found] = [:]
    private var goalsAt: [AddressBlock: Set<HopGoal>] = [:]

    init() {}

    /// Adds the goals of an entry that uses names without TLS; `*` has no servers.
    /// - Parameter name: the name of the entry.
    mutating func add(_ name: String, _ domain: FederatedDomain) {
        let namesAddress = domain.peers.contains { if case .addresses = $0 { true } else { false } }
        guard name != RoutingTable.fallbackName, !domain.isHosted, domain.refusal == nil, !namesAddress else { return }
        var ways = domain.userRoutes.map { HopGoal(name, .listed($0.hops)) }
        if case .located(let goal)? = domain.nextHop(toward: name) { ways.append(goal) }
        ways.removeAll { !Self.isPlainByName($0) }
        if !ways.isEmpty { goals[name] = ways }
    }

    private static func isPlainByName(_ goal: HopGoal) -> Bool {
        guard !goal.isSecure else { return false }
        switch goal.way {
        case .enterprise: return false
        case .standard: return true
        case .listed(let hops):
            return hops.contains { $0.address.transport != .tls && !$0.address.isNumeric && $0.address.host != "localhost" }
        }
    }

    /// Whether no domain has servers that are located by name.
    public var isEmpty: Bool { goals.isEmpty }

    /// The domains with a server at an address at this time, sorted.
    public func domains(of host: String, at now: Instant) -> [String] {
        guard !goalsAt.isEmpty, let block = AddressBlock(host), let known = goalsAt[block] else { return [] }
        return Set(known.filter { found[$0].map { now < $0.until } ?? false }.map(\.host)).sorted()
    }

    /// The goals to look up before the servers of a domain are known; empty if nothing is missing.
    public func unlocated(_ name: String, at now: Instant) -> [HopGoal] {
        goals[name, default: []].filter { found[$0].map { now >= $0.until } ?? true }
    }

    /// The goals of a domain; empty if its addresses are not located by name.
    func goals(of name: String) -> [HopGoal] { goals[name, default: []] }

    /// The addresses located last for a domain, for an operator; expired ones included.
    func addresses(of name: String) -> [AddressBlock] { goals[name, default: []].flatMap { found[$0]?.hosts ?? [] } }

    /// Stores the result of a lookup; results for other goals are ignored. A failure clears the addresses of the goal.
    public mutating func note(_ result: Result<HopPlan, HopFailure>, of goal: HopGoal, until: Instant) {
        guard goals[goal.host]?.contains(goal) == true else { return }
        for block in found[goal]?.hosts ?? [] {
            goalsAt[block]?.remove(goal)
            if goalsAt[block]?.isEmpty ?? false { goalsAt[block] = nil }
        }
        let plan = try? result.get()
        let hosts = (plan?.servers.flatMap(\.addresses) ?? []).filter { $0.transport != .tls }.compactMap { AddressBlock($0.host) }
        found[goal] = Found(hosts: hosts, until: until)
        for block in hosts { goalsAt[block, default: []].insert(goal) }
    }
}
