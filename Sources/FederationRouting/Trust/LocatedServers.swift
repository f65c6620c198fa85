import SIPCore

/// From which addresses partners speak whose next hops without TLS are host names, or are discovered, and whose `peers` name no address:
/// from those to which their names lead, for as long as the Domain Name System says so.
///
/// Holds what was found and looks nothing up. Bounded by the configuration: of each domain the addresses of one plan for each of its ways.
public struct LocatedServers: Hashable, Sendable {
    private struct Found: Hashable {
        var hosts: [AddressBlock]
        var until: Instant
    }

    /// By domain; each goal's host is the domain.
    private var goals: [String: [HopGoal]] = [:]
    private var found: [HopGoal: Found] = [:]
    private var goalsAt: [AddressBlock: Set<HopGoal>] = [:]

    init() {}

    /// - Parameter name: the entry of one domain; `*` has no servers.
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

    /// Whether no domain's servers are found by name.
    public var isEmpty: Bool { goals.isEmpty }

    /// The domains whose servers are at an address now, sorted.
    public func domains(of host: String, at now: Instant) -> [String] {
        guard !goalsAt.isEmpty, let block = AddressBlock(host), let known = goalsAt[block] else { return [] }
        return Set(known.filter { found[$0].map { now < $0.until } ?? false }.map(\.host)).sorted()
    }

    /// What has to be looked up before it can be said who speaks for a domain; empty: nothing, or it is known.
    public func unlocated(_ name: String, at now: Instant) -> [HopGoal] {
        goals[name, default: []].filter { found[$0].map { now >= $0.until } ?? true }
    }

    /// By what a domain's servers are found; empty: their addresses are not.
    func goals(of name: String) -> [HopGoal] { goals[name, default: []] }

    /// The addresses of a domain's servers as they were found last, for an operator.
    func addresses(of name: String) -> [AddressBlock] { goals[name, default: []].flatMap { found[$0]?.hosts ?? [] } }

    /// Takes what was found for a goal; what is not the way to one of the domains here says nothing of them.
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
