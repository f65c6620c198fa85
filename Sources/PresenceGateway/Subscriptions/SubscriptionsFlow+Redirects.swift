import FederationRouting
import SIPCore
import SIPEvents

/// Redirections of NOTIFY.
extension SubscriptionsFlow {
    /// Sends the newest state to the target of a 3xx; the route set (RFC 3261 12.2.1.2) and the remote target of the dialog are unchanged.
    /// - Returns: false if the redirection is not followed; the response is processed then.
    func followRedirect(_ response: SIPResponse, of watcher: WatcherDialog, at now: Instant) -> Bool {
        guard response.isRedirection, watcher.delivery.partner != nil, let hop = hop(toward: watcher.watcher),
            watcher.dialog.routeSet.first?.uri.isLooseRoute ?? true
        else { return false }
        let domain = configuration.identities.identity(of: watcher.watcher).uri.domainKey
        let redirect = watcher.delivery.redirect ?? NotifyRedirect(from: watcher.dialog.remoteTarget.requestURI)
        guard
            let (uri, requestRoute) = ports.redirection(
                of: response, from: redirect.requestURI, visited: &redirect.visited, of: domain, by: hop, beside: watcher.flow)
        else { return false }
        redirect.requestURI = uri.requestURI
        redirect.requestRoute = watcher.dialog.routeSet.isEmpty ? requestRoute : nil
        watcher.follow(redirect)
        perform(watcher.notifier.notifyRerouted(at: now), on: watcher, at: now)
        return true
    }

    /// The route of a NOTIFY without redirection.
    func requestRoute(of watcher: WatcherDialog) -> RequestRoute {
        ports.requestRoute(of: watcher.dialog, flow: watcher.flow, hop: hop(toward: watcher.watcher), to: watcher.watcher)
    }
}

/// Redirections of one NOTIFY, until its final response.
final class NotifyRedirect {
    /// Request-URIs that redirected it.
    fileprivate(set) var visited: Set<String> = []
    /// Request-URI of the newest redirection.
    fileprivate(set) var requestURI: String
    /// Route to the newest redirection; nil: the dialog's route set applies.
    fileprivate(set) var requestRoute: RequestRoute?

    fileprivate init(from requestURI: String) { self.requestURI = requestURI }
}
