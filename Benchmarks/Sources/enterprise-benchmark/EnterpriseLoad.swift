import CEpoll
import Glibc
import Measurement
import SIPCore

/// Clients of one hosted enterprise domain, in one thread.
final class EnterpriseLoad {
    let gateway: Int
    let users: Int
    let contactCount: Int
    let isStoringContacts: Bool
    private let queue = epoll_create1(0)
    private var clients: [Int: Client] = [:]
    private var byDescriptor: [Int32: Client] = [:]
    private var buffer = [UInt8](repeating: 0, count: 1 << 18)

    private(set) var answered = [Durations](repeating: Durations(), count: Client.Purpose.allCases.count)
    private(set) var signIn = Durations()
    private(set) var signedIn = 0
    private(set) var watching = 0
    private(set) var errors: [String: Int] = [:]
    private(set) var notifications = 0
    private(set) var octets = 0
    /// Presentities shown, in notifications and in the responses that carry one.
    private(set) var shown = 0
    /// Whether sign-in includes the batch subscription to the contacts; otherwise ``watch(_:)`` makes it.
    var isWatchingAtSignIn = true

    init(gateway: Int, users: Int, contacts: Int, isStoringContacts: Bool) {
        self.gateway = gateway
        self.users = users
        contactCount = min(contacts, users - 1)
        self.isStoringContacts = isStoringContacts
    }

    var outstanding: Int { clients.values.reduce(0) { $0 + $1.awaiting.count } }
    var answers: Int { answered.reduce(0) { $0 + $1.count } }
    func durations(_ purpose: Client.Purpose) -> Durations { answered[purpose.rawValue] }

    /// Contacts of a user: half are neighbors, half are spread over all users; the same in every run.
    func contacts(of index: Int) -> [Int] {
        let step = max(1, users / (contactCount + 1))
        return (1...contactCount).map { $0 % 2 == 0 ? (index + $0) % users : (index + $0 * step) % users }.filter { $0 != index }
    }

    func signIn(_ index: Int) {
        guard let client = Client(index: index, gateway: gateway) else { return fail("connect: \(String(cString: strerror(errno)))") }
        clients[index] = client
        byDescriptor[client.descriptor] = client
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(fd: client.descriptor))
        epoll_ctl(queue, EPOLL_CTL_ADD, client.descriptor, &event)
        client.began = clockNow()
        client.register(at: client.began)
        flush(client)
    }

    func watch(_ index: Int) {
        guard let client = clients[index] else { return }
        client.watch(contacts(of: index), at: clockNow())
        flush(client)
    }

    /// Publishes another user state than before.
    func publishChange(_ index: Int) {
        guard let client = clients[index], client.isSignedIn else { return fail("publish: not signed in") }
        client.publish([3500, 6500, 9500, 15500][client.stateVersion % 4], isFirst: false, at: clockNow())
        flush(client)
    }

    func act(_ purpose: Client.Purpose, _ index: Int, _ choice: Int) {
        guard let client = clients[index], client.isSignedIn else { return }
        let now = clockNow()
        let contact = contacts(of: index)[choice % max(1, contactCount - 1)]
        switch purpose {
        case .publish: client.publish([3500, 6500, 9500, 15500][choice % 4], isFirst: false, at: now)
        default: client.subscribeOnce(purpose, to: contact, at: now)
        }
        flush(client)
    }

    /// Reads and answers for at most this many milliseconds.
    func work(milliseconds: Int32) {
        var events = [epoll_event](repeating: epoll_event(), count: 512)
        let count = epoll_wait(queue, &events, 512, milliseconds)
        guard count > 0 else { return }
        for event in events[..<Int(count)] {
            guard let client = byDescriptor[event.data.fd] else { continue }
            if event.events & EPOLLIN.rawValue != 0 { receive(client) }
            flush(client)
        }
    }

    private func flush(_ client: Client) {
        let isLeft = client.flush()
        guard isLeft != client.isWriting else { return }
        client.isWriting = isLeft
        var event = epoll_event(
            events: EPOLLIN.rawValue | (isLeft ? EPOLLOUT.rawValue : 0), data: epoll_data_t(fd: client.descriptor))
        epoll_ctl(queue, EPOLL_CTL_MOD, client.descriptor, &event)
    }

    private func receive(_ client: Client) {
        let count = recv(client.descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            if count == 0 || errno != EAGAIN {
                fail("connection lost")
                epoll_ctl(queue, EPOLL_CTL_DEL, client.descriptor, nil)
                close(client.descriptor)
                byDescriptor[client.descriptor] = nil
                clients[client.index] = nil
            }
            return
        }
        octets += count
        client.framer.append(buffer[..<count])
        while let event = client.framer.next() {
            if case .message(let message) = event { receive(message, client) }
        }
    }

    private func receive(_ message: [UInt8], _ client: Client) {
        shown += Self.presentities(in: message)
        if message.starts(with: Array("BENOTIFY".utf8)) {
            notifications += 1
            return
        }
        if message.starts(with: Array("NOTIFY".utf8)) {
            notifications += 1
            guard case .success(.request(let request)) = SIPParser.parse(message) else { return fail("NOTIFY cannot be read") }
            client.output += SIPSerializer.serialize(SIPResponse(to: request, status: .ok))
            return
        }
        guard message.starts(with: Array("SIP/2.0 ".utf8)), message.count > 12,
            let status = Int(String(decoding: message[8..<11], as: UTF8.self)), let number = Self.number(in: message)
        else { return fail("an answer cannot be read") }
        guard status >= 200, let (purpose, since) = client.awaiting.removeValue(forKey: number) else { return }
        let now = clockNow()
        answered[purpose.rawValue].add(now - since)
        guard status < 300 else {
            let reason = Self.text(after: "reason=\"", upTo: UInt8(ascii: "\""), in: message)
            return fail("\(purpose) \(status)" + (reason.isEmpty ? "" : " (\(reason))"))
        }
        proceed(client, after: purpose, message, at: now)
    }

    private func proceed(_ client: Client, after purpose: Client.Purpose, _ message: [UInt8], at now: UInt64) {
        switch purpose {
        case .register:
            client.endpointID = Self.text(after: "<urn:uuid:", upTo: UInt8(ascii: ">"), in: message)
            client.subscribeToOwn(at: now)
        case .selfState:
            if isStoringContacts { client.addContacts(contacts(of: client.index), at: now) } else { client.setMembers(at: now) }
        case .contactList:
            client.listLeft -= 1
            if client.listLeft == 0 { client.setMembers(at: now) }
        case .members:
            client.publish(3500, isFirst: true, at: now)
        case .publish where !client.isSignedIn:
            if isWatchingAtSignIn { client.watch(contacts(of: client.index), at: now) } else { finish(client, at: now) }
        case .batch:
            watching += 1
            if !client.isSignedIn { finish(client, at: now) }
        default: break
        }
    }

    private func finish(_ client: Client, at now: UInt64) {
        client.isSignedIn = true
        signedIn += 1
        signIn.add(now - client.began)
    }

    /// Number of documents of categories in a message, one for each presentity.
    private static func presentities(in message: [UInt8]) -> Int {
        let mark = Array("<categories ".utf8)
        return message.withUnsafeBytes { octets in
            guard let start = octets.baseAddress else { return 0 }
            var (position, count) = (0, 0)
            while let found = memchr(start + position, Int32(UInt8(ascii: "<")), octets.count - position) {
                position = UnsafeRawPointer(found) - start
                guard octets.count - position >= mark.count else { break }
                if memcmp(found, mark, mark.count) == 0 { count += 1 }
                position += 1
            }
            return count
        }
    }

    private func fail(_ what: String) { errors[what, default: 0] += 1 }

    /// Request number from the Via branch; nil when there is none.
    private static func number(in message: [UInt8]) -> Int? {
        Int(text(after: "branch=z9hG4bKn", upTo: 0x0D, in: message).prefix { $0.isNumber })
    }

    /// Text after the first `mark`, up to an octet; empty without the mark.
    private static func text(after mark: String, upTo end: UInt8, in message: [UInt8]) -> String {
        let mark = Array(mark.utf8)
        var start = 0
        while start + mark.count < message.count {
            if message[start] == mark[0], message[start..<start + mark.count].elementsEqual(mark) {
                return String(decoding: message[(start + mark.count)...].prefix { $0 != end }, as: UTF8.self)
            }
            start += 1
        }
        return ""
    }
}
