import Glibc
import LiveLoad
import Measurement
import SIPCore
import Traffic

/// Users of partner A that watch those of example.org in categories, and example.org itself, which notifies in PIDF; in one thread.
///
/// A delay lasts from before a NOTIFY of example.org is written until its notification has been read at A.
final class UserModel {
    /// Microsoft's user model, per user and hour; 10 % of the contacts and polls are federated.
    static let changes = 4.0, polls = 60.0, federatedShare = 0.1

    let users: Int
    /// Number of presentities per watcher, and of watchers per presentity.
    let contacts: Int
    /// Factor by which the model runs faster than real time.
    let compression: Double
    private(set) var delays = Durations()
    private(set) var polled = 0
    /// Responses other than 200 to notifications of example.org, by status.
    private(set) var refusals: [String: Int] = [:]
    /// Number of changes without a notification yet.
    var awaited: Int { open.count }

    private let listener: PlainSocket
    private var server: PlainSocket?
    private var connections: [PlainSocket] = []
    /// Dialogs of the watchers, by presentity.
    private var subscriptions: [[UpstreamDialog]]
    private var subscriptionCount = 0
    private var answers = 0
    private var refused = 0
    private var number = 0
    private var mark = 0
    private var open: [Int: UInt64] = [:]
    private var random: UInt64 = 20_261_123
    private let padding: String

    private struct UpstreamDialog {
        var request: SIPRequest
        var connection: PlainSocket
        var sequence = 1
    }

    init(users: Int, contacts: Int, compression: Double) {
        (self.users, self.contacts, self.compression) = (users, min(contacts, users), compression)
        listener = .listening(at: "127.0.0.4")
        subscriptions = Array(repeating: [], count: users)
        // Padding to the 4 KB per document of the user model.
        padding = (1...18).map { place in
            "<tuple id=\"d\(place)\"><status><basic>open</basic></status><contact priority=\"0.\(10 + place)\">"
                + "sip:device\(place)@devices.example.org;gr=urn:uuid:00000000-0000-1000-8000-0000000000\(10 + place)</contact></tuple>"
        }.joined()
    }

    /// Address of example.org.
    var route: String { "tcp:\(listener.name)" }

    /// Subscribes all users to their contacts.
    func subscribe(to gateway: Int) {
        let server = PlainSocket.connected(to: gateway, from: "127.0.0.2")
        self.server = server
        for user in 0..<users {
            let expected = answers + contacts
            for place in 0..<contacts { ask(user, (user * contacts + place) % users, isPoll: false) }
            while answers < expected || subscriptionCount < expected { work(milliseconds: 1_000) }
        }
        if refused > 0 {
            print("flood-benchmark: \(refused) subscriptions of partner A were refused")
            exit(1)
        }
    }

    /// Runs the model until the condition fails.
    func live(while isLiving: () -> Bool) {
        (delays, polled, refusals) = (Durations(), 0, [:])
        let second = 1e9 * 3_600 / (Double(users) * compression)
        let (changeSpan, pollSpan) = (second / Self.changes, second / (Self.polls * Self.federatedShare))
        var nextChange = clockNow() + pause(changeSpan)
        var nextPoll = clockNow() + pause(pollSpan)
        while isLiving() {
            let now = clockNow()
            while nextChange <= now {
                change(Int(draw() % UInt64(users)))
                nextChange += pause(changeSpan)
            }
            while nextPoll <= now {
                ask(Int(draw() % UInt64(users)), Int(draw() % UInt64(users)), isPoll: true)
                polled += 1
                nextPoll += pause(pollSpan)
            }
            let next = min(nextChange, nextPoll)
            let ahead = clockNow()
            work(milliseconds: next > ahead ? Int32(min((next - ahead) / 1_000_000 + 1, 100)) : 0)
        }
        let end = clockNow() + 20_000_000_000
        while !open.isEmpty, clockNow() < end { work(milliseconds: 100) }
    }

    /// Forgets missing notifications, so that they are not counted again.
    func giveUp() { open = [:] }

    // MARK: Sending

    private func ask(_ user: Int, _ contact: Int, isPoll: Bool) {
        guard let server else { return }
        number += 1
        var text = String(
            decoding: Traffic.categorySubscribe(
                watcher: "u\(user)@\(Traffic.enterpriseDomain)", to: "p\(contact)@\(Traffic.remoteDomain)", number: number, transport: .tcp,
                contact: server.name), as: UTF8.self)
        if isPoll, let place = text.firstRange(of: "Expires: 3600") { text.replaceSubrange(place, with: "Expires: 0") }
        server.send(Array(text.utf8))
    }

    private func change(_ presentity: Int) {
        for place in subscriptions[presentity].indices {
            mark += 1
            subscriptions[presentity][place].sequence += 1
            let subscription = subscriptions[presentity][place]
            let message = Traffic.notify(
                subscription.request, number: subscription.sequence, contact: listener.name, document: document(presentity, "mark \(mark)"))
            open[mark] = clockNow()
            subscription.connection.send(message)
        }
    }

    private func document(_ presentity: Int, _ note: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?><presence xmlns="urn:ietf:params:xml:ns:pidf" \
        xmlns:dm="urn:ietf:params:xml:ns:pidf:data-model" xmlns:rpid="urn:ietf:params:xml:ns:pidf:rpid" entity="sip:p\(presentity)@\(Traffic.remoteDomain)">\
        <tuple id="t1"><status><basic>open</basic></status><contact priority="0.8">sip:p\(presentity)@\(Traffic.remoteDomain)</contact></tuple>\
        \(padding)<dm:person id="p1"><rpid:activities><rpid:\(mark % 2 == 0 ? "meeting" : "on-the-phone")/></rpid:activities>\
        <dm:note>\(note)</dm:note></dm:person></presence>
        """
    }

    private func draw() -> UInt64 {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return random >> 33
    }

    /// Random time to the next event, with an exponential distribution around `mean` nanoseconds.
    private func pause(_ mean: Double) -> UInt64 { UInt64(-log((Double(draw()) + 1) / 2_147_483_649) * mean) }

    // MARK: Receiving

    private func work(milliseconds: Int32) {
        let sockets = [listener] + connections + (server.map { [$0] } ?? [])
        var polls = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        guard poll(&polls, nfds_t(polls.count), milliseconds) > 0 else { return }
        for (index, socket) in sockets.enumerated() where polls[index].revents != 0 {
            if index == 0 {
                connections.append(listener.accepted())
            } else {
                let messages = socket.receive()
                let now = clockNow()
                for message in messages { receive(message, on: socket, at: now) }
            }
        }
    }

    private func receive(_ message: [UInt8], on socket: PlainSocket, at now: UInt64) {
        if message.starts(with: Array("SUBSCRIBE".utf8)) { return accept(message, on: socket) }
        if message.starts(with: Array("SIP/2.0".utf8)) {
            guard message.count > 12 else { return }
            if socket !== server, message[8] != UInt8(ascii: "2") {
                refusals[String(decoding: message[8..<11], as: UTF8.self), default: 0] += 1
            }
            guard socket === server else { return }
            answers += 1
            if message[8] != UInt8(ascii: "2") { refused += 1 }
            return
        }
        if let mark = Self.mark(in: message), let since = open.removeValue(forKey: mark) { delays.add(now - since) }
        guard message.starts(with: Array("NOTIFY".utf8)), case .success(.request(let request)) = SIPParser.parse(message) else { return }
        socket.send(SIPResponse(to: request, status: .ok).serialized())
    }

    private func accept(_ message: [UInt8], on socket: PlainSocket) {
        guard case .success(.request(let request)) = SIPParser.parse(message), let presentity = Self.presentity(request) else { return }
        let isPoll = request.headers.expires == 0
        var answer = SIPResponse(to: request, status: .ok, toTag: "far\(request.headers.callID ?? "")".filter { $0 != "@" })
        answer.headers.set(.contact, "<sip:\(listener.name);transport=tcp>")
        answer.headers.set(.expires, isPoll ? "0" : "3600")
        var first = Traffic.notify(request, number: 1, contact: listener.name, document: document(presentity, "first"))
        if isPoll {
            let text = String(decoding: first, as: UTF8.self)
            first = Array(text.replacing("active;expires=3000", with: "terminated;reason=timeout").utf8)
        } else if request.headers.toTag == nil {
            subscriptions[presentity].append(UpstreamDialog(request: request, connection: socket))
            subscriptionCount += 1
        }
        socket.send(answer.serialized() + first)
    }

    private static func presentity(_ request: SIPRequest) -> Int? { (request.headers.to?.uri.user?.dropFirst()).flatMap { Int($0) } }

    private static let sign = Array("mark ".utf8)

    /// Number of the change in a document.
    private static func mark(in message: [UInt8]) -> Int? {
        var place = 0
        while place + sign.count < message.count {
            if message[place] == sign[0], message[place..<place + sign.count].elementsEqual(sign) {
                return Int(String(decoding: message[(place + sign.count)...].prefix { (48...57).contains($0) }, as: UTF8.self))
            }
            place += 1
        }
        return nil
    }
}
