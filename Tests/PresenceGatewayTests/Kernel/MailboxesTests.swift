import SIPCore
import Testing

@testable import PresenceGateway

@Suite("Mailboxes between shards")
struct MailboxesTests {
    @Test("values of one shard are handed on in the order in which they were sent, whatever the order of arrival")
    func order() {
        var sender = Mailboxes(of: 0)
        for number in 1...4 { sender.post(number, to: 1) }
        sender.post("other", to: 2)
        let envelopes = sender.takeOutgoing()
        #expect(envelopes.map(\.target) == [1, 1, 1, 1, 2] && envelopes.map(\.sequence) == [1, 2, 3, 4, 1])
        #expect(sender.takeOutgoing().isEmpty)
        var receiver = Mailboxes(of: 1)
        var handed: [Int] = []
        for index in [2, 0, 3, 1] { handed += receiver.receive(envelopes[index]).compactMap { $0 as? Int } }
        #expect(handed == [1, 2, 3, 4])
        #expect(receiver.count == 0)
    }

    @Test("an envelope that arrives twice is handed on once")
    func twice() {
        var sender = Mailboxes(of: 0)
        sender.post(1, to: 1)
        sender.post(2, to: 1)
        let envelopes = sender.takeOutgoing()
        var receiver = Mailboxes(of: 1)
        let handed = (envelopes + envelopes.reversed()).flatMap { receiver.receive($0) }.compactMap { $0 as? Int }
        #expect(handed == [1, 2])
    }

    @Test("an early envelope waits, and counts as an entry")
    func early() {
        var sender = Mailboxes(of: 0)
        sender.post(1, to: 1)
        sender.post(2, to: 1)
        let envelopes = sender.takeOutgoing()
        var receiver = Mailboxes(of: 1)
        #expect(receiver.receive(envelopes[1]).isEmpty)
        #expect(receiver.count == 1)
        #expect(receiver.receive(envelopes[0]).count == 2)
        #expect(receiver.count == 0)
    }
}
