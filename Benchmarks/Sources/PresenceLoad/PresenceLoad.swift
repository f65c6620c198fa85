import CEpoll
import Glibc

/// Process or processes under load.
public protocol LoadedPeer {
    /// TCP port on loopback.
    var port: Int { get }
    /// Processor time used so far, including the kernel's, in nanoseconds.
    var spent: UInt64 { get }
}

/// Watchers, publishers and the remote domain of one peer: one thread, one epoll set, no copy of a message and no parse beyond what an answer
/// needs, so that the load takes little of the processors that it shares with the measured side.
public final class PresenceLoad {
    public let shape: LoadShape
    private let loop = ConnectionLoop()
    private var messages: LoadMessages
    private var dialogs: [LoadDialog] = []
    private var publications: [LoadPublication]
    private var upstreams: [Upstream] = []
    private let remoteListener = LoadConnection.listening()
    private let echo = Octets(capacity: 4_096)
    /// Numbers of the connections for watchers and for publishers.
    private var watcherConnections: [Int] = []
    private var publisherConnection = 0
    /// Local ports of connections, kept beyond their end.
    private var ports: [Int] = []
    private var firstLiveDialog = 0

    private var answeredSubscriptions = 0
    private var notifiedSubscriptions = 0
    private var changed = 0
    private var notifiesAnswered = 0
    /// Time of the newest notification; taken only while delays are measured.
    private var notifiedAt: UInt64 = 0
    private var takesTimes = false
    public private(set) var notifications = 0

    /// Port on which the remote domain listens.
    public var remotePort: Int { LoadConnection.port(of: remoteListener) }
    /// Number of active subscriptions.
    public var subscriptionCount: Int { dialogs.count - firstLiveDialog }
    public var watcherCounts: [Int] { publications.map(\.watchers) }

    public init(_ shape: LoadShape) {
        self.shape = shape
        messages = LoadMessages(shape: shape)
        publications = Array(repeating: LoadPublication(), count: shape.presentities)
        loop.received = { [unowned self] in read($0) }
        loop.listen(on: remoteListener)
    }

    /// Connects to the peer, and publishes every presentity of a hosted domain.
    public func connect(to port: Int) {
        watcherConnections = (0..<shape.connections).map { _ in connection(to: port) }
        publisherConnection = connection(to: port)
        if !shape.isBridged { change(0..<shape.presentities, window: 32) }
    }

    private func connection(to port: Int) -> Int {
        let connection = LoadConnection(to: port)
        let number = loop.add(connection)
        while ports.count <= number { ports.append(0) }
        ports[number] = connection.port
        return number
    }

    public func stop() { loop.endAll() }

    // MARK: operations

    /// Adds `count` subscriptions to the presentities in turn, `window` at a time; each waits for its response and its first notification.
    public func subscribe(_ count: Int, window: Int) {
        let first = dialogs.count
        let (answered, notified) = (answeredSubscriptions, notifiedSubscriptions)
        let awaitsNotifications = !shape.isCategories || shape.isBridged
        func completed() -> Int {
            min(answeredSubscriptions - answered, awaitsNotifications ? notifiedSubscriptions - notified : count)
        }
        dialogs.reserveCapacity(first + count)
        work(until: count, "subscriptions", window: window, completed: completed) {
            let number = dialogs.count
            let dialog = LoadDialog(
                presentity: number % shape.presentities, connection: watcherConnections[number % watcherConnections.count])
            dialogs.append(dialog)
            publications[dialog.presentity].watchers += 1
            send(number, expires: 3_600)
        }
    }

    /// Ends the newest `count` subscriptions and waits for the responses.
    public func unsubscribe(_ count: Int) {
        let answered = answeredSubscriptions
        var number = dialogs.count
        work(until: count, "ends of subscriptions", window: 32, completed: { answeredSubscriptions - answered }) {
            number -= 1
            dialogs[number].ownSequence += 1
            dialogs[number].isAnswered = false
            dialogs[number].isEnding = true
            publications[dialogs[number].presentity].watchers -= 1
            send(number, expires: 0)
        }
        quiet(100)
        // Numbers are not used again, so that no dialog has the Call-ID of another.
        if firstLiveDialog == dialogs.count - count { firstLiveDialog = dialogs.count }
    }

    private func send(_ number: Int, expires: Int) {
        guard let output = loop.output(dialogs[number].connection) else { return }
        messages.subscribe(dialogs[number], number: number, port: ports[dialogs[number].connection], expires: expires, to: output)
    }

    /// Changes presentities in turn, `window` at a time; each waits for the response to PUBLISH and the notifications of all its watchers.
    public func change(_ presentities: Range<Int>, window: Int) {
        let before = changed
        var next = presentities.lowerBound
        work(until: presentities.count, "changes", window: window, completed: { changed - before }) {
            begin(next)
            next += 1
        }
    }

    private func begin(_ presentity: Int) {
        publications[presentity].sequence += 1
        publications[presentity].missing = publications[presentity].watchers
        if shape.isBridged {
            for number in upstreams.indices where upstreams[number].presentity == presentity { sendNotify(number) }
            return
        }
        publications[presentity].missing += 1
        guard let output = loop.output(publisherConnection) else { return }
        messages.publish(
            presentity, sequence: publications[presentity].sequence, tag: publications[presentity].tag, port: ports[publisherConnection],
            to: output)
    }

    /// Notifications of the remote domain, one at a time: time from the write of each to its arrival at the watcher, in nanoseconds.
    public func delays(_ count: Int) -> [UInt64] {
        takesTimes = true
        defer { takesTimes = false }
        return (0..<count).map { index in
            let (before, answered) = (notifications, notifiesAnswered)
            let start = Self.now()
            sendNotify(index % upstreams.count)
            wait("a bridged notification") { notifications > before && notifiesAnswered > answered }
            return notifiedAt - start
        }
    }

    /// Handles input for some milliseconds.
    public func quiet(_ milliseconds: Int) {
        let end = Self.now() + UInt64(milliseconds) * 1_000_000
        while true {
            let now = Self.now()
            guard now < end else { return }
            loop.run(Int32(max(1, (end - now) / 1_000_000)))
        }
    }

    /// Lets the peer end and begin again: watchers listen at their addresses, publishers connect again.
    /// - Parameter restart: Ends the peer, starts it, and returns its port; nil when it does not start.
    public func restart(_ restart: () -> Int?) -> Bool {
        loop.acceptsEnds = true
        defer { loop.acceptsEnds = false }
        guard let port = restart() else { return false }
        quiet(50)
        for connection in watcherConnections { loop.listen(on: LoadConnection.listening(on: ports[connection])) }
        publisherConnection = connection(to: port)
        return true
    }

    private func work(until count: Int, _ what: String, window: Int, completed: () -> Int, begin: () -> Void) {
        var begun = 0
        wait(what) {
            let done = completed()
            while begun < count, begun - done < window {
                begin()
                begun += 1
            }
            return done >= count
        }
    }

    private func wait(_ what: String, until isDone: () -> Bool) {
        var (seen, last) = (-1, Self.now())
        while !isDone() {
            loop.run(1_000)
            let progress = notifications + answeredSubscriptions + changed + notifiesAnswered
            if progress != seen { (seen, last) = (progress, Self.now()) }
            guard Self.now() - last > 20_000_000_000 else { continue }
            print("load: waited in vain for \(what): \(notifications) notifications, \(changed) changes, \(answeredSubscriptions) answers")
            exit(1)
        }
    }

    // MARK: messages

    private func read(_ number: Int) {
        guard let connection = loop.connections[number] else { return }
        let input = connection.input
        var offset = 0
        while offset < input.count {
            // Keep-alives between messages (RFC 5626 3.5.1).
            if input.base[offset] == 0x0D || input.base[offset] == 0x0A {
                offset += 1
                continue
            }
            let rest = OctetSpan(start: input.base + offset, count: input.count - offset)
            guard let message = ReceivedMessage(rest, echo: echo) else { break }
            if message.isRequest { request(message, on: number, connection) } else { response(message) }
            offset += message.length
        }
        input.removeFirst(offset)
    }

    private func request(_ message: ReceivedMessage, on number: Int, _ connection: LoadConnection) {
        if message.first.hasPrefix("BENOTIFY ") {
            count(message)
            return
        }
        guard let output = loop.output(number) else { return }
        output.append("SIP/2.0 200 OK\r\n")
        output.append(echo)
        output.append("To: ")
        output.append(message.to.start, message.to.count)
        guard message.first.hasPrefix("SUBSCRIBE ") else {
            output.append("\r\nContent-Length: 0\r\n\r\n")
            if message.first.hasPrefix("NOTIFY ") { count(message) }
            return
        }
        let isFirst = message.to.end(of: ";tag=") == nil
        if isFirst {
            output.append(";tag=far")
            output.append(upstreams.count)
        }
        output.append("\r\nContact: <sip:127.0.0.1:")
        output.append(connection.port)
        output.append(";transport=tcp>\r\nExpires: 3600\r\nContent-Length: 0\r\n\r\n")
        guard isFirst else { return }
        upstreams.append(upstream(message, on: number, connection))
        sendNotify(upstreams.count - 1)
    }

    private func upstream(_ message: ReceivedMessage, on number: Int, _ connection: LoadConnection) -> Upstream {
        let headers = Octets()
        for route in message.recordRoutes {
            headers.append("Route: ")
            headers.append(route.start, route.count)
            headers.append("\r\n")
        }
        headers.append("From: ")
        headers.append(message.to.start, message.to.count)
        headers.append(";tag=far")
        headers.append(upstreams.count)
        headers.append("\r\nTo: ")
        headers.append(message.from.start, message.from.count)
        headers.append("\r\nCall-ID: ")
        headers.append(message.callID.start, message.callID.count)
        headers.append("\r\n")
        let presentity = message.to.end(of: "sip:p").map { message.to.number(at: $0) } ?? 0
        return Upstream(
            presentity: presentity, connection: number, port: connection.port, target: message.contactURI,
            dialogHeaders: Array(UnsafeBufferPointer(start: headers.base, count: headers.count)))
    }

    private func sendNotify(_ number: Int) {
        upstreams[number].sequence += 1
        guard let output = loop.output(upstreams[number].connection) else { return }
        messages.notify(upstreams[number], sequence: upstreams[number].sequence, to: output)
    }

    private func count(_ message: ReceivedMessage) {
        guard message.callID.hasPrefix("s") else { return }
        let number = message.callID.number(at: 1)
        let sequence = message.sequence.number()
        guard number < dialogs.count, dialogs[number].notifierSequence < sequence, !dialogs[number].isEnding else { return }
        if dialogs[number].notifierSequence == 0 { notifiedSubscriptions += 1 }
        dialogs[number].notifierSequence = sequence
        notifications += 1
        if takesTimes { notifiedAt = Self.now() }
        progress(of: dialogs[number].presentity)
    }

    private func progress(of presentity: Int) {
        guard publications[presentity].missing > 0 else { return }
        publications[presentity].missing -= 1
        if publications[presentity].missing == 0 { changed += 1 }
    }

    private func response(_ message: ReceivedMessage) {
        let status = message.status
        guard status >= 200 else { return }
        guard status < 300 else {
            print("load: the peer refuses a request:\n\(String(decoding: message.head.array, as: UTF8.self))")
            exit(1)
        }
        if message.sequence.end(of: "NOTIFY") != nil {
            notifiesAnswered += 1
            return
        }
        let number = message.callID.number(at: 1)
        if message.callID.hasPrefix("s"), number < dialogs.count {
            guard !dialogs[number].isAnswered, message.sequence.number() == dialogs[number].ownSequence else { return }
            dialogs[number].isAnswered = true
            answeredSubscriptions += 1
            if dialogs[number].remote.isEmpty {
                dialogs[number].remote = message.to.array
                dialogs[number].target = message.contactURI
                dialogs[number].routes = message.recordRoutes.reversed().map(\.array)
            }
        } else if message.callID.hasPrefix("p"), number < publications.count {
            if !message.entityTag.isEmpty { publications[number].tag = message.entityTag.array }
            progress(of: number)
        }
    }

    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
