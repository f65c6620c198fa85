import FederationRouting
import SIPCore

/// Redirections of SUBSCRIBE.
extension UpstreamFlow {
    /// Sends the SUBSCRIBE to the target of a 3xx, if that belongs to the same partner and was not tried yet.
    /// - Returns: false if the redirection is not followed; the response is processed then.
    func followRedirect(_ response: SIPResponse, of upstream: UpstreamSubscription, at now: Instant) -> Bool {
        guard response.isRedirection, var request = upstream.attempt.request, var cSeq = request.headers.cSeq else { return false }
        var visited = upstream.attempt.redirectedFrom
        let target = ports.redirection(
            of: response, from: request.requestURI, visited: &visited, of: upstream.domain.name, by: upstream.domain.hop, beside: nil)
        upstream.attempt.redirected(from: visited)
        guard let (uri, requestRoute) = target else { return false }
        cSeq.number += 1
        request.headers.cSeq = cSeq
        request.requestURI = uri.requestURI
        request.headers.set(.contact, contact(by: requestRoute))
        upstream.attempt.ask(request)
        keep(upstream)
        for resource in upstream.resources {
            note(.redirected, upstream, resource, rule: "RFC 3261 8.1.3.4: \(response.status.rawValue) to \(uri)", at: now)
        }
        send(request, by: requestRoute, for: origin(of: upstream), in: commitScope(of: upstream), at: now)
        return true
    }
}
