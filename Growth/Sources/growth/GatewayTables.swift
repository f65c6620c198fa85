import FederationRouting
import PresenceDocuments
import PresenceRules
@_spi(TokenSource) import SIPCore
import XMLCore

@testable import PresenceGateway

/// Gateway with two hosted domains, and peers that are trusted without proof.
private final class Rig {
    private static let local = TransportAddress(.tcp, "192.0.2.1", 5060)
    private static let peer = TransportAddress(.tcp, "192.0.2.20", 5060)
    private var now = Instant(secondsSince1970: 1_700_000_000)
    private let gateway: Gateway
    private var serial = 0

    init() {
        var configuration = GatewayConfiguration(
            nodeName: "edge1.example.net", listeners: [Self.local],
            domains: [
                "contoso.com": DomainConfiguration(side: .enterprise, route: Self.peer, network: .federated),
                "example.org": DomainConfiguration(side: .simple, route: Self.peer, network: .federated),
                "fabrikam.com": DomainConfiguration(side: .enterprise, hosted: true, network: .sameEnterprise),
                "example.com": DomainConfiguration(side: .simple, hosted: true, unruled: .allow),
            ])
        configuration.trust(DomainTrust(peers: "192.0.2.0/24"))
        configuration.limits.subscriptionsPerWatcher = 100_000
        configuration.listServer = SIPURI("sip:lists@example.com")
        gateway = Gateway(configuration: configuration, key: TokenKey(1, 2, 3, 4))
    }

    /// Sends a request of a user; returns the status of its response, and the number of requests that the gateway sends.
    func send(
        _ method: String, from: String, to: String, _ lines: String, body: String = "", type: String = ""
    ) -> (status: Int, requests: Int) {
        serial += 1
        let content = body.isEmpty ? "" : "Content-Type: \(type)\r\n"
        let text =
            "\(method) sip:\(to) SIP/2.0\r\nVia: SIP/2.0/TCP 192.0.2.20:5060;branch=z9hG4bK\(serial)\r\nMax-Forwards: 70\r\n"
            + "From: <sip:\(from)>;tag=f\(serial)\r\nTo: <sip:\(to)>\r\nCall-ID: c\(serial)\r\nCSeq: 1 \(method)\r\n\(lines)\(content)"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        gateway.receive(
            InboundMessage(bytes: Array(text.utf8), local: Self.local, remote: Self.peer, connection: ConnectionID(rawValue: 1)), at: now)
        var status = 0
        var requests = 0
        for outbound in gateway.takeOutput() {
            switch SIPParser.parse(outbound.bytes) {
            case .success(.response(let response)): status = response.status.rawValue
            default: requests += 1
            }
        }
        return (status, requests)
    }

    func subscribe(from: String, to: String, accept: String, lines: String = "", body: String = "", type: String = "") -> (
        status: Int, requests: Int
    ) {
        send(
            "SUBSCRIBE", from: from, to: to,
            "Contact: <sip:192.0.2.20:5060;transport=tcp>\r\nEvent: presence\r\nExpires: 600\r\nAccept: \(accept)\r\n\(lines)", body: body,
            type: type)
    }

    func publish(_ user: String, _ body: String) -> (status: Int, requests: Int) {
        send("PUBLISH", from: user, to: user, "Event: presence\r\nExpires: 600\r\n", body: body, type: "application/pidf+xml")
    }

    func pass(_ span: TimeSpan) {
        let end = now + span
        while let due = gateway.nextDeadline, due <= end {
            now = max(now, due)
            gateway.advance(to: now)
            _ = gateway.takeOutput()
        }
        now = end
    }
}

private let categoryTypes = "application/msrtc-event-categories+xml, application/rlmi+xml, multipart/related"
private let batchOpen = "<batchSub xmlns=\"http://schemas.microsoft.com/2006/01/sip/batch-subscribe\" uri=\"sip:x@contoso.com\" name=\"\">"
private let listOpen = "<categoryList xmlns=\"http://schemas.microsoft.com/2006/09/sip/categorylist\">"

private func pidf(_ content: String) -> String {
    "<presence xmlns=\"urn:ietf:params:xml:ns:pidf\" entity=\"sip:kai@example.com\">\(content)</presence>"
}

extension Construct {
    private static func batch(_ name: String, from smallest: Int, resources: @escaping (Int) -> Int, categories: @escaping (Int) -> Int)
        -> Construct
    {
        Construct("gateway: \(name)", from: smallest) { size in
            let body =
                batchOpen + "<action name=\"subscribe\" id=\"1\"><adhocList>"
                + (0..<resources(size)).map { "<resource uri=\"sip:u\($0)@fabrikam.com\"/>" }.joined() + "</adhocList>" + listOpen
                + (0..<categories(size)).map { "<category name=\"\($0 == 0 ? "state" : "c\($0)")\"/>" }.joined()
                + "</categoryList></action></batchSub>"
            let rig = Rig()
            return {
                rig.subscribe(
                    from: "eve@contoso.com", to: "eve@contoso.com", accept: categoryTypes,
                    lines: "Require: adhoclist, categoryList\r\nSupported: eventlist, ms-piggyback-first-notify\r\n", body: body,
                    type: "application/msrtc-adrl-categorylist+xml"
                ).status == 200
            }
        }
    }

    static let gatewayTables: [Construct] = [
        batch("resources of a batch subscription", from: 25, resources: { $0 }, categories: { _ in 1 }),
        batch("categories of a batch subscription", from: 4, resources: { _ in 1 }, categories: { $0 }),
        Construct("gateway: entries of a list subscription", from: 25) { size in
            let rig = Rig()
            let entries = (0..<size).map { "<entry uri=\"sip:u\($0)@example.com\"/>" }.joined()
            return {
                rig.subscribe(
                    from: "ann@example.org", to: "lists@example.com",
                    accept: "application/pidf+xml, application/rlmi+xml, multipart/related",
                    lines: "Supported: eventlist\r\nRequire: recipient-list-subscribe\r\nContent-Disposition: recipient-list\r\n",
                    body: "<resource-lists xmlns=\"urn:ietf:params:xml:ns:resource-lists\"><list>\(entries)</list></resource-lists>",
                    type: "application/resource-lists+xml"
                ).status == 200
            }
        },
        Construct("gateway: subscriptions of one watcher", from: 50) { size in
            let rig = Rig()
            return {
                (0..<size).allSatisfy {
                    rig.subscribe(from: "ann@example.org", to: "u\($0)@example.com", accept: "application/pidf+xml").status == 200
                }
            }
        },
        Construct("gateway: subscriptions to one presentity", from: 50) { size in
            let rig = Rig()
            return {
                (0..<size).allSatisfy {
                    rig.subscribe(from: "u\($0)@example.org", to: "kai@example.com", accept: "application/pidf+xml").status == 200
                }
            }
        },
        Construct("gateway: watchers that are notified", from: 50) { size in
            let rig = Rig()
            for number in 0..<size {
                _ = rig.subscribe(from: "u\(number)@example.org", to: "kai@example.com", accept: "application/pidf+xml")
            }
            rig.pass(.seconds(40))
            return { rig.publish("kai@example.com", pidf("<note>x</note>")).status == 200 }
        },
        Construct("gateway: publications of one presentity", from: 25) { size in
            let rig = Rig()
            return { (0..<size).allSatisfy { rig.publish("kai@example.com", pidf("<note>\($0)</note>")).status == 200 } }
        },
        Construct("gateway: presentities that publish", from: 50) { size in
            let rig = Rig()
            return { (0..<size).allSatisfy { rig.publish("u\($0)@example.com", pidf("<note>\($0)</note>")).status == 200 } }
        },
        remoteList("resources", from: 100) { size in
            (related(
                rlmi((0..<size).map { resource("u\($0)@example.net", cid: "c\($0)") }.joined()), (0..<size).map { part("c\($0)", "<p/>") }))
        },
        remoteList("lists in a list", from: 50) { size in
            related(
                rlmi((0..<size).map { resource("l\($0)@example.net", cid: "c\($0)") }.joined()),
                (0..<size).map { inner("c\($0)", rlmi(resource("u\($0)@example.net"))) })
        },
        remoteList("resources that name the same list", from: 60) { size in
            related(
                rlmi((0..<size).map { resource("l\($0)@example.net", cid: "c") }.joined()),
                [inner("c", rlmi((0..<size).map { resource("u\($0)@example.net") }.joined()))])
        },
        remoteList("mentions of the same list", from: 60) { size in
            related(
                rlmi((0..<size).map { _ in resource("l@example.net", cid: "c") }.joined()),
                [inner("c", rlmi((0..<size).map { resource("u\($0)@example.net") }.joined()))])
        },
        remoteList("instances of a resource", from: 8) { size in
            related(
                rlmi(
                    "<resource uri=\"sip:u@example.net\">"
                        + (0..<size).map { "<instance id=\"\($0)\" state=\"active\" cid=\"c\"/>" }.joined()
                        + "</resource>"), [part("c", "<p/>")])
        },
    ]

    // MARK: lists of other domains

    private static func remoteList(_ name: String, from smallest: Int, _ body: @escaping (Int) -> [UInt8]) -> Construct {
        Construct("list of another domain: \(name)", from: smallest) { size in
            let bytes = body(size)
            let type = MediaType("multipart/related;type=\"application/rlmi+xml\";start=\"<root>\";boundary=b1")
            return {
                guard let type, let notification = try? ResourceListNotification(bytes, contentType: type, parser: XMLParser()) else {
                    return false
                }
                var state = ResourceListState()
                let first = state.receive(notification)
                var next = notification
                next.meta.version += 1
                return !first.updates.isEmpty && !state.receive(next).isOutdated && !notification.body(boundary: "x").bytes.isEmpty
            }
        }
    }

    private static func resource(_ uri: String, cid: String? = nil) -> String {
        "<resource uri=\"sip:\(uri)\"><instance id=\"1\" state=\"active\"\(cid.map { " cid=\"\($0)\"" } ?? "")/></resource>"
    }

    private static func rlmi(_ resources: String) -> String {
        "<list xmlns=\"urn:ietf:params:xml:ns:rlmi\" uri=\"sip:team@example.net\" version=\"1\" fullState=\"true\">\(resources)</list>"
    }

    private static func part(_ identifier: String, _ body: String, type: String = "application/pidf+xml") -> String {
        "Content-ID: <\(identifier)>\r\nContent-Type: \(type)\r\n\r\n\(body)\r\n"
    }

    private static func related(_ rlmi: String, _ parts: [String]) -> [UInt8] {
        let all = [part("root", rlmi, type: "application/rlmi+xml")] + parts
        return Array((all.map { "--b1\r\n\($0)" }.joined() + "--b1--\r\n").utf8)
    }

    private static func inner(_ identifier: String, _ rlmi: String) -> String {
        part(
            identifier, "--b2\r\n" + part("root", rlmi, type: "application/rlmi+xml") + "--b2--",
            type: "multipart/related;type=\"application/rlmi+xml\";start=\"<root>\";boundary=b2")
    }
}
