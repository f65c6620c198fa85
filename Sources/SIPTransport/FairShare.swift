import NIOCore

/// What one sender has had of the tick at hand.
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

/// A reader that left messages for later, because its sender has had its share.
protocol RestingReader: AnyObject {
    /// Goes on with what it left; it may rest again.
    func goOn()
}

/// Gives every sender of a loop the same share of a tick: so many messages, the rest in later ticks, one sender after the other
/// (deficit round robin with the message as its unit). Between two rounds the loop reads what others have sent. Confined to its loop.
final class FairRounds: @unchecked Sendable {
    /// The number of the tick at hand.
    private(set) var tick: UInt64 = 1
    private var resting: [any RestingReader] = []
    private let eventLoop: any EventLoop

    /// Tasks that are due are done before sockets are read again; a moment later, sockets come first.
    private static let pause = TimeAmount.microseconds(100)

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func tickEnded() { tick &+= 1 }

    func rest(_ reader: any RestingReader) {
        resting.append(reader)
        guard resting.count == 1 else { return }
        eventLoop.scheduleTask(in: Self.pause) { self.goOn() }
    }

    private func goOn() {
        let readers = resting
        resting = []
        tick &+= 1
        for reader in readers { reader.goOn() }
    }
}
