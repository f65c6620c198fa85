import CEpoll
import Glibc

/// Connections and listeners of one thread, in one epoll set.
final class ConnectionLoop {
    private(set) var connections: [LoadConnection?] = []
    private var listeners: [Int32] = []
    private var unsent: [Int] = []
    private let queue = epoll_create1(Int32(EPOLL_CLOEXEC))
    private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: 256)
    /// Receives the input of a connection and its number; the callee removes what it has read.
    var received: (Int) -> Void = { _ in }
    /// Whether the other side may close connections.
    var acceptsEnds = false

    deinit {
        close(queue)
        events.deallocate()
    }

    /// Adds a connection; returns its number.
    @discardableResult
    func add(_ connection: LoadConnection) -> Int {
        connections.append(connection)
        watch(connection.descriptor, UInt64(connections.count - 1))
        return connections.count - 1
    }

    func listen(on descriptor: Int32) {
        listeners.append(descriptor)
        watch(descriptor, UInt64(1 << 32 + listeners.count - 1))
    }

    private func watch(_ descriptor: Int32, _ number: UInt64) {
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: number))
        epoll_ctl(queue, EPOLL_CTL_ADD, descriptor, &event)
    }

    /// Output of a connection; written when the loop runs next. nil when the connection is closed.
    func output(_ number: Int) -> Octets? {
        guard let connection = connections[number] else { return nil }
        if !connection.isWaiting {
            connection.isWaiting = true
            unsent.append(number)
        }
        return connection.output
    }

    /// Writes, waits for input for `milliseconds` at most, hands it on, and writes the answers.
    func run(_ milliseconds: Int32) {
        flush()
        let count = epoll_wait(queue, events, 256, unsent.isEmpty ? milliseconds : 1)
        guard count > 0 else { return }
        for index in 0..<Int(count) {
            let number = events[index].data.u64
            if number >= 1 << 32 {
                let descriptor = accept(listeners[Int(number - 1 << 32)], nil, nil)
                if descriptor >= 0 { add(LoadConnection(descriptor: descriptor)) }
            } else if let connection = connections[Int(number)] {
                if connection.fill() {
                    received(Int(number))
                } else {
                    LoadConnection.check(acceptsEnds, "the measured side has closed a connection")
                    end(Int(number))
                }
            }
        }
        flush()
    }

    private func flush() {
        guard !unsent.isEmpty else { return }
        let now = unsent
        unsent.removeAll(keepingCapacity: true)
        for number in now {
            guard let connection = connections[number] else { continue }
            connection.isWaiting = false
            if !connection.flush() { _ = output(number) }
        }
    }

    private func end(_ number: Int) {
        if let connection = connections[number] { close(connection.descriptor) }
        connections[number] = nil
    }

    func endAll() {
        for number in connections.indices { end(number) }
        for listener in listeners { close(listener) }
        listeners = []
    }
}
