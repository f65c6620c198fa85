import SIPCore
import ScriptedPeers

/// Network of endpoints and links with one virtual clock.
///
/// `step` takes the earliest due event (an arriving message or an endpoint's timer), advances the clock to it and handles it. The same seed
/// and the same calls give the same transcript, byte for byte.
///
///     send -> [lost | duplicated] -> delay + jitter -> receive          datagrams
///     send -> connect (once) -> delay, in order -> receive              streams
///                  \-> refused -> TransportNotice.failed
package final class SimulatedNetwork {
    /// Conditions of all links that have none of their own.
    package var conditions: NetworkConditions
    /// Record of all events so far.
    package private(set) var transcript: Transcript
    /// DNS answers for all stations.
    package var names = ScriptedNames()
    /// Current virtual time.
    package var now: Instant { clock.now }

    private struct Station {
        var name: String
        var endpoint: any SansIOEndpoint
        var addresses: [TransportAddress]
        var isDown = false
        /// TLS identity of the station.
        var identity: PeerIdentity?
    }

    private struct Stream {
        var owner: Int
        var local: TransportAddress
        var remote: TransportAddress
        var twin: ConnectionID
        var lastArrival: Instant
    }

    private enum Event {
        case arrival(InboundMessage, station: Int, from: String)
        case notice(TransportNotice, station: Int)
        case action((Instant) -> Void)
    }

    private struct Link: Hashable {
        var from: String
        var to: String
    }

    private var clock: ManualClock
    private var random: SeededRandom
    private var stations: [Station] = []
    private var listeners: [TransportAddress: Int] = [:]
    private var streams: [ConnectionID: Stream] = [:]
    private var links: [Link: NetworkConditions] = [:]
    private var events = EventQueue<Event>()
    private var nextConnection: UInt64 = 1
    private var nextEphemeralPort = 40_000

    /// Creates an empty network; `transcriptLimit` is the number of entries kept, and 0 records nothing.
    package init(
        seed: UInt64, conditions: NetworkConditions = .perfect, clock: ManualClock = ManualClock(), transcriptLimit: Int = 20_000
    ) {
        self.conditions = conditions
        self.clock = clock
        random = SeededRandom(seed: seed)
        transcript = Transcript(limit: transcriptLimit, start: clock.now)
    }

    // MARK: Stations and links

    /// Adds an endpoint under a name that appears in the transcript.
    /// - Parameter identity: Identity that its certificate proves on its TLS connections; nil for a station without a certificate.
    package func attach(
        _ endpoint: any SansIOEndpoint, name: String, at addresses: [TransportAddress], proving identity: PeerIdentity? = nil
    ) {
        stations.append(Station(name: name, endpoint: endpoint, addresses: addresses, identity: identity))
        for address in addresses { listeners[address] = stations.count - 1 }
    }

    /// Sets the conditions of one direction between two stations; nil restores the general conditions.
    package func setConditions(_ conditions: NetworkConditions?, from: String, to: String) {
        links[Link(from: from, to: to)] = conditions
    }

    /// Sets the conditions of both directions between two stations.
    package func setConditions(_ conditions: NetworkConditions?, between one: String, and other: String) {
        setConditions(conditions, from: one, to: other)
        setConditions(conditions, from: other, to: one)
    }

    /// Takes a station down as in a power failure: its connections die, its datagrams are lost and its timers stop.
    package func takeDown(_ name: String) {
        setDown(true, name)
        closeConnections(of: name)
    }

    /// Brings a station back, optionally with a new endpoint in place of the old one.
    package func bringUp(_ name: String, with replacement: (any SansIOEndpoint)? = nil) {
        for index in stations.indices where stations[index].name == name {
            if let replacement { stations[index].endpoint = replacement }
        }
        setDown(false, name)
    }

    private func setDown(_ isDown: Bool, _ name: String) {
        for index in stations.indices where stations[index].name == name { stations[index].isDown = isDown }
    }

    /// Closes all connections of a station; both ends receive a notice.
    package func closeConnections(of name: String, _ end: ConnectionEnd = .broken) {
        let ids = streams.filter { stations[$0.value.owner].name == name }.keys.sorted { $0.rawValue < $1.rawValue }
        for id in ids { close(id, end) }
    }

    /// Number of open connections, each counted once.
    package var connectionCount: Int { streams.count / 2 }

    // MARK: Time

    /// Handles the next due event; returns false when there is none.
    @discardableResult
    package func step() throws(SimulationError) -> Bool {
        try step(until: nil)
    }

    /// Handles all events due at or before an instant, then advances the clock to it.
    package func run(until moment: Instant) throws(SimulationError) {
        while try step(until: moment) {}
        clock.advance(to: moment)
    }

    /// Handles all events due within a span of virtual time.
    package func run(for span: TimeSpan) throws(SimulationError) {
        try run(until: now + span)
    }

    /// Steps until the condition holds, for at most a span of virtual time; returns whether it held.
    package func run(atMost span: TimeSpan, until condition: () throws -> Bool) throws -> Bool {
        let end = now + span
        collectOutput()
        if try condition() { return true }
        while try step(until: end) {
            if try condition() { return true }
        }
        clock.advance(to: end)
        return try condition()
    }

    private var stepsAtThisInstant = 0

    private func step(until limit: Instant?) throws(SimulationError) -> Bool {
        collectOutput()
        var due = events.nextTime
        var sleeper: Int?
        for (index, station) in stations.enumerated() where !station.isDown {
            guard let deadline = station.endpoint.nextDeadline else { continue }
            // At the same instant, events precede timers, so that a message that arrives exactly at a deadline is in time.
            if due.map({ deadline < $0 }) ?? true {
                due = deadline
                sleeper = index
            }
        }
        guard let due, limit.map({ due <= $0 }) ?? true else { return false }
        stepsAtThisInstant = due > now ? 0 : stepsAtThisInstant + 1
        if stepsAtThisInstant > 200_000 {
            throw SimulationError.timeStandsStill(at: now, who: sleeper.map { stations[$0].name } ?? "the network")
        }
        clock.advance(to: due)
        if let sleeper {
            let endpoint = stations[sleeper].endpoint
            endpoint.advance(to: now)
            if let again = endpoint.nextDeadline, again <= due {
                throw SimulationError.timeStandsStill(at: now, who: stations[sleeper].name)
            }
        } else if let (_, event) = events.removeFirst() {
            perform(event)
        }
        collectOutput()
        return true
    }

    private func perform(_ event: Event) {
        switch event {
        case .arrival(let message, let index, let sender):
            guard !stations[index].isDown else { return }
            if let connection = message.connection, streams[connection] == nil { return }
            record(.delivered, from: sender, to: stations[index].name, message.local.transport, message.bytes)
            stations[index].endpoint.receive(message, at: now)
        case .notice(let notice, let index):
            guard !stations[index].isDown else { return }
            stations[index].endpoint.receive(notice, at: now)
        case .action(let action):
            action(now)
        }
    }

    /// Runs an action at an instant, after the events already due then; an instant in the past is now.
    package func schedule(at moment: Instant, _ action: @escaping (Instant) -> Void) {
        events.add(.action(action), at: max(moment, now))
    }

    // MARK: Sending

    private func collectOutput() {
        for index in stations.indices {
            let output = stations[index].endpoint.takeOutput()
            if stations[index].isDown { continue }
            for message in output { send(message, from: index) }
            for question in stations[index].endpoint.takeQuestions() {
                guard let answer = names.answer(to: question, at: now) else { continue }
                events.add(.notice(.answered(question, answer), station: index), at: now + names.delay)
            }
        }
    }

    private func send(_ message: OutboundMessage, from sender: Int) {
        switch message.destination {
        case .connection(let id, let fallback):
            if let stream = streams[id], stream.owner == sender {
                send(message, over: id, stream)
            } else if let fallback {
                send(message, to: fallback, from: sender, local: nil)
            } else {
                refuse(message, from: sender, to: "connection \(id.rawValue)", .tcp)
            }
        case .address(let address, let local):
            send(message, to: address, from: sender, local: local)
        }
    }

    private func send(_ message: OutboundMessage, to address: TransportAddress, from sender: Int, local: TransportAddress?) {
        if address.transport == .udp {
            sendDatagram(message, to: address, from: sender, local: local)
        } else if let id = liveConnection(of: sender, to: address), let stream = streams[id] {
            name(id, to: sender, carrying: message)
            send(message, over: id, stream)
        } else if let receiver = listeners[address], let refusal = conditions(from: sender, to: receiver).refusal {
            refuse(message, from: sender, to: address.description, address.transport, refusal)
        } else if let receiver = listeners[address], !stations[receiver].isDown,
            conditions(from: sender, to: receiver).connectionDeath < 1
        {
            let id = connect(sender, to: receiver, at: address)
            name(id, to: sender, carrying: message)
            if let stream = streams[id] { send(message, over: id, stream) }
        } else {
            refuse(message, from: sender, to: address.description, address.transport)
        }
    }

    /// Reports the chosen connection of a message with an address as its destination.
    private func name(_ connection: ConnectionID, to sender: Int, carrying message: OutboundMessage) {
        guard message.token != 0 else { return }
        stations[sender].endpoint.receive(.carried(token: message.token, by: .connection(connection)), at: now)
    }

    private func sendDatagram(_ message: OutboundMessage, to address: TransportAddress, from sender: Int, local: TransportAddress?) {
        let name = stations[sender].name
        guard let source = local ?? stations[sender].addresses.first(where: { $0.transport == .udp }) else {
            return refuse(message, from: sender, to: address.description, .udp)
        }
        guard let receiver = listeners[address] else {
            return record(.lost, from: name, to: address.description, .udp, message.bytes)
        }
        let link = conditions(from: sender, to: receiver)
        record(.sent, from: name, to: stations[receiver].name, .udp, message.bytes)
        var copies = 1
        if random.chance(link.duplication) {
            copies = 2
            record(.duplicated, from: name, to: stations[receiver].name, .udp, message.bytes)
        }
        for _ in 0..<copies {
            if random.chance(link.loss) {
                record(.lost, from: name, to: stations[receiver].name, .udp, message.bytes)
                continue
            }
            var travel = travelTime(link)
            if random.chance(link.reordering) { travel = travel + (link.delay + link.jitter) * 3 }
            let inbound = InboundMessage(bytes: message.bytes, local: address, remote: source)
            events.add(.arrival(inbound, station: receiver, from: name), at: now + travel)
        }
    }

    private func send(_ message: OutboundMessage, over id: ConnectionID, _ stream: Stream) {
        guard let far = streams[stream.twin] else { return }
        let link = conditions(from: stream.owner, to: far.owner)
        let (name, farName) = (stations[stream.owner].name, stations[far.owner].name)
        record(.sent, from: name, to: farName, stream.local.transport, message.bytes)
        if random.chance(link.connectionDeath) {
            record(.lost, from: name, to: farName, stream.local.transport, message.bytes)
            close(id, .broken)
            return
        }
        let arrival = max(now + travelTime(link), stream.lastArrival)
        streams[id]?.lastArrival = arrival
        let identity = far.local.transport == .tls ? stations[stream.owner].identity : nil
        let inbound = InboundMessage(bytes: message.bytes, local: far.local, remote: far.remote, connection: stream.twin, peer: identity)
        events.add(.arrival(inbound, station: far.owner, from: name), at: arrival)
    }

    private func refuse(
        _ message: OutboundMessage, from sender: Int, to: String, _ transport: TransportProtocol, _ reason: String = "connection refused"
    ) {
        record(.refused, from: stations[sender].name, to: to, transport, message.bytes)
        guard message.token != 0 else { return }
        events.add(.notice(.failed(token: message.token, reason: reason), station: sender), at: now + conditions.delay)
    }

    // MARK: Connections

    private func liveConnection(of station: Int, to remote: TransportAddress) -> ConnectionID? {
        streams.filter { $0.value.owner == station && $0.value.remote == remote }.keys.min { $0.rawValue < $1.rawValue }
    }

    private func connect(_ sender: Int, to receiver: Int, at address: TransportAddress) -> ConnectionID {
        let host = stations[sender].addresses.first?.host ?? "client"
        let local = TransportAddress(address.transport, host, nextEphemeralPort)
        nextEphemeralPort = nextEphemeralPort >= 65_000 ? 40_000 : nextEphemeralPort + 1
        let near = ConnectionID(rawValue: nextConnection)
        let far = ConnectionID(rawValue: nextConnection + 1)
        nextConnection += 2
        streams[near] = Stream(owner: sender, local: local, remote: address, twin: far, lastArrival: now)
        streams[far] = Stream(owner: receiver, local: address, remote: local, twin: near, lastArrival: now)
        record(.opened, from: stations[sender].name, to: stations[receiver].name, address.transport, [])
        return near
    }

    private func close(_ id: ConnectionID, _ end: ConnectionEnd) {
        guard let stream = streams.removeValue(forKey: id) else { return }
        let far = streams.removeValue(forKey: stream.twin)
        record(.closed, from: stations[stream.owner].name, to: far.map { stations[$0.owner].name } ?? "", stream.local.transport, [])
        events.add(.notice(.closed(id, end), station: stream.owner), at: now + conditions.delay)
        if let far { events.add(.notice(.closed(stream.twin, end), station: far.owner), at: now + conditions.delay) }
    }

    // MARK: Chance and record

    /// Adds a remark of the script to the transcript.
    package func remark(_ text: @autoclosure () -> String) {
        guard transcript.limit > 0 else { return }
        record(.remark, from: "", to: "", .udp, Array(text().utf8))
    }

    private func conditions(from sender: Int, to receiver: Int) -> NetworkConditions {
        links[Link(from: stations[sender].name, to: stations[receiver].name)] ?? conditions
    }

    private func travelTime(_ link: NetworkConditions) -> TimeSpan {
        guard link.jitter > .zero else { return link.delay }
        return link.delay + TimeSpan(nanoseconds: Int64.random(in: 0...link.jitter.nanoseconds, using: &random))
    }

    private func record(_ fate: Transcript.Fate, from: String, to: String, _ transport: TransportProtocol, _ bytes: [UInt8]) {
        transcript.append(Transcript.Entry(time: now, fate: fate, from: from, to: to, transport: transport, bytes: bytes))
    }
}

/// Error that stops a simulation; caused by an endpoint, not by the script.
package enum SimulationError: Error, Equatable, CustomStringConvertible {
    /// An endpoint repeatedly requests a timer that is already due.
    case timeStandsStill(at: Instant, who: String)

    /// Text for a test failure.
    package var description: String {
        switch self {
        case .timeStandsStill(let moment, let who):
            "time stands still at \(moment.nanosecondsSince1970) ns: \(who) keeps asking to be woken for what is already due"
        }
    }
}
