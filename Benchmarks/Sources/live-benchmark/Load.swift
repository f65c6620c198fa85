import Measurement
import Glibc
import SIPCore
import Traffic

struct LoadCase {
    var name: String
    var transport: TransportProtocol
    var isCategories: Bool
    var isBridged: Bool
}

/// Watchers, publishers and the far side of one gateway, in one thread.
final class Load {
    static let presentities = 10
    static let watchersEach = 100
    private static let connections = 8

    let setup: LoadCase
    private let gateway: GatewayProcess
    private let listener: PlainSocket
    private var sockets: [PlainSocket] = []
    private var upstreams: [(request: SIPRequest, socket: PlainSocket)] = []
    private var tags: [String: String] = [:]
    /// The newest CSeq seen of each dialog, so that a repetition counts once.
    private var seen: [String: UInt32] = [:]
    private var notifications = 0
    private var answers = 0
    private var number = 0
    private var rounds = 0

    var connectionCount: Int { setup.transport == .udp ? 1 : Self.connections }

    init(_ setup: LoadCase) {
        self.setup = setup
        listener = PlainSocket.listening()
        guard let gateway = GatewayProcess.start(farPort: listener.port) else {
            print("live-benchmark: the gateway does not start")
            exit(1)
        }
        self.gateway = gateway
        for _ in 0..<connectionCount {
            sockets.append(setup.transport == .udp ? PlainSocket.udp(to: gateway.udp) : PlainSocket.connected(to: gateway.tcp))
        }
        subscribe()
    }

    func stop() {
        for socket in sockets { socket.shut() }
        gateway.stop()
    }

    private func presentity(_ index: Int) -> String { "p\(index)@\(setup.isBridged ? Traffic.farDomain : Traffic.hostedDomain)" }

    private func subscribe() {
        for index in 0..<Self.presentities {
            for watcher in 0..<Self.watchersEach {
                number += 1
                let socket = sockets[number % sockets.count]
                let name = "w\(watcher)@\(setup.isCategories ? Traffic.enterpriseDomain : Traffic.watcherDomain)"
                socket.send(
                    setup.isCategories
                        ? Traffic.categorySubscribe(
                            watcher: name, to: presentity(index), number: number, transport: setup.transport, contact: socket.name)
                        : Traffic.subscribe(
                            watcher: name, to: presentity(index), number: number, transport: setup.transport, contact: socket.name))
                wait("the answers to SUBSCRIBE") { answers == number }
            }
        }
        if setup.isBridged {
            wait("the upstream subscriptions") { upstreams.count == Self.presentities * Self.watchersEach }
        }
    }

    /// Changes every presentity `rounds` times, each time after the watchers heard of the last change.
    func run(rounds count: Int) -> (notifications: Int, spent: UInt64) {
        let before = notifications
        let start = gateway.spent
        for _ in 0..<count {
            rounds += 1
            for index in 0..<Self.presentities {
                let document = Traffic.document(presentity(index), round: rounds)
                let expected = notifications + Self.watchersEach
                if setup.isBridged {
                    let uri = "sip:\(presentity(index))"
                    for (request, socket) in upstreams where request.headers.to?.uri.description == uri {
                        socket.send(Traffic.notify(request, number: rounds + 1, contact: "127.0.0.1:\(listener.port)", document: document))
                    }
                } else {
                    number += 1
                    sockets[0].send(
                        Traffic.publish(
                            presentity(index), tag: tags[presentity(index)], document: document, number: number,
                            transport: setup.transport, contact: sockets[0].name))
                }
                wait("the notifications of round \(rounds)") { notifications >= expected }
                let isHosted = !setup.isBridged
                wait("the answer to PUBLISH") { !isHosted || answers >= number }
            }
        }
        return (notifications - before, gateway.spent - start)
    }

    /// Reads and answers until something is true.
    private func wait(_ what: String, until isDone: () -> Bool) {
        var silence = 0
        while !isDone() {
            var polls = (sockets + [listener]).map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            guard poll(&polls, nfds_t(polls.count), 1_000) > 0 else {
                silence += 1
                if silence > 20 {
                    print("live-benchmark: \(setup.name): waited in vain for \(what): \(notifications) notifications, \(answers) answers")
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
                if !response.status.isSuccess { print("live-benchmark: the gateway answers \(response.status.rawValue)") }
            case .request(let request):
                if request.method == .notify || request.method == .benotify { count(request) }
                guard let answer = Traffic.answer(to: request, contact: "127.0.0.1:\(listener.port)") else { continue }
                output += answer
                if setup.transport == .udp {
                    socket.send(output)
                    output = []
                }
                if request.method == .subscribe {
                    upstreams.append((request, socket))
                    let uri = String((request.headers.to?.uri.description ?? "").dropFirst(4))
                    output += Traffic.notify(
                        request, number: 1, contact: "127.0.0.1:\(listener.port)", document: Traffic.document(uri, round: 0))
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
