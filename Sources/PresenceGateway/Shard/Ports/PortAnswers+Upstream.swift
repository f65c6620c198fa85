import FederationRouting
import SIPCore
import SIPEvents

/// Answers to the upstream subscriptions; the requirements that are missing here have defaults.
extension PortAnswers: UpstreamPorts {
    var badEvent: Refusal { flows.subscriptions.packages.badEvent }

    func sourceChanged(_ resource: WatchedResource, of watcher: WatcherDialog, at now: Instant) {
        flows.presenceSubscriptions.sourceChanged(resource, of: watcher, at: now)
    }

    func authorizationChanged(isPending: Bool, of resource: WatchedResource, to watcher: WatcherDialog, at now: Instant) {
        flows.presenceSubscriptions.authorizationChanged(isPending: isPending, of: resource, to: watcher, at: now)
    }

    func sourceEnded(_ termination: UpstreamTermination, of resource: WatchedResource, to watcher: WatcherDialog, at now: Instant) {
        flows.presenceSubscriptions.sourceEnded(termination, of: resource, to: watcher, at: now)
    }

    func isSpeaker(_ flow: Flow, for user: SIPURI) -> Bool { flows.border.isSpeaker(flow, for: user) }

    func checkPath(_ request: SIPRequest, of user: SIPURI, _ flow: Flow) throws(Refusal) {
        try flows.border.checkPath(request, of: user, flow)
    }

    func requestRoute(of dialog: Dialog, flow: Flow?, hop: NextHop?, to user: SIPURI) -> RequestRoute {
        flows.border.requestRoute(of: dialog, flow: flow, hop: hop, to: user)
    }

    func isLasting(_ hop: NextHop?) -> Bool { flows.border.isLasting(hop) }

    func redirection(
        of response: SIPResponse, from requestURI: String, visited: inout Set<String>, of domain: String, by hop: NextHop,
        beside flow: Flow?
    ) -> (uri: SIPURI, requestRoute: RequestRoute)? {
        flows.border.redirection(of: response, from: requestURI, visited: &visited, of: domain, by: hop, beside: flow)
    }

    func keepAlive(_ name: String, at now: Instant) { flows.border.probes.keepAlive(name, at: now) }

    func askNow(_ name: String, of server: TransportAddress?, at now: Instant) -> Bool {
        flows.border.probes.askNow(name, of: server, at: now)
    }
}
