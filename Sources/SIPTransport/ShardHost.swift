import Logging
import NIOCore
import SIPCore

/// Picks the shard of a framed message: a pure function, the same on every loop.
public typealias ShardSelector = @Sendable (InboundMessage) -> Int

/// Drives one `SansIOEndpoint` on one event loop: its shard.
///
/// All the work of a tick is gathered. Messages are given to the endpoint as they arrive; when the loop has read all that was ready,
/// `pump` fires due timers, takes what the endpoint wants to send, writes each connection once and hands other shards their share in
/// one hop per shard. No task, lock or allocation of a promise per message.
///
/// Everything here is confined to `eventLoop`; only `perform` and `start` may be called from elsewhere.
public final class ShardHost: @unchecked Sendable {
    public let index: Int
    public let eventLoop: any EventLoop
    public let options: TransportOptions
    public let clock: HostClock
    let logger: Logger
    let tls: TLSService?
    /// Connections of all loops.
    let remoteAddresses: RemoteAddressCounts
    let reusable: ReusableConnections
    var counters = TransportCounters()
    /// Answers what the endpoint asks of the Domain Name System.
    var names: (any NameResolving)?
    private(set) var wires: Wires!
    /// Gets a copy of every message, if a collector is configured.
    var tap: CaptureTap?
    let rounds: FairRounds

    private var endpoint: (any SansIOEndpoint)?
    private var afterTick: (@Sendable (any SansIOEndpoint, Int) -> Void)?
    private var selector: ShardSelector?
    private var shards: [ShardHost] = []
    private var mailboxes: [[Mail]] = []
    private var isPumpScheduled = false
    private var isStopped = false
    private var tick: Instant?
    private var timer: Scheduled<Void>?
    private var timerInstant: Instant?
    private var lateness: LatenessMeter

    /// What one shard hands to another.
    enum Mail: Sendable {
        case inbound(InboundMessage)
        /// - isUnnamed: the shard did not name the connection that the destination names.
        case outbound(OutboundMessage, shard: Int, isUnnamed: Bool)
        case notice(TransportNotice)
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
        rounds = FairRounds(eventLoop: eventLoop)
        wires = Wires(host: self)
    }

    /// Gives the shard its endpoint; from then on messages are delivered. On the loop.
    func begin(
        _ endpoint: any SansIOEndpoint, among shards: [ShardHost], selector: ShardSelector?,
        afterTick: (@Sendable (any SansIOEndpoint, Int) -> Void)?
    ) {
        eventLoop.preconditionInEventLoop()
        self.endpoint = endpoint
        self.shards = shards
        self.selector = shards.count > 1 ? selector : nil
        self.afterTick = afterTick
        mailboxes = Array(repeating: [], count: shards.count)
        wires.startIdleSweep()
        let interval = options.wallClockInterval.amount
        eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { task in
            guard let endpoint = self.endpoint, !self.isStopped else { return task.cancel() }
            endpoint.receive(wallClock: HostClock.wall(), at: self.now())
            self.schedulePump()
        }
        schedulePump()
    }

    /// Runs `body` with the endpoint on its loop, then sends what it caused.
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

    /// This tick's time: read once, the same for all that happens in it.
    func now() -> Instant {
        if let tick { return tick }
        let now = clock.now()
        tick = now
        return now
    }

    // MARK: In

    func receive(_ message: InboundMessage) {
        counters.messagesReceived &+= 1
        tap?.copy(message.bytes, from: message.remote, to: message.local, at: now())
        if let selector {
            let target = selector(message)
            if target != index, shards.indices.contains(target) {
                counters.handedToOtherShards &+= 1
                post(.inbound(message), to: target)
                return
            }
        }
        endpoint?.receive(message, at: now())
        schedulePump()
    }

    /// Tells one shard what became of its message.
    func report(_ notice: TransportNotice, to shard: Int) {
        guard shard != index else {
            endpoint?.receive(notice, at: now())
            // To know its carrier makes an endpoint send nothing.
            if case .carried = notice { return }
            schedulePump()
            return
        }
        post(.notice(notice), to: shard)
    }

    /// Tells every shard: any of them may know the connection.
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
            case .outbound(let message, let shard, let isUnnamed): wires.send(message, for: shard, isUnnamed: isUnnamed)
            case .notice(let notice): endpoint?.receive(notice, at: now())
            }
        }
        schedulePump()
    }

    // MARK: The tick

    func schedulePump() {
        guard !isPumpScheduled, !isStopped else { return }
        isPumpScheduled = true
        // On its own loop, `execute` runs after every channel that was ready has been read.
        eventLoop.execute { self.pump() }
    }

    private func pump() {
        isPumpScheduled = false
        rounds.tickEnded()
        guard let endpoint, !isStopped else {
            tick = nil
            return
        }
        if let late = lateness.measure(tickBegan: tick, deadline: endpoint.nextDeadline, at: clock.now()) {
            endpoint.receive(.late(late), at: now())
        }
        let now = self.now()
        if let deadline = endpoint.nextDeadline, deadline <= now { endpoint.advance(to: now) }
        // A failed send is reported at once and may cause more output; bounded, the rest waits for the next tick.
        for _ in 0..<8 {
            let output = endpoint.takeOutput()
            if output.isEmpty { break }
            for message in output { wires.send(message, for: index) }
        }
        wires.flush()
        flushMailboxes()
        for question in endpoint.takeQuestions() { ask(question) }
        afterTick?(endpoint, index)
        tick = nil
        armTimer(for: endpoint.nextDeadline)
        // Measured again after what waits in the sockets has been read, which is late work still; but not only when something comes: what
        // comes after an idle time is not to be refused for what was late before it. A task of the future runs after the next poll.
        if lateness.isLate { eventLoop.scheduleTask(in: .milliseconds(1)) { self.schedulePump() } }
    }

    /// One timer per loop, moved only when an earlier deadline appears: the endpoint keeps its own heap.
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

    /// The answer comes on the loop, in a later tick.
    private func ask(_ question: NameQuestion) {
        let answered: @Sendable (NameAnswer) -> Void = { answer in
            self.eventLoop.execute {
                guard let endpoint = self.endpoint, !self.isStopped else { return }
                endpoint.receive(.answered(question, answer), at: self.now())
                self.schedulePump()
            }
        }
        if let names { names.ask(question, answer: answered) } else { answered(NameAnswer(.failed(.serverFailure))) }
    }

    // MARK: The end

    /// How long closing a socket may take: TLS waits for the peer's close_notify.
    private static let closingTime = TimeSpan.milliseconds(200)

    /// Closes every socket of this loop after what is queued has been written.
    /// - Returns: whether all are closed; false: some take longer than 200 ms.
    func stop() -> EventLoopFuture<Bool> {
        eventLoop.flatSubmit {
            self.pump()
            self.isStopped = true
            self.timer?.cancel()
            self.timer = nil
            let closed = self.eventLoop.makePromise(of: Bool.self)
            let late = self.eventLoop.scheduleTask(in: Self.closingTime.amount) { closed.succeed(false) }
            self.wires.close().assumeIsolated().whenComplete { _ in
                self.endpoint = nil
                self.afterTick = nil
                self.shards = []
                // Cancelled, unless it has succeeded already.
                late.cancel()
                late.futureResult.whenFailure { _ in closed.succeed(true) }
            }
            return closed.futureResult
        }
    }

    /// Octets that have not reached the kernel.
    func waitingOctets() -> EventLoopFuture<Int> {
        eventLoop.submit { self.wires.waitingOctets }
    }

    /// Counters of this loop's sockets, how many connections live, and how many octets of unfinished messages they hold.
    public func statistics() -> EventLoopFuture<(counters: TransportCounters, connections: Int, unfinishedOctets: Int)> {
        eventLoop.submit { (self.counters, self.wires.connectionCount, self.wires.unfinished.total) }
    }
}
