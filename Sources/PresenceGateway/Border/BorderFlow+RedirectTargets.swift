import FederationRouting
import SIPCore

/// Redirections of requests to partners: 3xx with Contact (RFC 3261 8.1.3.4).
///
///     sent --3xx, Contact at the same partner--> sent there, CSeq one higher --...--> answered
///               \--other, or too many--> refused: SUBSCRIBE ends as `noresource`, NOTIFY ends its dialog, PUBLISH, SERVICE get 502
extension BorderFlow {
    /// Largest number of redirections of one request.
    private static let redirectLimit = 5

    /// The first Contact that belongs to the partner and was not tried yet, with its route; nil if there is none: the reason is logged.
    /// - Parameters:
    ///   - requestURI: Request-URI of the redirected request.
    ///   - visited: Request-URIs tried before; the redirected one is added.
    ///   - hop: next hop of the partner's domain.
    ///   - flow: source of the dialog's requests; nil outside a watcher dialog.
    func redirection(
        of response: SIPResponse, from requestURI: String, visited: inout Set<String>, of domain: String, by hop: NextHop,
        beside flow: Flow? = nil
    ) -> (uri: SIPURI, requestRoute: RequestRoute)? {
        let contacts = response.headers.contacts.map(\.uri)
        visited.insert(requestURI)
        var next: (uri: SIPURI, requestRoute: RequestRoute)?
        for uri in contacts where next == nil && !visited.contains(uri.requestURI) {
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
            guard isOfDomain || isAddress(uri.host, of: origin, nil, nil) else { return nil }
            return requestRoute(by: hop)
        }
        let transport = uri.transport ?? usual
        let address = TransportAddress(transport, uri.host, uri.port ?? transport.defaultPort)
        if isSecure { return transport == .tls ? proving(address, by: hop, flow).map { requestRoute(to: $0, flow: nil) } : nil }
        return isAddress(uri.host, of: origin, flow, hop) ? requestRoute(to: address, flow: nil) : nil
    }
}

extension SIPResponse {
    /// Whether the response redirects its request.
    var isRedirection: Bool { (300..<400).contains(status.rawValue) }
}

extension SIPURI {
    /// The URI without header fields, which a Request-URI must not have (RFC 3261 19.1.1).
    var requestURI: String {
        let text = description
        return String(text.prefix { $0 != "?" })
    }
}
