import NIOCore

/// Number of messages taken from one sender in the current tick.
struct TickShare {
    private var tick: UInt64 = 0
    private var used = 0

    func isSpent(_ share: Int, in tick: UInt64) -> Bool { self.tick == tick && used >= share }

    mutating func take(in tick: UInt64) {
        if self.tick != tick {
            self.tick = tick
            used = 0
        }
        used += 1
    }
}

/// A reader with messages left over because its sender used up its share of the tick.
protocol RestingReader: AnyObject {
    /// Handles further messages; it may call ``FairScheduler/rest(_:)`` again.
    func resume()
}

/// Gives every sender of a loop the same number of messages per tick; the rest is handled in later ticks, in turn (deficit round robin with
/// one message as the unit). Between two rounds the loop reads other sockets. Confined to its loop.
final class FairScheduler: @unchecked Sendable {
    /// Number of the current tick.
    private(set) var tick: UInt64 = 1
    private var resting: [any RestingReader] = []
    private let eventLoop: any EventLoop

    /// Due tasks run before sockets are read, so a short delay lets the loop read its sockets first.
    private static let pause = TimeAmount.microseconds(100)

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func tickEnded() { tick &+= 1 }

    func rest(_ reader: any RestingReader) {
        resting.append(reader)
        guard resting.count == 1 else { return }
        eventLoop.scheduleTask(in: Self.pause) { self.resume() }
    }

    private func resume() {
        let readers = resting
        resting = []
        tick &+= 1
        for reader in readers { reader.resume() }
    }
}
