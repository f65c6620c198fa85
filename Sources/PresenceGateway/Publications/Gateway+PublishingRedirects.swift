import FederationRouting
import SIPCore

/// Redirections of PUBLISH and SERVICE.
extension Gateway {
    /// Sends a publication to the target of a 3xx.
    /// - Returns: false if the redirection is not followed; the response is processed then.
    func followRedirect(_ response: SIPResponse, to pendingRequest: PendingRequest, of bridge: PIDFBridge, at now: Instant) -> Bool {
        var visited = bridge.dialogContext.redirections
        let target = publishingTarget(response, to: pendingRequest, visited: &visited, of: bridge.uri, side: .simple)
        bridge.noteRedirections(visited)
        return target.map { redirect(pendingRequest, to: $0, at: now) } ?? false
    }

    /// Sends a category publication to the target of a 3xx.
    /// - Returns: false if the redirection is not followed; the response is processed then.
    func followRedirect(_ response: SIPResponse, to pendingRequest: PendingRequest, of bridge: CategoryBridge, at now: Instant) -> Bool {
        var visited = bridge.dialogContext.redirections
        let target = publishingTarget(response, to: pendingRequest, visited: &visited, of: bridge.uri, side: .enterprise)
        bridge.noteRedirections(visited)
        return target.map { redirect(pendingRequest, to: $0, at: now) } ?? false
    }

    private func publishingTarget(
        _ response: SIPResponse, to pendingRequest: PendingRequest, visited: inout Set<String>, of uri: SIPURI, side: DomainSide
    ) -> (uri: SIPURI, requestRoute: RequestRoute)? {
        guard response.isRedirection, let request = pendingRequest.repeatable?.request,
            let hop = publishingHop(of: uri, side: side)
        else { return nil }
        return redirection(of: response, from: request.requestURI, visited: &visited, of: uri.domainKey, by: hop)
    }

    private func redirect(
        _ pendingRequest: PendingRequest, to target: (uri: SIPURI, requestRoute: RequestRoute), at now: Instant
    ) -> Bool {
        guard var request = pendingRequest.repeatable?.request, flows.publications.renumber(&request, of: pendingRequest.origin) else {
            return false
        }
        request.requestURI = target.uri.requestURI
        request.headers.remove(.authorization)
        request.headers.remove(.proxyAuthorization)
        if let before = request.headers.contact, var contact = NameAddr(contact(by: target.requestRoute)) {
            contact.parameters = before.parameters
            request.headers.set(.contact, contact.description)
        }
        send(request, by: target.requestRoute, for: pendingRequest.origin, at: now)
        return true
    }
}
