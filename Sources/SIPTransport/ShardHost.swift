import Logging
import NIOCore
import SIPCore
import Synchronization

/// Selects the shard of a framed message, and may keep its parse in it; a pure function, the same on every loop.
public typealias ShardSelector = @Sendable (inout InboundMessage) -> Int

/// Drives one `SansIOEndpoint` on one event loop; endpoint and loop together are a shard.
///
/// Work is gathered by tick. Messages go to the endpoint as they arrive; when the loop has read every ready socket, `pump` fires due
/// timers, takes the endpoint's output, writes each connection once and sends each other shard its messages in one hop. No task, lock or
/// promise is allocated per message.
///
/// Confined to `eventLoop`; only `perform`, `submit`, `statistics`, `stop` and `waitingOctets` may be called from elsewhere.
public final class ShardHost: @unchecked Sendable {
    /// Number of the shard, from 0.
    public let index: Int
    /// Event loop that runs the shard.
    package let eventLoop: any EventLoop
    /// Options of the server, the same for all shards.
    package let options: TransportOptions
    /// Clock that all shards share.
    package let clock: HostClock
    private let shared: ServerParts
    var counters = TransportCounters()
    private(set) var connectionTable: ConnectionTable!
    /// Receives a copy of every message; nil without a configured collector.
    private(set) var tap: CaptureTap?
    /// The last messages; nil if they are neither read nor held at all times.
    private var ring: MessageRing?
    private var lastNumber: UInt64 = 0
    let scheduler: FairScheduler

    /// The endpoint and its surroundings; nil before the begin and after the end.
    private var running: RunningEndpoint?
    private var mailboxes = ShardMailboxes()
    private var isStopped = false
    /// Whether ``submit(_:)`` may still use the loop, which must not be used once it has ended.
    private let takesSubmissions = Mutex(true)
    private var tick: LoopTick
    private var timer = LoopTimer()

    /// Logger, TLS and tables that all shards of a server share.
    struct ServerParts {
        var logger: Logger
        var tls: TLSService?
        /// Accepted connections by remote address, of all loops.
        var remoteAddresses = RemoteAddressCounts()
        var reusable = ReusableConnections()
    }

    private struct RunningEndpoint {
        let endpoint: any SansIOEndpoint
        let afterTick: (@Sendable (any SansIOEndpoint, ShardHost) -> Void)?
        /// Nil when all messages belong to this shard.
        let selector: ShardSelector?
        /// Resolver for the DNS questions of the endpoint; nil makes them fail.
        let names: (any NameResolving)?
    }

    /// Message or notice passed from one shard to another.
    enum Mail: Sendable {
        case inbound(InboundMessage)
        /// - isUnnamed: Whether the sending shard does not know which connection carries the message.
        case outbound(OutboundMessage, shard: Int, isUnnamed: Bool)
        case notice(TransportNotice)
        /// Value of the sending shard's endpoint.
        case envelope(ShardEnvelope)
    }

    init(index: Int, eventLoop: any EventLoop, options: TransportOptions, clock: HostClock, shared: ServerParts) {
        self.index = index
        self.eventLoop = eventLoop
        self.options = options
        self.clock = clock
        self.shared = shared
        tick = LoopTick(latenessReported: options.latenessReported)
        scheduler = FairScheduler(eventLoop: eventLoop)
        connectionTable = ConnectionTable(host: self)
    }

    var logger: Logger { shared.logger }
    var tls: TLSService? { shared.tls }
    var remoteAddresses: RemoteAddressCounts { shared.remoteAddresses }
    var reusable: ReusableConnections { shared.reusable }

    /// Sets the collector of copies; must run on the loop, before messages are received.
    func capture(by tap: CaptureTap) { self.tap = tap }

    /// Copies a message that is received or sent.
    func copy(_ bytes: [UInt8], isReceived: Bool, remote: TransportAddress, local: TransportAddress) {
        if let tap { tap.copy(bytes, from: isReceived ? remote : local, to: isReceived ? local : remote, at: now()) }
        if ring != nil { ring?.add(bytes, isReceived: isReceived, remote: remote, local: local, at: now()) }
    }

    /// Octets of the messages that are held while they are read.
    private static let ringOctets = 4 << 20
    /// Time without a reading after which the messages are dropped.
    private static let ringPatience = TimeSpan.seconds(10)

    /// The messages of this loop with greater numbers, as far as they are held: ``TransportOptions/recalledOctets`` at all times, otherwise
    /// from the first call on, until no call was made for 10 s.
    /// May be called while the server stops, and after it.
    package func passedMessages(after number: UInt64) async -> [PassedMessage] {
        await withCheckedContinuation { continuation in
            takesSubmissions.withLock { isOpen in
                guard isOpen else { return continuation.resume(returning: []) }
                eventLoop.execute { continuation.resume(returning: self.readRing(after: number)) }
            }
        }
    }

    private func readRing(after number: UInt64) -> [PassedMessage] {
        guard !isStopped else { return [] }
        if ring == nil {
            ring = MessageRing(octets: Self.ringOctets, after: lastNumber, at: clock.now())
            let interval = Self.ringPatience.amount
            eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { task in
                guard let ring = self.ring, !self.isStopped, ring.lastRead + Self.ringPatience > self.clock.now() else {
                    self.lastNumber = self.ring?.number ?? self.lastNumber
                    self.ring = nil
                    return task.cancel()
                }
            }
        }
        return ring?.read(after: number, at: clock.now()) ?? []
    }

    /// Sets the shard's endpoint and starts delivering messages; must run on the loop.
    func begin(
        _ endpoint: any SansIOEndpoint, among shards: [ShardHost], selector: ShardSelector?, names: (any NameResolving)?,
        afterTick: (@Sendable (any SansIOEndpoint, ShardHost) -> Void)?
    ) {
        eventLoop.preconditionInEventLoop()
        running = RunningEndpoint(
            endpoint: endpoint, afterTick: afterTick, selector: shards.count > 1 ? selector : nil, names: names)
        mailboxes = ShardMailboxes(shards)
        connectionTable.startIdleSweep()
        if options.recalledOctets > 0 { ring = MessageRing(octets: options.recalledOctets, after: 0, at: clock.now()) }
        let interval = options.wallClockInterval.amount
        eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { task in
            guard let endpoint = self.running?.endpoint, !self.isStopped else { return task.cancel() }
            endpoint.receive(wallClock: HostClock.wall(), at: self.now())
            self.schedulePump()
        }
        schedulePump()
    }

    /// Runs `body` with the endpoint on its loop, then sends the resulting output; the future fails with `ChannelError.alreadyClosed` after
    /// a stop.
    package func perform<Value: Sendable>(
        _ body: @escaping @Sendable (any SansIOEndpoint, Instant) -> Value
    ) -> EventLoopFuture<Value> {
        eventLoop.flatSubmit {
            guard let endpoint = self.running?.endpoint, !self.isStopped else {
                return self.eventLoop.makeFailedFuture(ChannelError.alreadyClosed)
            }
            let began = self.clock.now()
            let value = body(endpoint, self.now())
            self.tick.excuse(self.clock.now() - began)
            self.schedulePump()
            return self.eventLoop.makeSucceededFuture(value)
        }
    }

    /// Runs `body` with the endpoint on its loop, in the order of the calls, then sends the resulting output; dropped after a stop.
    ///
    /// Allocates no future and may be called from any thread, also while the server stops.
    package func submit(_ body: @escaping @Sendable (any SansIOEndpoint, Instant) -> Void) {
        takesSubmissions.withLock { isOpen in
            guard isOpen else { return }
            eventLoop.execute {
                guard let endpoint = self.running?.endpoint, !self.isStopped else { return }
                body(endpoint, self.now())
                self.schedulePump()
            }
        }
    }

    /// Time of the current tick: read once, the same for all its events.
    func now() -> Instant { tick.now(by: clock) }

    // MARK: In

    func receive(_ received: InboundMessage) {
        counters.messagesReceived &+= 1
        copy(received.bytes, isReceived: true, remote: received.remote, local: received.local)
        var message = received
        if let selector = running?.selector {
            let target = selector(&message)
            if target != index, mailboxes.contains(target) {
                counters.handedToOtherShards &+= 1
                post(.inbound(message), to: target)
                return
            }
        }
        running?.endpoint.receive(message, at: now())
        schedulePump()
    }

    /// Reports a transport notice to one shard.
    func report(_ notice: TransportNotice, to shard: Int) {
        guard shard != index else {
            running?.endpoint.receive(notice, at: now())
            // A `carried` notice causes no output.
            if case .carried = notice { return }
            schedulePump()
            return
        }
        post(.notice(notice), to: shard)
    }

    /// Reports a transport notice to every shard, since each of them may use the connection.
    func reportToAll(_ notice: TransportNotice) {
        if mailboxes.count <= 1 { return report(notice, to: index) }
        for shard in 0..<mailboxes.count { report(notice, to: shard) }
    }

    /// Reports that a message was not sent; a token of 0 is counted only.
    func fail(_ token: UInt64, _ shard: Int, _ reason: String) {
        counters.sendFailures &+= 1
        guard token != 0 else { return }
        report(.failed(token: token, reason: reason), to: shard)
    }

    // MARK: Between shards

    func post(_ mail: Mail, to shard: Int) {
        if mailboxes.post(mail, to: shard) { schedulePump() }
    }

    func take(_ batch: [Mail]) {
        guard !isStopped else { return }
        for mail in batch {
            switch mail {
            case .inbound(let message): running?.endpoint.receive(message, at: now())
            case .outbound(let message, let shard, let isUnnamed): connectionTable.send(message, for: shard, isUnnamed: isUnnamed)
            case .notice(let notice): running?.endpoint.receive(notice, at: now())
            case .envelope(let envelope): running?.endpoint.receive(envelope, at: now())
            }
        }
        schedulePump()
    }

    // MARK: The tick

    func schedulePump() {
        guard !isStopped, tick.schedulePump() else { return }
        // On the loop itself, `execute` runs after all ready channels have been read.
        eventLoop.execute { self.pump() }
    }

    private func pump() {
        tick.pumpBegan()
        scheduler.tickEnded()
        guard let running, !isStopped else { return tick.ended() }
        let endpoint = running.endpoint
        if let late = tick.lateness(deadline: endpoint.nextDeadline, at: clock.now()) {
            endpoint.receive(.late(late), at: now())
        }
        let now = self.now()
        if let deadline = endpoint.nextDeadline, deadline <= now { endpoint.advance(to: now) }
        // A failed send is reported immediately and may cause more output: at most 8 rounds, the rest waits for the next tick.
        for _ in 0..<8 {
            let output = endpoint.takeOutput()
            if output.isEmpty { break }
            for message in output { connectionTable.send(message, for: index) }
        }
        connectionTable.flush()
        for envelope in endpoint.takeEnvelopes() { post(.envelope(envelope), to: envelope.target) }
        mailboxes.flush()
        for question in endpoint.takeQuestions() { ask(question, running.names) }
        running.afterTick?(endpoint, self)
        tick.ended()
        armTimer(for: endpoint.nextDeadline)
        // While late, measure again after the sockets have been read, also without new input: a message that arrives after an idle period
        // must not be refused for an earlier delay. A scheduled task runs after the next poll.
        if tick.isLate { eventLoop.scheduleTask(in: .milliseconds(1)) { self.schedulePump() } }
    }

    /// Schedules the loop's only timer, moved only for an earlier deadline: the endpoint keeps its own heap.
    private func armTimer(for deadline: Instant?) {
        guard let deadline, timer.isMoved(by: deadline) else { return }
        let scheduled = eventLoop.scheduleTask(deadline: clock.deadline(of: deadline)) {
            self.timer.fired()
            self.pump()
        }
        timer.set(scheduled, for: deadline)
    }

    /// Asks a DNS question; the answer arrives on the loop in a later tick.
    private func ask(_ question: NameQuestion, _ names: (any NameResolving)?) {
        let answered: @Sendable (NameAnswer) -> Void = { answer in
            self.submit { endpoint, now in endpoint.receive(.answered(question, answer), at: now) }
        }
        if let names { names.ask(question, answer: answered) } else { answered(NameAnswer(.failed(.serverFailure))) }
    }

    // MARK: Stop

    /// Time allowed for closing sockets: TLS waits for the peer's close_notify.
    private static let closingTime = TimeSpan.milliseconds(200)

    /// Closes every socket of this loop after the queued output has been written.
    /// - Returns: Whether all sockets closed within 200 ms.
    func stop() -> EventLoopFuture<Bool> {
        eventLoop.flatSubmit {
            self.pump()
            self.isStopped = true
            self.takesSubmissions.withLock { $0 = false }
            self.timer.cancel()
            let closed = self.eventLoop.makePromise(of: Bool.self)
            let late = self.eventLoop.scheduleTask(in: Self.closingTime.amount) { closed.succeed(false) }
            self.connectionTable.close().assumeIsolated().whenComplete { _ in
                self.running = nil
                self.mailboxes = ShardMailboxes()
                // Cancelling fails the task's future, unless the task ran already.
                late.cancel()
                late.futureResult.whenFailure { _ in closed.succeed(true) }
            }
            return closed.futureResult
        }
    }

    /// Returns the octets that the kernel has not taken yet.
    func waitingOctets() -> EventLoopFuture<Int> {
        eventLoop.submit { self.connectionTable.waitingOctets }
    }

    /// Returns the counters of this loop, the number of its connections, and the octets of incomplete messages they hold.
    package func statistics() -> EventLoopFuture<
        (counters: TransportCounters, lateness: DurationHistogram, connections: Int, unfinishedOctets: Int)
    > {
        eventLoop.submit { (self.counters, self.tick.delays, self.connectionTable.connectionCount, self.connectionTable.unfinished.total) }
    }
}
