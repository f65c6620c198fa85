import Measurement
import Glibc
import GatewaySetup
import PresenceGateway
@_spi(TokenSource) import SIPCore
import Traffic

/// Measures notifications per CPU second of a gateway without sockets; the work of the peers is not counted.
@main
struct GatewayBenchmark {
    static func main() {
        let arguments = Arguments()
        let kinds = SeamDriver.Kind.allCases
        let entries = kinds.map { kind in
            Contest.Entry("\(kind)") { count in
                let driver = SeamDriver(watchers: 1_000, kind: kind)
                for _ in 0..<count { driver.round() }
            }
        }
        if !arguments.profile(entries) { run(quick: arguments.isQuick) }
    }

    private static func run(quick: Bool) {
        var table = Table("watchers", "NOTIFYs per round", "per CPU s", "us each", "(range)")
        let drivers = SeamDriver.Kind.allCases.map { SeamDriver(watchers: 1_000, kind: $0) }
        var times = [[Double]](repeating: [], count: drivers.count)
        for round in 0..<(quick ? 8 : 42) {
            for (index, driver) in drivers.enumerated() {
                let before = driver.spent
                let notifications = driver.round()
                guard notifications == driver.watchers else {
                    print("gateway-benchmark: \(driver.kind): \(notifications) notifications instead of \(driver.watchers)")
                    exit(1)
                }
                if round >= 2 { times[index].append(Double(driver.spent - before) / Double(notifications)) }
            }
        }
        for (index, driver) in drivers.enumerated() {
            let middle = median(times[index])
            table.add(
                driver.kind.rawValue, String(driver.watchers), perSecond(middle), text(middle / 1_000),
                "\(text((times[index].min() ?? 0) / 1_000))-\(text((times[index].max() ?? 0) / 1_000))")
        }
        table.show(
            title: "Notifications of one shard in memory: parse, transaction, state, conversion, NOTIFY, and the parse of its answer")
    }
}

/// One gateway with its peers in memory.
final class SeamDriver {
    enum Kind: String, CaseIterable {
        case pidf = "hosted, PIDF, NOTIFY"
        case categories = "hosted, categories, BENOTIFY"
        case bridged = "bridged PIDF to categories, NOTIFY in and BENOTIFY out"
    }

    let kind: Kind
    let watchers: Int
    /// Processor time inside the gateway, in nanoseconds.
    private(set) var spent: UInt64 = 0

    private let gateway: Gateway
    private var now = Instant(secondsSince1970: 1_800_000_000)
    private let local = TransportAddress(.tcp, "192.0.2.1", 5060)
    private let remote = TransportAddress(.tcp, "192.0.2.10", 40_000)
    private let remoteAddress = TransportAddress(.tcp, "192.0.2.20", 5060)
    private let presentity: String
    private var tag: String?
    private var number = 0
    private var rounds = 0
    private var upstreams: [SIPRequest] = []

    init(watchers: Int, kind: Kind) {
        self.kind = kind
        self.watchers = watchers
        presentity = kind == .bridged ? "alice@\(Traffic.remoteDomain)" : "alice@\(Traffic.hostedDomain)"
        gateway = Gateway(configuration: .benchmark(listeners: [local], remoteAddress: remoteAddress), key: TokenKey(7, 0, 0, 0))
        for index in 0..<watchers {
            number += 1
            let isCategories = kind != .pidf
            let watcher = "w\(index)@\(isCategories ? Traffic.enterpriseDomain : Traffic.watcherDomain)"
            let bytes =
                isCategories
                ? Traffic.categorySubscribe(
                    watcher: watcher, to: presentity, number: number, transport: .tcp, contact: "192.0.2.10:40000")
                : Traffic.subscribe(watcher: watcher, to: presentity, number: number, transport: .tcp, contact: "192.0.2.10:40000")
            _ = exchange([inbound(bytes, connection: 1)])
        }
        guard gateway.counts.watcherDialogs == watchers else {
            print("gateway-benchmark: \(gateway.counts.watcherDialogs) of \(watchers) watchers were accepted")
            exit(1)
        }
        if kind == .bridged, upstreams.count != watchers {
            print("gateway-benchmark: \(upstreams.count) upstream subscriptions for \(watchers) watchers")
            exit(1)
        }
        spent = 0
    }

    /// Changes the presentity once; returns the number of notifications.
    @discardableResult
    func round() -> Int {
        rounds += 1
        let document = Traffic.document(presentity, round: rounds)
        if kind == .bridged {
            return exchange(
                upstreams.map {
                    inbound(Traffic.notify($0, number: rounds + 1, contact: "192.0.2.20:5060", document: document), connection: 2)
                })
        }
        number += 1
        let publish = Traffic.publish(
            presentity, tag: tag, document: document, number: number, transport: .tcp, contact: "192.0.2.10:40000")
        return exchange([inbound(publish, connection: 1)])
    }

    private func inbound(_ bytes: [UInt8], connection: UInt64) -> InboundMessage {
        InboundMessage(
            bytes: bytes, local: local, remote: connection == 1 ? remote : remoteAddress, connection: ConnectionID(rawValue: connection))
    }

    /// Passes messages to the gateway and answers its requests until it is idle; returns the number of notifications.
    private func exchange(_ messages: [InboundMessage]) -> Int {
        var messages = messages
        var notifications = 0
        while !messages.isEmpty {
            now = now + .milliseconds(10)
            let start = processorTime()
            for message in messages { gateway.receive(message, at: now) }
            if let deadline = gateway.nextDeadline, deadline <= now { gateway.advance(to: now) }
            let output = gateway.takeOutput()
            spent += processorTime() - start
            messages = []
            for message in output {
                if case .address = message.destination {
                    gateway.receive(.carried(token: message.token, by: .connection(ConnectionID(rawValue: 2))), at: now)
                }
                guard case .success(let parsed) = SIPParser.parse(message.bytes) else { continue }
                switch parsed {
                case .response(let response):
                    if let tag = response.headers.first(.sipETag) { self.tag = tag }
                    if !response.status.isSuccess { print("gateway-benchmark: the gateway answers \(response.status.rawValue)") }
                case .request(let request):
                    if request.method == .notify || request.method == .benotify { notifications += 1 }
                    let isUpstream = request.method == .subscribe
                    if isUpstream { upstreams.append(request) }
                    let contact = isUpstream ? "192.0.2.20:5060" : "192.0.2.10:40000"
                    if let answer = Traffic.answer(to: request, contact: contact) {
                        messages.append(inbound(answer, connection: isUpstream ? 2 : 1))
                    }
                    if isUpstream {
                        let document = Traffic.document(presentity, round: 0)
                        messages.append(
                            inbound(Traffic.notify(request, number: 1, contact: contact, document: document), connection: 2))
                    }
                }
            }
        }
        return notifications
    }
}
