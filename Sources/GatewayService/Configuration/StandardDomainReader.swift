import FederationRouting
import PresenceGateway
import SIPCore

/// Keys of remote SIMPLE domains: how the gateway subscribes there.
struct StandardDomainReader {
    let fields: [String: ConfigurationNode]

    func read(into domain: inout DomainConfiguration) {
        let isElsewhere = domain.side == .simple && !domain.hosted
        for name in ["partial", "list-service", "watcher-list"] where !isElsewhere {
            fields[name]?.refuse("is for simple domains that are not hosted here")
        }
        if let partial = fields["partial"]?.bool() { domain.partial = partial }
        if fields["list-service"] != nil, let kept = fields["watcher-list"] { kept.refuse("excludes `list-service`") }
        if let service = fields["list-service"], let uri = service.string() {
            domain.lists = lists(.adHoc(service: uri), at: service)
        } else if let kept = fields["watcher-list"], let template = kept.string() {
            domain.lists = lists(.kept(template: template), at: kept)
        }
    }

    private func lists(_ lists: UpstreamLists, at node: ConfigurationNode) -> UpstreamLists? {
        if let watcher = SIPURI("sip:user@example.org"), lists.uri(of: watcher) != nil { return lists }
        node.refuse("must be a sip or sips URI; in a watcher-list {user} and {host} stand for the watcher's")
        return nil
    }
}
