import SIPCore

/// Addresses of partners that send without TLS and are known by name only: their next hops are host names or located by
/// DNS, and `peers` has no address. Requests are accepted from the resolved addresses for the lifetime of the DNS answers.
///
/// Stores results; performs no lookups. Bounded by the configuration: one plan per hop target of each domain.
public struct LocatedServers: Hashable, Sendable {
    private struct Found: Hashable {
        var hosts: [AddressBlock]
        var until: Instant
    }

    /// Hop targets by domain; the host of each hop target is the domain.
    private var hopTargets: [String: [HopTarget]] = [:]
    private var found: [HopTarget: Found] = [:]
    private var hopTargetsAt: [AddressBlock: Set<HopTarget>] = [:]

    init() {}

    /// Adds the hop targets of an entry that uses names without TLS; `*` has no servers.
    /// - Parameter name: the name of the entry.
    mutating func add(_ name: String, _ domain: FederatedDomain) {
        let namesAddress = domain.trust.peers.contains { if case .addresses = $0 { true } else { false } }
        guard name != RoutingTable.fallbackName, !domain.isHosted, domain.refusal == nil, !namesAddress else { return }
        var listed = domain.userRoutes.map { HopTarget(name, .listed($0.hops)) }
        if case .located(let hopTarget)? = domain.nextHop(toward: name) { listed.append(hopTarget) }
        listed.removeAll { !Self.isPlainByName($0) }
        if !listed.isEmpty { hopTargets[name] = listed }
    }

    private static func isPlainByName(_ hopTarget: HopTarget) -> Bool {
        guard !hopTarget.isSecure else { return false }
        switch hopTarget.lookup {
        case .enterprise: return false
        case .standard: return true
        case .listed(let hops):
            return hops.contains { $0.address.transport != .tls && !$0.address.isNumeric && $0.address.host != "localhost" }
        }
    }

    /// Whether no domain has servers that are located by name.
    public var isEmpty: Bool { hopTargets.isEmpty }

    /// The domains with a server at an address at this time, sorted.
    public func domains(of host: String, at now: Instant) -> [String] {
        guard !hopTargetsAt.isEmpty, let block = AddressBlock(host), let known = hopTargetsAt[block] else { return [] }
        return Set(known.filter { found[$0].map { now < $0.until } ?? false }.map(\.host)).sorted()
    }

    /// The hop targets to look up before the servers of a domain are known; empty if nothing is missing.
    public func unlocated(_ name: String, at now: Instant) -> [HopTarget] {
        hopTargets[name, default: []].filter { found[$0].map { now >= $0.until } ?? true }
    }

    /// The hop targets of a domain; empty if its addresses are not located by name.
    func hopTargets(of name: String) -> [HopTarget] { hopTargets[name, default: []] }

    /// The addresses located last for a domain, for an operator; expired ones included.
    func addresses(of name: String) -> [AddressBlock] { hopTargets[name, default: []].flatMap { found[$0]?.hosts ?? [] } }

    /// Stores the result of a lookup; results for other hop targets are ignored. A failure clears the addresses of the hop target.
    public mutating func note(_ result: Result<HopPlan, HopFailure>, of hopTarget: HopTarget, until: Instant) {
        guard hopTargets[hopTarget.host]?.contains(hopTarget) == true else { return }
        for block in found[hopTarget]?.hosts ?? [] {
            hopTargetsAt[block]?.remove(hopTarget)
            if hopTargetsAt[block]?.isEmpty ?? false { hopTargetsAt[block] = nil }
        }
        let plan = try? result.get()
        let hosts = (plan?.servers.flatMap(\.addresses) ?? []).filter { $0.transport != .tls }.compactMap { AddressBlock($0.host) }
        found[hopTarget] = Found(hosts: hosts, until: until)
        for block in hosts { hopTargetsAt[block, default: []].insert(hopTarget) }
    }
}
