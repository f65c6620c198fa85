import Glibc
import SIPCore
import Traffic

/// Measured side: a process that listens on loopback.
public protocol MeasuredPeer {
    var tcp: Int { get }
    var udp: Int { get }
    /// Processor time used so far, including the kernel's, in nanoseconds.
    var spent: UInt64 { get }
    func stop()
}

/// Load for a peer.
public struct LoadCase {
    public var name: String
    public var transport: TransportProtocol
    /// Whether subscriptions use categories with BENOTIFY, instead of PIDF with NOTIFY.
    public var isCategories: Bool
    /// Whether the presentities are in a remote domain, played by this load.
    public var isBridged: Bool
    public var presentities = 10
    public var watchersEach = 100
    /// Number of concurrent requests.
    public var window = 1

    public init(name: String, transport: TransportProtocol, isCategories: Bool, isBridged: Bool) {
        self.name = name
        self.transport = transport
        self.isCategories = isCategories
        self.isBridged = isBridged
    }
}

/// Watchers, publishers and the remote domain of one peer, in one thread.
public final class Load {
    private static let connections = 8

    public let setup: LoadCase
    public let peer: any MeasuredPeer
    private let listener: PlainSocket
    private var sockets: [PlainSocket] = []
    /// Upstream subscriptions of each presentity.
    private var upstreams: [String: [(request: SIPRequest, socket: PlainSocket)]] = [:]
    private var upstreamCount = 0
    private var tags: [String: String] = [:]
    /// Newest CSeq of each dialog, so that a retransmission counts once.
    private var seen: [String: UInt32] = [:]
    private var notifications = 0
    private var answers = 0
    private var number = 0
    private var rounds = 0
    private var subscribed = 0

    public var connectionCount: Int { setup.transport == .udp ? 1 : Self.connections }
    public var subscriptionCount: Int { subscribed }

    /// Starts the peer and makes the case's subscriptions.
    /// - Parameter start: Starts the peer; its argument is the port of the remote domain. nil when it does not start.
    public init(_ setup: LoadCase, start: (_ remotePort: Int) -> (any MeasuredPeer)?) {
        self.setup = setup
        listener = PlainSocket.listening()
        guard let peer = start(listener.port) else {
            print("load: \(setup.name): the peer does not start")
            exit(1)
        }
        self.peer = peer
        for _ in 0..<connectionCount {
            sockets.append(setup.transport == .udp ? PlainSocket.udp(to: peer.udp) : PlainSocket.connected(to: peer.tcp))
        }
        if !setup.isBridged { _ = run(rounds: 1) }
        _ = subscribe(setup.presentities * setup.watchersEach)
    }

    public func stop() {
        for socket in sockets { socket.shut() }
        peer.stop()
    }

    private func presentity(_ index: Int) -> String { "p\(index)@\(setup.isBridged ? Traffic.remoteDomain : Traffic.hostedDomain)" }

    /// Adds `count` subscriptions to the presentities in turn, and waits for the responses and the first notifications.
    /// - Returns: Processor time of the peer in nanoseconds.
    public func subscribe(_ count: Int) -> UInt64 {
        let start = peer.spent
        var left = count
        while left > 0 {
            let expected = (answers: answers, notifications: notifications)
            let now = min(left, setup.window)
            for _ in 0..<now {
                number += 1
                subscribed += 1
                let socket = sockets[number % connectionCount]
                let name = "w\(subscribed)@\(setup.isCategories ? Traffic.enterpriseDomain : Traffic.watcherDomain)"
                let uri = presentity((subscribed - 1) % setup.presentities)
                socket.send(
                    setup.isCategories
                        ? Traffic.categorySubscribe(
                            watcher: name, to: uri, number: number, transport: setup.transport, contact: socket.name)
                        : Traffic.subscribe(watcher: name, to: uri, number: number, transport: setup.transport, contact: socket.name))
            }
            left -= now
            wait("the answers to SUBSCRIBE") { answers >= expected.answers + now }
            if !setup.isCategories || setup.isBridged { wait("the first NOTIFYs") { notifications >= expected.notifications + now } }
        }
        if setup.isBridged { wait("the upstream subscriptions") { upstreamCount >= subscribed } }
        return peer.spent - start
    }

    /// Changes every presentity `count` times, each time after all watchers received the previous change.
    public func run(rounds count: Int) -> (notifications: Int, spent: UInt64) {
        let before = notifications
        let start = peer.spent
        for _ in 0..<count {
            rounds += 1
            for first in stride(from: 0, to: setup.presentities, by: setup.window) {
                change(first..<min(first + setup.window, setup.presentities))
            }
        }
        return (notifications - before, peer.spent - start)
    }

    private func change(_ range: Range<Int>) {
        var expected = notifications
        for index in range {
            let name = presentity(index)
            let document = Traffic.document(name, round: rounds)
            // Presentities are assigned in turn.
            expected += subscribed / setup.presentities + (index < subscribed % setup.presentities ? 1 : 0)
            if setup.isBridged {
                for (request, socket) in upstreams["sip:" + name] ?? [] {
                    socket.send(Traffic.notify(request, number: rounds + 1, contact: "127.0.0.1:\(listener.port)", document: document))
                }
            } else {
                number += 1
                sockets[0].send(
                    Traffic.publish(
                        name, tag: tags[name], document: document, number: number, transport: setup.transport, contact: sockets[0].name))
            }
        }
        let isHosted = !setup.isBridged
        wait("the notifications of round \(rounds)") { notifications >= expected && (!isHosted || answers >= number) }
    }

    /// Reads and answers until a condition holds.
    private func wait(_ what: String, until isDone: () -> Bool) {
        var silence = 0
        while !isDone() {
            var polls = (sockets + [listener]).map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            guard poll(&polls, nfds_t(polls.count), 1_000) > 0 else {
                silence += 1
                if silence > 20 {
                    print("load: \(setup.name): waited in vain for \(what): \(notifications) notifications, \(answers) answers")
                    exit(1)
                }
                continue
            }
            silence = 0
            for index in polls.indices where polls[index].revents != 0 {
                if index == sockets.count { sockets.append(listener.accepted()) } else { receive(on: sockets[index]) }
            }
        }
    }

    private func receive(on socket: PlainSocket) {
        var output: [UInt8] = []
        for bytes in socket.receive() {
            guard case .success(let message) = SIPParser.parse(bytes) else { continue }
            switch message {
            case .response(let response):
                if response.status.isProvisional || response.method == .notify { continue }
                answers += 1
                if let tag = response.headers.first(.sipETag), let user = response.headers.to?.uri.description {
                    tags[String(user.dropFirst(4))] = tag
                }
                if !response.status.isSuccess { print("load: \(setup.name): the peer answers \(response.status.rawValue)") }
            case .request(let request):
                if request.method == .notify || request.method == .benotify { count(request) }
                guard let answer = Traffic.answer(to: request, contact: "127.0.0.1:\(listener.port)") else { continue }
                output += answer
                if setup.transport == .udp {
                    socket.send(output)
                    output = []
                }
                if request.method == .subscribe {
                    upstreamCount += 1
                    let uri = request.headers.to?.uri.description ?? ""
                    upstreams[uri, default: []].append((request, socket))
                    output += Traffic.notify(
                        request, number: 1, contact: "127.0.0.1:\(listener.port)",
                        document: Traffic.document(String(uri.dropFirst(4)), round: 0))
                }
            }
        }
        if !output.isEmpty { socket.send(output) }
    }

    private func count(_ request: SIPRequest) {
        guard let callID = request.headers.callID, let number = request.headers.cSeq?.number, seen[callID, default: 0] < number else {
            return
        }
        seen[callID] = number
        notifications += 1
    }
}
