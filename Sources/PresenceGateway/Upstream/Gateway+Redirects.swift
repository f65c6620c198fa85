import FederationRouting
import SIPCore
import SIPEvents

/// Redirections of a SUBSCRIBE: 3xx with Contact (RFC 3261 8.1.3.4).
///
///     asking --3xx, Contact at the same partner--> asking there, CSeq one higher --...--> answered
///               \--any other, or too many--> ended as `noresource`
extension Gateway {
    /// Places that one attempt is sent on to, at most.
    private static let redirectLimit = 5

    /// Asks where a 3xx points to, if that is a place of the same partner that was not asked yet.
    /// - Returns: false: the answer is handed on.
    func followRedirect(_ response: SIPResponse, of upstream: UpstreamSubscription, at now: Instant) -> Bool {
        guard (300..<400).contains(response.status.rawValue), upstream.dialog == nil, var request = upstream.request,
            var cSeq = request.headers.cSeq
        else { return false }
        let contacts = response.headers.contacts.map(\.uri)
        upstream.redirections.insert(request.requestURI)
        var next: (uri: SIPURI, way: Way)?
        for uri in contacts where next == nil && !upstream.redirections.contains(Self.requestURI(uri)) {
            next = self.way(redirectedTo: uri, of: upstream).map { (uri, $0) }
        }
        guard upstream.redirections.count <= Self.redirectLimit, let (uri, way) = next else {
            let reason =
                contacts.isEmpty
                ? "it names no Contact"
                : next == nil
                    ? "no Contact is a place of the partner that was not asked yet" : "it leads on more than \(Self.redirectLimit) times"
            log(
                .notice, "redirect not followed",
                [
                    "call-id": upstream.callID, "partner": upstream.domain.name, "status": String(response.status.rawValue),
                    "contact": contacts.first?.description ?? "", "reason": reason,
                ])
            return false
        }
        cSeq.number += 1
        request.headers.cSeq = cSeq
        request.requestURI = Self.requestURI(uri)
        request.headers.set(.contact, contact(by: way))
        upstream.request = request
        keep(upstream)
        log(
            .info, "far side redirected SUBSCRIBE",
            ["call-id": upstream.callID, "status": String(response.status.rawValue), "contact": uri.description])
        for resource in upstream.resources {
            note(.redirected, upstream, resource, rule: "RFC 3261 8.1.3.4: \(response.status.rawValue) to \(uri)", at: now)
        }
        send(request, by: way, for: .subscribe(upstream, attempt: upstream.subscriber.attempt), at: now)
        return true
    }

    /// What may stand in a Request-URI (RFC 3261 19.1.1).
    private static func requestURI(_ uri: SIPURI) -> String {
        let text = uri.description
        return String(text.prefix { $0 != "?" })
    }

    /// The way to a Contact; nil: it is not of the partner that was asked, or would leave TLS.
    private func way(redirectedTo uri: SIPURI, of upstream: UpstreamSubscription) -> Way? {
        guard uri.scheme.hasHost, !uri.host.isEmpty else { return nil }
        let hop = upstream.domain.hop
        let origin = SIPURI(host: upstream.domain.name)
        let partner = partnerName(ofDomain: upstream.domain.name)
        let usual = self.transport(toward: hop) ?? hop.transport
        let isSecure = usual == .tls
        if uri.isSecure, !isSecure { return nil }
        guard TransportAddress.isNumeric(uri.host) else {
            let isOfDomain = partner != nil && partnerName(ofDomain: configuration.identities.domain(uri.domainKey)) == partner
            guard isOfDomain || peerTable.isPlace(uri.host, of: origin, beside: peer(at: .init(.udp, "", 0), proving: nil), at: desk.now)
            else { return nil }
            return way(by: hop)
        }
        let transport = uri.transport ?? usual
        let address = TransportAddress(transport, uri.host, uri.port ?? transport.defaultPort)
        if isSecure { return transport == .tls ? proving(address, by: hop, nil).map { way(to: $0, flow: nil) } : nil }
        return isPlace(uri.host, of: origin, nil, hop) ? way(to: address, flow: nil) : nil
    }
}
