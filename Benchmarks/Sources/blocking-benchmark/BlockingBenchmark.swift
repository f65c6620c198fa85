import FederationRouting
import Measurement
import PresenceGateway
@_spi(TokenSource) import SIPCore

/// `blocking-benchmark`: processor time of polls by a blocked watcher, and by the same watcher for a user without publications, in turn.
@main
struct BlockingBenchmark {
    static let address = TransportAddress(.udp, "192.0.2.10", 5060)
    static let local = TransportAddress(.udp, "192.0.2.1", 5060)
    static let endpoint = TransportAddress(.udp, "192.0.2.30", 5060)

    static func main() {
        let requests = Arguments().isQuick ? 1_000 : 10_000
        print("processor time of one poll, median of \(requests) requests each, in microseconds")
        print("format           blocked   never published   difference")
        for format in Format.allCases {
            let benchmark = BlockingBenchmark(format)
            // Warm up caches and allocators for both.
            for round in 0..<500 { benchmark.poll(round.isMultiple(of: 2)) }
            var times: [[Double]] = [[], []]
            for round in 0..<requests {
                // Alternate the order.
                for isBlocked in round.isMultiple(of: 2) ? [true, false] : [false, true] {
                    let begin = processorTime()
                    benchmark.poll(isBlocked)
                    times[isBlocked ? 0 : 1].append(Double(processorTime() - begin) / 1_000)
                }
            }
            let medians = times.map { $0.sorted()[$0.count / 2] }
            func column(_ value: Double, _ width: Int) -> String {
                let text = "\((value * 100).rounded() / 100)"
                return String(repeating: " ", count: max(0, width - text.count)) + text
            }
            print(
                format.rawValue + String(repeating: " ", count: 14 - format.rawValue.count) + column(medians[0], 10)
                    + column(medians[1], 18) + column(medians[0] - medians[1], 13))
        }
    }

    enum Format: String, CaseIterable {
        case categories
        case pidf = "PIDF"
        case msrtc = "msrtc.pidf"

        var accept: String {
            switch self {
            case .categories: "application/msrtc-event-categories+xml, application/rlmi+xml, multipart/related"
            case .pidf: "application/pidf+xml"
            case .msrtc: "text/xml+msrtc.pidf"
            }
        }
    }

    final class Polls {
        let gateway: Gateway
        var now = Instant(secondsSince1970: 1_700_000_000)
        var serial = 0

        init(_ gateway: Gateway) { self.gateway = gateway }
    }

    private let polls: Polls
    private let format: Format

    init(_ format: Format) {
        self.format = format
        var configuration = GatewayConfiguration(
            nodeName: "edge1.example.net", listeners: [Self.local],
            domains: [
                "contoso.com": DomainConfiguration(side: .enterprise, route: Self.address, network: .federated),
                "fabrikam.com": DomainConfiguration(side: .enterprise, hosted: true, network: .sameEnterprise),
            ])
        configuration.trust(DomainTrust(peers: "192.0.2.0/24"))
        polls = Polls(Gateway(configuration: configuration, key: TokenKey(1, 2, 3, 4)))
        block()
    }

    /// Publishes for rob and blocks eve, which has never seen presence of rob.
    private func block() {
        let note = "<note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\"><body>here</body></note>"
        service(
            "application/msrtc-category-publish+xml",
            "<publish xmlns=\"http://schemas.microsoft.com/2006/09/sip/rich-presence\"><publications uri=\"sip:rob@fabrikam.com\">"
                + "<publication categoryName=\"note\" instance=\"0\" container=\"0\" version=\"0\" expireType=\"static\">\(note)</publication>"
                + "</publications></publish>")
        service(
            "application/msrtc-setcontainermembers+xml",
            "<setContainerMembers xmlns=\"http://schemas.microsoft.com/2006/09/sip/container-management\"><container id=\"32000\" "
                + "version=\"0\"><member action=\"add\" type=\"user\" value=\"eve@contoso.com\"/></container></setContainerMembers>")
    }

    private func service(_ type: String, _ body: String) {
        let answers = give(
            "SERVICE sip:rob@fabrikam.com SIP/2.0", from: Self.endpoint, "<sip:rob@fabrikam.com>", to: "<sip:rob@fabrikam.com>",
            "SERVICE", "Content-Type: \(type)\r\n", body)
        guard answers.contains(where: { $0.starts(with: Array("SIP/2.0 200".utf8)) }) else {
            fatalError("blocking-benchmark: a SERVICE was refused")
        }
    }

    func poll(_ isBlocked: Bool) {
        let user = isBlocked ? "rob" : "sue"
        let isCategories = format == .categories
        let body =
            isCategories
            ? "<batchSub xmlns=\"http://schemas.microsoft.com/2006/01/sip/batch-subscribe\" uri=\"sip:eve@contoso.com\" name=\"\"><action "
                + "name=\"subscribe\" id=\"1\"><adhocList><resource uri=\"sip:\(user)@fabrikam.com\"/></adhocList><categoryList "
                + "xmlns=\"http://schemas.microsoft.com/2006/09/sip/categorylist\"><category name=\"state\"/><category name=\"note\"/>"
                + "</categoryList></action></batchSub>" : ""
        let answers = give(
            "SUBSCRIBE sip:\(user)@fabrikam.com SIP/2.0", from: Self.address, "<sip:eve@contoso.com>", to: "<sip:\(user)@fabrikam.com>",
            "SUBSCRIBE",
            "Event: presence\r\nAccept: \(format.accept)\r\nExpires: 0\r\nSupported: ms-benotify, ms-piggyback-first-notify\r\n"
                + (isCategories ? "Content-Type: application/msrtc-adrl-categorylist+xml\r\n" : ""), body)
        guard answers.contains(where: { $0.starts(with: Array("SIP/2.0 200".utf8)) }) else {
            fatalError("blocking-benchmark: a poll was refused")
        }
    }

    private func give(
        _ line: String, from source: TransportAddress, _ from: String, to: String, _ method: String, _ headers: String, _ body: String
    ) -> [[UInt8]] {
        polls.serial += 1
        polls.now = polls.now + .milliseconds(100)
        polls.gateway.advance(to: polls.now)
        _ = polls.gateway.takeOutput()
        let id = polls.serial
        let text =
            "\(line)\r\nVia: SIP/2.0/UDP \(source.host):5060;branch=z9hG4bK\(id)\r\nMax-Forwards: 70\r\nFrom: \(from);tag=t\r\nTo: \(to)\r\n"
            + "Call-ID: c\(id)\r\nCSeq: 1 \(method)\r\nContact: <sip:\(source.host):5060>\r\n\(headers)"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        polls.gateway.receive(InboundMessage(bytes: Array(text.utf8), local: Self.local, remote: source, connection: nil), at: polls.now)
        return polls.gateway.takeOutput().map(\.bytes)
    }
}
