import FederationRouting
import SIPCore
import SIPEvents

/// Redirections of requests to partners: 3xx with Contact (RFC 3261 8.1.3.4).
///
///     sent --3xx, Contact at the same partner--> sent there, CSeq one higher --...--> answered
///               \--other, or too many--> refused: SUBSCRIBE ends as `noresource`, NOTIFY ends its dialog, PUBLISH, SERVICE get 502
extension Gateway {
    /// Largest number of redirections of one request.
    private static let redirectLimit = 5

    // MARK: SUBSCRIBE

    /// Sends the SUBSCRIBE to the target of a 3xx, if that belongs to the same partner and was not tried yet.
    /// - Returns: false if the redirection is not followed; the response is processed then.
    func followRedirect(_ response: SIPResponse, of upstream: UpstreamSubscription, at now: Instant) -> Bool {
        guard Self.isRedirection(response), var request = upstream.attempt.request, var cSeq = request.headers.cSeq else { return false }
        var visited = upstream.attempt.redirectedFrom
        let target = redirection(
            response, from: request.requestURI, visited: &visited, of: upstream.domain.name, by: upstream.domain.hop)
        upstream.attempt.redirected(from: visited)
        guard let (uri, requestRoute) = target else { return false }
        cSeq.number += 1
        request.headers.cSeq = cSeq
        request.requestURI = Self.requestURI(uri)
        request.headers.set(.contact, contact(by: requestRoute))
        upstream.attempt.ask(request)
        keep(upstream)
        for resource in upstream.resources {
            note(.redirected, upstream, resource, rule: "RFC 3261 8.1.3.4: \(response.status.rawValue) to \(uri)", at: now)
        }
        send(request, by: requestRoute, for: flows.upstream.origin(of: upstream), at: now)
        return true
    }

    // MARK: NOTIFY

    /// Sends the newest state to the target of a 3xx; the route set (RFC 3261 12.2.1.2) and the remote target of the dialog are unchanged.
    /// - Returns: false if the redirection is not followed; the response is processed then.
    func followRedirect(_ response: SIPResponse, of watcher: WatcherDialog, at now: Instant) -> Bool {
        guard Self.isRedirection(response), watcher.partner != nil, let hop = hop(toward: watcher.watcher),
            watcher.dialog.routeSet.first?.uri.isLooseRoute ?? true
        else { return false }
        let domain = configuration.identities.identity(of: watcher.watcher).uri.domainKey
        let redirect = watcher.redirect ?? NotifyRedirect(from: Self.requestURI(watcher.dialog.remoteTarget))
        guard
            let (uri, requestRoute) = redirection(
                response, from: redirect.requestURI, visited: &redirect.visited, of: domain, by: hop, beside: watcher.flow)
        else { return false }
        redirect.requestURI = Self.requestURI(uri)
        redirect.requestRoute = watcher.dialog.routeSet.isEmpty ? requestRoute : nil
        watcher.follow(redirect)
        perform(watcher.notifier.notifyRerouted(at: now), on: watcher, at: now)
        return true
    }

    /// The route of a NOTIFY without redirection.
    func requestRoute(of watcher: WatcherDialog) -> RequestRoute {
        requestRoute(of: watcher.dialog, flow: watcher.flow, hop: hop(toward: watcher.watcher), to: watcher.watcher)
    }

    // MARK: PUBLISH and SERVICE

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
        guard Self.isRedirection(response), let request = pendingRequest.repeatable?.request,
            let hop = publishingHop(of: uri, side: side)
        else { return nil }
        return redirection(response, from: request.requestURI, visited: &visited, of: uri.domainKey, by: hop)
    }

    private func redirect(
        _ pendingRequest: PendingRequest, to target: (uri: SIPURI, requestRoute: RequestRoute), at now: Instant
    ) -> Bool {
        guard var request = pendingRequest.repeatable?.request, flows.publications.renumber(&request, of: pendingRequest.origin) else {
            return false
        }
        request.requestURI = Self.requestURI(target.uri)
        request.headers.remove(.authorization)
        request.headers.remove(.proxyAuthorization)
        if let before = request.headers.contact, var contact = NameAddr(contact(by: target.requestRoute)) {
            contact.parameters = before.parameters
            request.headers.set(.contact, contact.description)
        }
        send(request, by: target.requestRoute, for: pendingRequest.origin, at: now)
        return true
    }

    // MARK: targets

    private static func isRedirection(_ response: SIPResponse) -> Bool { (300..<400).contains(response.status.rawValue) }

    /// The first Contact that belongs to the partner and was not tried yet, with its route; nil if there is none: the reason is logged.
    /// - Parameters:
    ///   - requestURI: Request-URI of the redirected request.
    ///   - visited: Request-URIs tried before; the redirected one is added.
    ///   - hop: next hop of the partner's domain.
    ///   - flow: source of the dialog's requests; nil outside a watcher dialog.
    private func redirection(
        _ response: SIPResponse, from requestURI: String, visited: inout Set<String>, of domain: String, by hop: NextHop,
        beside flow: Flow? = nil
    ) -> (uri: SIPURI, requestRoute: RequestRoute)? {
        let contacts = response.headers.contacts.map(\.uri)
        visited.insert(requestURI)
        var next: (uri: SIPURI, requestRoute: RequestRoute)?
        for uri in contacts where next == nil && !visited.contains(Self.requestURI(uri)) {
            next = requestRoute(redirectedTo: uri, of: domain, by: hop, beside: flow).map { (uri, $0) }
        }
        let refusal: String? =
            if contacts.isEmpty {
                "it names no Contact"
            } else if next == nil {
                "no Contact is a place of the partner that was not asked yet"
            } else if visited.count > Self.redirectLimit {
                "it leads on more than \(Self.redirectLimit) times"
            } else {
                nil
            }
        let contact = (next?.uri ?? contacts.first)?.host ?? ""
        let method = response.headers.cSeq?.method.rawValue ?? ""
        let status = String(response.status.rawValue)
        if let refusal {
            log(
                .notice, "redirect not followed",
                [
                    "call-id": response.headers.callID ?? "", "partner": domain, "method": method, "status": status, "contact": contact,
                    "reason": refusal,
                ])
            return nil
        }
        log(
            .info, "redirect followed",
            ["call-id": response.headers.callID ?? "", "partner": domain, "method": method, "status": status, "contact": contact])
        return next
    }

    /// The URI without header fields, which a Request-URI must not have (RFC 3261 19.1.1).
    private static func requestURI(_ uri: SIPURI) -> String {
        let text = uri.description
        return String(text.prefix { $0 != "?" })
    }

    /// The route to a Contact; nil if it does not belong to the partner or would leave TLS.
    private func requestRoute(redirectedTo uri: SIPURI, of domain: String, by hop: NextHop, beside flow: Flow?) -> RequestRoute? {
        guard uri.scheme.hasHost, !uri.host.isEmpty else { return nil }
        let origin = SIPURI(host: domain)
        let partner = partnerName(ofDomain: domain)
        let usual = self.transport(toward: hop) ?? hop.transport
        let isSecure = usual == .tls
        if uri.isSecure, !isSecure { return nil }
        guard TransportAddress.isNumeric(uri.host) else {
            let isOfDomain = partner != nil && partnerName(ofDomain: configuration.identities.domain(uri.domainKey)) == partner
            guard
                isOfDomain
                    || peers.table.isAddress(uri.host, of: origin, beside: peer(at: .init(.udp, "", 0), proving: nil), at: commitLog.now)
            else { return nil }
            return requestRoute(by: hop)
        }
        let transport = uri.transport ?? usual
        let address = TransportAddress(transport, uri.host, uri.port ?? transport.defaultPort)
        if isSecure { return transport == .tls ? proving(address, by: hop, flow).map { requestRoute(to: $0, flow: nil) } : nil }
        return isAddress(uri.host, of: origin, flow, hop) ? requestRoute(to: address, flow: nil) : nil
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
