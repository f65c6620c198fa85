import FederationRouting
import PresenceGateway
import SIPCore

/// Name that a domain claims for its users, exclusively.
struct NameClaim {
    /// Alias in lower case, or a prefix of global numbers.
    var name: String
    var domain: String
    var node: ConfigurationNode
}

/// `domains.NAME.aliases`, `.schemes` and `.numbers`: other URIs of a domain's users besides `sip:user@domain`.
extension ConfigurationReader {
    static func isDomainName(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix(".") && !name.hasPrefix("-")
            && name.utf8.allSatisfy {
                $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") || (48...57).contains($0) || (97...122).contains($0)
            }
    }

    mutating func readForms(_ fields: [String: ConfigurationNode], of domain: inout DomainConfiguration, named domainName: String) {
        for key in ["aliases", "numbers"] where domainName == "*" {
            fields[key]?.refuse("is for domains with a name")
        }
        for node in fields["aliases"]?.elements() ?? [] {
            guard let name = node.string()?.lowercased() else { continue }
            guard Self.isDomainName(name) else {
                node.refuse("is no domain name")
                continue
            }
            domain.forms.aliases.append(name)
            claims.append(NameClaim(name: name, domain: domainName, node: node))
        }
        if let nodes = fields["schemes"]?.elements() {
            enum Choice: String, CaseIterable { case sips, pres, im }
            domain.forms.schemes = Set(nodes.compactMap { $0.choice(Choice.self) }.map { SIPURI.Scheme(rawValue: $0.rawValue) })
        }
        for node in fields["numbers"]?.elements() ?? [] {
            guard let text = node.string() else { continue }
            guard let prefix = IdentityTable.globalNumber(text) else {
                node.refuse("is no prefix of global numbers, as in +1425555 (RFC 3966 5.1.4)")
                continue
            }
            domain.forms.numbers.append(prefix)
            claims.append(NameClaim(name: prefix, domain: domainName, node: node))
        }
    }

    /// Refuses names claimed by two domains; the mistake is recorded at the later one.
    func checkClaims(domains: Set<String>) {
        var owners: [String: String] = [:]
        for claim in claims {
            if domains.contains(claim.name) {
                claim.node.refuse("is a domain of its own")
            } else if let owner = owners[claim.name] {
                claim.node.refuse("is claimed by \(owner) already")
            } else {
                owners[claim.name] = claim.domain
            }
        }
    }
}
