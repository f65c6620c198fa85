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
    public let eventLoop: any EventLoop
    /// Options of the server, the same for all shards.
    public let options: TransportOptions
    /// Clock that all shards share.
    public let clock: HostClock
    let logger: Logger
    let tls: TLSService?
    /// Accepted connections by remote address, shared by all loops.
    let remoteAddresses: RemoteAddressCounts
    let reusable: ReusableConnections
    var counters = TransportCounters()
    /// Resolver for the DNS questions of the endpoint; nil makes them fail.
    var names: (any NameResolving)?
    private(set) var connectionTable: ConnectionTable!
    /// Receives a copy of every message; nil without a configured collector.
    var tap: CaptureTap?
    let scheduler: FairScheduler

    private var endpoint: (any SansIOEndpoint)?
    private var afterTick: (@Sendable (any SansIOEndpoint, ShardHost) -> Void)?
    private var selector: ShardSelector?
    private var shards: [ShardHost] = []
    private var mailboxes: [[Mail]] = []
    private var isPumpScheduled = false
    private var isStopped = false
    /// Whether ``submit(_:)`` may still use the loop, which must not be used once it has ended.
    private let takesSubmissions = Mutex(true)
    private var tick: Instant?
    private var timer: Scheduled<Void>?
    private var timerInstant: Instant?
    private var lateness: LatenessMeter

    /// Message or notice passed from one shard to another.
    enum Mail: Sendable {
        case inbound(InboundMessage)
        /// - isUnnamed: Whether the sending shard does not know which connection carries the message.
        case outbound(OutboundMessage, shard: Int, isUnnamed: Bool)
        case notice(TransportNotice)
        /// Value of the sending shard's endpoint.
        case envelope(ShardEnvelope)
    }

    init(
        index: Int, eventLoop: any EventLoop, options: TransportOptions, clock: HostClock, logger: Logger, tls: TLSService? = nil,
        remoteAddresses: RemoteAddressCounts = RemoteAddressCounts(), reusable: ReusableConnections = ReusableConnections()
    ) {
        self.index = index
        self.eventLoop = eventLoop
        self.options = options
        self.clock = clock
        self.logger = logger
        self.tls = tls
        self.remoteAddresses = remoteAddresses
        self.reusable = reusable
        lateness = LatenessMeter(threshold: options.latenessReported)
        scheduler = FairScheduler(eventLoop: eventLoop)
        connectionTable = ConnectionTable(host: self)
    }

    /// Sets the shard's endpoint and starts delivering messages; must run on the loop.
    func begin(
        _ endpoint: any SansIOEndpoint, among shards: [ShardHost], selector: ShardSelector?,
        afterTick: (@Sendable (any SansIOEndpoint, ShardHost) -> Void)?
    ) {
        eventLoop.preconditionInEventLoop()
        self.endpoint = endpoint
        self.shards = shards
        self.selector = shards.count > 1 ? selector : nil
        self.afterTick = afterTick
        mailboxes = Array(repeating: [], count: shards.count)
        connectionTable.startIdleSweep()
        let interval = options.wallClockInterval.amount
        eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { task in
            guard let endpoint = self.endpoint, !self.isStopped else { return task.cancel() }
            endpoint.receive(wallClock: HostClock.wall(), at: self.now())
            self.schedulePump()
        }
        schedulePump()
    }

    /// Runs `body` with the endpoint on its loop, then sends the resulting output; the future fails with `ChannelError.alreadyClosed` after
    /// a stop.
    public func perform<Value: Sendable>(
        _ body: @escaping @Sendable (any SansIOEndpoint, Instant) -> Value
    ) -> EventLoopFuture<Value> {
        eventLoop.flatSubmit {
            guard let endpoint = self.endpoint, !self.isStopped else {
                return self.eventLoop.makeFailedFuture(ChannelError.alreadyClosed)
            }
            let began = self.clock.now()
            let value = body(endpoint, self.now())
            self.lateness.excuse(self.clock.now() - began)
            self.schedulePump()
            return self.eventLoop.makeSucceededFuture(value)
        }
    }

    /// Runs `body` with the endpoint on its loop, in the order of the calls, then sends the resulting output; dropped after a stop.
    ///
    /// Allocates no future and may be called from any thread, also while the server stops.
    public func submit(_ body: @escaping @Sendable (any SansIOEndpoint, Instant) -> Void) {
        takesSubmissions.withLock { isOpen in
            guard isOpen else { return }
            eventLoop.execute {
                guard let endpoint = self.endpoint, !self.isStopped else { return }
                body(endpoint, self.now())
                self.schedulePump()
            }
        }
    }

    /// Time of the current tick: read once, the same for all its events.
    func now() -> Instant {
        if let tick { return tick }
        let now = clock.now()
        tick = now
        return now
    }

    // MARK: In

    func receive(_ received: InboundMessage) {
        counters.messagesReceived &+= 1
        tap?.copy(received.bytes, from: received.remote, to: received.local, at: now())
        var message = received
        if let selector {
            let target = selector(&message)
            if target != index, shards.indices.contains(target) {
                counters.handedToOtherShards &+= 1
                post(.inbound(message), to: target)
                return
            }
        }
        endpoint?.receive(message, at: now())
        schedulePump()
    }

    /// Reports a transport notice to one shard.
    func report(_ notice: TransportNotice, to shard: Int) {
        guard shard != index else {
            endpoint?.receive(notice, at: now())
            // A `carried` notice causes no output.
            if case .carried = notice { return }
            schedulePump()
            return
        }
        post(.notice(notice), to: shard)
    }

    /// Reports a transport notice to every shard, since each of them may use the connection.
    func reportToAll(_ notice: TransportNotice) {
        if shards.count <= 1 { return report(notice, to: index) }
        for shard in shards.indices { report(notice, to: shard) }
    }

    // MARK: Between shards

    func post(_ mail: Mail, to shard: Int) {
        guard mailboxes.indices.contains(shard) else { return }
        mailboxes[shard].append(mail)
        schedulePump()
    }

    private func flushMailboxes() {
        for shard in mailboxes.indices where !mailboxes[shard].isEmpty {
            let batch = mailboxes[shard]
            mailboxes[shard] = []
            let target = shards[shard]
            target.eventLoop.execute { target.take(batch) }
        }
    }

    private func take(_ batch: [Mail]) {
        guard !isStopped else { return }
        for mail in batch {
            switch mail {
            case .inbound(let message): endpoint?.receive(message, at: now())
            case .outbound(let message, let shard, let isUnnamed): connectionTable.send(message, for: shard, isUnnamed: isUnnamed)
            case .notice(let notice): endpoint?.receive(notice, at: now())
            case .envelope(let envelope): endpoint?.receive(envelope, at: now())
            }
        }
        schedulePump()
    }

    // MARK: The tick

    func schedulePump() {
        guard !isPumpScheduled, !isStopped else { return }
        isPumpScheduled = true
        // On the loop itself, `execute` runs after all ready channels have been read.
        eventLoop.execute { self.pump() }
    }

    private func pump() {
        isPumpScheduled = false
        scheduler.tickEnded()
        guard let endpoint, !isStopped else {
            tick = nil
            return
        }
        if let late = lateness.measure(tickBegan: tick, deadline: endpoint.nextDeadline, at: clock.now()) {
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
        flushMailboxes()
        for question in endpoint.takeQuestions() { ask(question) }
        afterTick?(endpoint, self)
        tick = nil
        armTimer(for: endpoint.nextDeadline)
        // While late, measure again after the sockets have been read, also without new input: a message that arrives after an idle period
        // must not be refused for an earlier delay. A scheduled task runs after the next poll.
        if lateness.isLate { eventLoop.scheduleTask(in: .milliseconds(1)) { self.schedulePump() } }
    }

    /// Schedules the loop's only timer, moved only for an earlier deadline: the endpoint keeps its own heap.
    private func armTimer(for deadline: Instant?) {
        guard let deadline else { return }
        if let timerInstant, timerInstant <= deadline { return }
        timer?.cancel()
        timerInstant = deadline
        timer = eventLoop.scheduleTask(deadline: clock.deadline(of: deadline)) {
            self.timer = nil
            self.timerInstant = nil
            self.pump()
        }
    }

    /// Asks a DNS question; the answer arrives on the loop in a later tick.
    private func ask(_ question: NameQuestion) {
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
            self.timer?.cancel()
            self.timer = nil
            let closed = self.eventLoop.makePromise(of: Bool.self)
            let late = self.eventLoop.scheduleTask(in: Self.closingTime.amount) { closed.succeed(false) }
            self.connectionTable.close().assumeIsolated().whenComplete { _ in
                self.endpoint = nil
                self.afterTick = nil
                self.shards = []
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
    public func statistics() -> EventLoopFuture<(counters: TransportCounters, connections: Int, unfinishedOctets: Int)> {
        eventLoop.submit { (self.counters, self.connectionTable.connectionCount, self.connectionTable.unfinished.total) }
    }
}
