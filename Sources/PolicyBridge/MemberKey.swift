import EnhancedPresence
import PresenceDocuments
import SIPCore

/// Member of a container in the form in which rules and containers compare it.
enum MemberKey: Hashable, Comparable {
    /// `user@domain`, the text of a ``PresenceAddress`` and of an AOR key.
    case user(String)
    /// Domain in lower case.
    case domain(String)
    /// `sameEnterprise`, `federated` or `publicCloud`.
    case network(String)
    /// All watchers, anonymous ones included.
    case everyone

    var member: ContainerMember {
        switch self {
        case .user(let address): ContainerMember(.user, value: address)
        case .domain(let domain): ContainerMember(.domain, value: domain)
        case .network(let name): ContainerMember(ContainerMemberType(rawValue: name))
        case .everyone: ContainerMember(.everyone)
        }
    }

    /// Domain of `user@domain`.
    static func domain(of address: String) -> String {
        address.lastIndex(of: "@").map { String(address[address.index(after: $0)...]) } ?? ""
    }
}

/// Keys of users and domains: rules compare canonical URIs, containers compare text.
struct KeyReader {
    var canonical: @Sendable (SIPURI) -> SIPURI

    /// Key of `one` and of `except`; nil for text that is no `user@domain` which containers compare alike.
    func user(ofRule id: String) -> String? {
        guard let uri = SIPURI(id), uri.scheme.hasHost else { return nil }
        let mapped = canonical(uri)
        guard mapped.scheme.hasHost, mapped.user != nil else { return nil }
        let text = String(mapped.aorKey.dropFirst("sip:".count))
        return PresenceAddress(text).text == text ? text : nil
    }

    /// Key of the domain of `many` and of `except`; nil for text that containers compare in another way.
    func domain(ofRule name: String) -> String? {
        let domain = canonical(SIPURI(host: name)).domainKey
        return !domain.isEmpty && PresenceAddress("@" + domain).domain == domain ? domain : nil
    }

    /// Key of a container member, and whether rules compare it alike; nil for a member that matches no watcher.
    func key(of member: ContainerMember) -> (key: MemberKey, isExact: Bool)? {
        switch member.type {
        case .user:
            let text = PresenceAddress(member.value ?? "").text
            guard let key = user(ofRule: "sip:" + text) else { return nil }
            return (.user(key), key == text)
        case .domain:
            let text = PresenceAddress("@" + (member.value ?? "")).domain
            guard let key = domain(ofRule: text) else { return nil }
            return (.domain(key), key == text)
        case .sameEnterprise, .federated, .publicCloud: return (.network(member.type.rawValue), true)
        case .everyone: return (.everyone, true)
        default: return nil
        }
    }
}
