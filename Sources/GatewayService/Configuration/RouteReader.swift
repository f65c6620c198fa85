import FederationRouting
import PresenceGateway
import SIPCore
import Yams

/// Keys of a domain for its next hops: `route`, `routes`, `users`, `discover`.
struct RouteReader {
    let fields: [String: ConfigurationNode]
    let isNamed: Bool

    static let keys = ["route", "routes", "users", "discover"]

    /// Reads the keys into `domain`; mistakes of their combination are recorded at `entry`.
    func read(into domain: inout DomainConfiguration, at entry: ConfigurationNode) {
        if domain.hosted {
            for key in Self.keys { fields[key]?.refuse("a hosted domain has no route: this gateway is its home server") }
            return
        }
        let general = ["route", "routes", "discover"].compactMap { key in fields[key].map { (key, $0) } }
        if general.isEmpty { entry.refuse("needs `route`, `routes` or `discover`, or `hosted: true`, or `refuse`") }
        for (key, node) in general.dropFirst() { node.refuse("excludes `\(general[0].0)`: `\(key)` is another way to the same domain") }
        if let route = fields["route"] { domain.federation.route = Self.address(route) }
        if let routes = fields["routes"] { domain.federation.hops = Self.hops(routes) }
        if let discover = fields["discover"] { domain.federation.discovery = discovery(discover) }
        if let users = fields["users"] { domain.federation.userRoutes = userRoutes(users) }
    }

    private func discovery(_ node: ConfigurationNode) -> Discovery? {
        if node.node.scalar?.string == "false" {
            node.refuse("leave it out, and give a route")
            return nil
        }
        return node.choice(Discovery.self)
    }

    private func userRoutes(_ users: ConfigurationNode) -> [UserRoute] {
        guard isNamed else {
            users.refuse("is for a named domain: nobody knows the users of those that \"*\" covers")
            return []
        }
        guard let entries = users.entries() else { return [] }
        if entries.isEmpty { users.refuse("at least one pattern is needed") }
        return entries.compactMap { entry in
            guard !entry.name.isEmpty, !entry.name.utf8.contains(UInt8(ascii: "@")) else {
                entry.keyNode.refuse("is no pattern of a user part: characters, with * for any of them, without @ and domain")
                return nil
            }
            guard let fields = entry.value.fields(["route", "routes"]) else { return nil }
            switch (fields["route"], fields["routes"]) {
            case (let route?, nil): return Self.address(route).map { UserRoute(UserPattern(entry.name), [ListedHop($0)]) }
            case (nil, let routes?): return UserRoute(UserPattern(entry.name), Self.hops(routes))
            default:
                entry.value.refuse("needs `route` or `routes`, and not both")
                return nil
            }
        }
    }

    /// Reads the address of one next hop.
    static func address(_ node: ConfigurationNode) -> TransportAddress? {
        guard let address = node.address() else { return nil }
        if address.port == 0 {
            node.refuse("a route needs a port")
            return nil
        }
        return address
    }

    /// Reads a list of next hops, each with priority and weight.
    private static func hops(_ node: ConfigurationNode) -> [ListedHop] {
        guard let elements = node.elements() else { return [] }
        if elements.isEmpty { node.refuse("at least one route is needed") }
        if elements.count > limit { node.refuse("more than \(limit) routes for one domain") }
        var isSecure: Bool?
        return elements.compactMap { element in
            guard let hop = listed(element) else { return nil }
            let isTLS = hop.address.transport == .tls
            if let first = isSecure, first != isTLS {
                element.refuse("mixes hops with and without TLS: who can stop the one would have everything in clear by the other")
                return nil
            }
            isSecure = isTLS
            return hop
        }
    }

    /// Reads one next hop of a list.
    private static func listed(_ element: ConfigurationNode) -> ListedHop? {
        if element.node.scalar != nil { return address(element).map { ListedHop($0) } }
        guard let fields = element.fields(["to", "priority", "weight"]) else { return nil }
        guard let to = fields["to"] else {
            element.refuse("`to` is missing, as in { to: \"tcp:edge1.example.org:5060\", priority: 10, weight: 60 }")
            return nil
        }
        let priority = fields["priority"].map { $0.integer(0...65_535) ?? 0 } ?? 0
        let weight = fields["weight"].map { $0.integer(0...65_535) ?? 1 } ?? 1
        return address(to).map { ListedHop($0, priority: priority, weight: weight) }
    }

    private static let limit = 32
}
