import CCares
import FederationRouting
import Foundation
import Glibc
import SIPCore
import Synchronization

/// Resolves DNS questions with c-ares on one thread.
///
/// Identical open questions are sent once. ``FederationRouting/DNSReply`` parses the replies, because c-ares does not
/// return the lifetimes of all records. Nothing is cached: callers cache.
package final class NameResolver: NameResolving {
    private typealias Answer = @Sendable (NameAnswer) -> Void

    private struct State {
        var inbox: [(NameQuestion, Answer)] = []
        var isStopped = false
        var counters = NameResolverCounters()
    }

    private let state = Mutex(State())
    /// Event descriptor that wakes the thread.
    private let bell: Int32

    /// Starts the thread.
    /// - Throws: ``NameResolverError`` if a server address is malformed or c-ares cannot start.
    package init(options: NameResolverOptions = NameResolverOptions()) throws(NameResolverError) {
        let bell = isthmus_eventfd()
        guard bell >= 0 else { throw NameResolverError(description: "eventfd: \(String(cString: strerror(errno)))") }
        self.bell = bell
        let channel: AresChannel
        do {
            channel = try AresChannel(options: options)
        } catch {
            close(bell)
            throw error
        }
        let thread = Thread { [self] in
            serve(channel)
            // Safe to close: after serve() returns, ask() and stop() see isStopped under the lock and do not ring.
            close(bell)
        }
        thread.name = "names"
        thread.start()
    }

    /// Resolves a question. `answer` is called once: on the resolver's thread, or at once with `serverFailure` after
    /// ``stop()``.
    package func ask(_ question: NameQuestion, answer: @escaping @Sendable (NameAnswer) -> Void) {
        let isTaken = state.withLock { state in
            guard !state.isStopped else { return false }
            state.inbox.append((question, answer))
            ring()
            return true
        }
        if !isTaken { answer(NameAnswer(.failed(.serverFailure))) }
    }

    /// Stops the thread; open questions fail.
    package func stop() {
        state.withLock { state in
            guard !state.isStopped else { return }
            state.isStopped = true
            ring()
        }
    }

    /// The counters as of the last wake-up of the thread.
    package var counters: NameResolverCounters { state.withLock { $0.counters } }

    private func ring() {
        var one: UInt64 = 1
        _ = write(bell, &one, 8)
    }

    // MARK: Thread

    private func serve(_ channel: AresChannel) {
        while true {
            let (taken, isStopped) = state.withLock { state in
                defer { state.inbox = [] }
                return (state.inbox, state.isStopped)
            }
            for (question, answer) in taken { channel.ask(question, answer: answer) }
            if isStopped { return channel.destroy() }
            channel.wait(for: bell)
            state.withLock { $0.counters = channel.counters }
        }
    }
}

/// A c-ares channel with its open questions; used by one thread after `init`.
private final class AresChannel: @unchecked Sendable {
    private var channel: ares_channel?
    private let options: NameResolverOptions
    private var hosts: HostsFile?
    private var open: [NameQuestion: [@Sendable (NameAnswer) -> Void]] = [:]
    private(set) var counters = NameResolverCounters()

    /// The status of the process-wide initialization of c-ares.
    private static let libraryStatus = ares_library_init(Int32(ARES_LIB_INIT_ALL))

    init(options: NameResolverOptions) throws(NameResolverError) {
        self.options = options
        hosts = options.hostsFile.map { HostsFile($0) }
        guard Self.libraryStatus == 0 else { throw Self.error("c-ares", Self.libraryStatus) }
        var settings = ares_options()
        settings.timeout = Int32(clamping: options.timeout.nanoseconds / 1_000_000)
        settings.tries = Int32(clamping: options.tries)
        let mask = (1 << 13) | (1 << 2)  // ARES_OPT_TIMEOUTMS, ARES_OPT_TRIES
        let status = ares_init_options(&channel, &settings, Int32(mask))
        guard status == 0, let channel else { throw Self.error("c-ares", status) }
        if !options.servers.isEmpty {
            let set = ares_set_servers_ports_csv(channel, options.servers.joined(separator: ","))
            guard set == 0 else {
                ares_destroy(channel)
                throw Self.error(options.servers.joined(separator: ", "), set)
            }
        }
    }

    private static func error(_ what: String, _ status: Int32) -> NameResolverError {
        NameResolverError(description: "\(what): \(String(cString: ares_strerror(status)))")
    }

    /// Sends a question, or joins an identical open one; the answer arrives in ``wait(for:)``, or at once for local names
    /// and at the limit.
    func ask(_ question: NameQuestion, answer: @escaping @Sendable (NameAnswer) -> Void) {
        if open[question] != nil {
            open[question]?.append(answer)
            return
        }
        if let known = local(question) { return answer(known) }
        guard let channel, open.count < options.outstanding else {
            counters.failures += 1
            return answer(NameAnswer(.failed(.overload)))
        }
        counters.questions += 1
        open[question] = [answer]
        let ticket = Unmanaged.passRetained(Ticket(self, question)).toOpaque()
        let isPlainWord = !question.name.utf8.contains(UInt8(ascii: "."))
        let done: ares_callback = { context, status, _, bytes, count in
            guard let context else { return }
            let ticket = Unmanaged<Ticket>.fromOpaque(context).takeRetainedValue()
            let reply = bytes.map { Array(UnsafeBufferPointer(start: $0, count: Int(count))) }
            ticket.channel.finish(ticket.question, status, reply)
        }
        // A name without a dot is a host of the local network: apply the search domains of the system.
        if isPlainWord {
            ares_search(channel, question.name, 1, Int32(question.kind.rawValue), done, ticket)
        } else {
            ares_query(channel, question.name, 1, Int32(question.kind.rawValue), done, ticket)
        }
    }

    private final class Ticket {
        let channel: AresChannel
        let question: NameQuestion

        init(_ channel: AresChannel, _ question: NameQuestion) {
            self.channel = channel
            self.question = question
        }
    }

    private func finish(_ question: NameQuestion, _ status: Int32, _ reply: [UInt8]?) {
        var answer: NameAnswer
        switch status {
        case 0, 1, 4:  // ARES_SUCCESS, ARES_ENODATA, ARES_ENOTFOUND
            if let reply {
                answer = DNSReply.answer(to: question, in: reply)
                // Found through a search domain: the name in the reply is longer than the name asked.
                if status == 0, case .noData = answer.outcome, !question.name.utf8.contains(UInt8(ascii: ".")),
                    let full = DNSReply.askedName(in: reply)
                {
                    answer = DNSReply.answer(to: NameQuestion(question.kind, full), in: reply)
                }
            } else {
                answer = NameAnswer(status == 4 ? .noSuchName : .noData)
            }
        case 6: answer = NameAnswer(.failed(.refused))  // ARES_EREFUSED
        case 8: answer = NameAnswer(.failed(.malformed))  // ARES_EBADNAME
        case 10: answer = NameAnswer(.failed(.malformed))  // ARES_EBADRESP
        // c-ares skips servers that answer SERVFAIL, NOTIMP or REFUSED, and does not return which one it was.
        case 11: answer = NameAnswer(.failed(.noUsableAnswer))  // ARES_ECONNREFUSED
        case 12: answer = NameAnswer(.failed(.timeout))  // ARES_ETIMEOUT
        default: answer = NameAnswer(.failed(.serverFailure))
        }
        if case .failed = answer.outcome { counters.failures += 1 }
        for waiting in open.removeValue(forKey: question) ?? [] { waiting(answer) }
    }

    // MARK: Names without DNS

    /// Addresses of `localhost` (RFC 6761 6.3) and of names in the hosts file; nil for other names, which need DNS.
    private func local(_ question: NameQuestion) -> NameAnswer? {
        guard question.kind == .a || question.kind == .aaaa else { return nil }
        let minute = TimeSpan.seconds(60)
        if question.name == "localhost" || question.name.hasSuffix(".localhost") {
            return NameAnswer(.records([.address(question.kind == .a ? "127.0.0.1" : "::1")]), timeToLive: minute)
        }
        guard let names = hosts?.addresses(of: question.name) else { return nil }
        let list = names.filter { ($0.utf8.contains(UInt8(ascii: ":"))) == (question.kind == .aaaa) }
        return NameAnswer(list.isEmpty ? .noData : .records(list.map { .address($0) }), timeToLive: minute)
    }

    // MARK: sockets

    /// Waits for a reply, a timeout of c-ares or the bell, and processes the replies.
    func wait(for bell: Int32) {
        guard let channel else { return }
        let limit = 16  // ARES_GETSOCK_MAXNUM
        var sockets = [ares_socket_t](repeating: 0, count: limit)
        let bits = ares_getsock(channel, &sockets, Int32(limit))
        var polled = [pollfd(fd: bell, events: Int16(POLLIN), revents: 0)]
        for place in 0..<limit {
            let reads = isthmus_ares_readable(bits, Int32(place)) != 0
            let writes = isthmus_ares_writable(bits, Int32(place)) != 0
            guard reads || writes else { continue }
            polled.append(pollfd(fd: sockets[place], events: Int16((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), revents: 0))
        }
        var milliseconds: Int32 = -1
        var span = timeval()
        if !open.isEmpty, let next = ares_timeout(channel, nil, &span) {
            milliseconds = Int32(clamping: next.pointee.tv_sec * 1_000 + (Int(next.pointee.tv_usec) + 999) / 1_000)
        }
        let count = poll(&polled, nfds_t(polled.count), milliseconds)
        let none = isthmus_ares_no_socket()
        guard count > 0 else { return ares_process_fd(channel, none, none) }
        if polled[0].revents != 0 {
            var rung: UInt64 = 0
            _ = read(bell, &rung, 8)
        }
        for socket in polled.dropFirst() where socket.revents != 0 {
            let errors = Int16(POLLERR | POLLHUP | POLLNVAL)
            ares_process_fd(
                channel, socket.revents & (Int16(POLLIN) | errors) != 0 ? socket.fd : none,
                socket.revents & Int16(POLLOUT) != 0 ? socket.fd : none)
        }
        // Process timeouts also while replies keep arriving.
        ares_process_fd(channel, none, none)
    }

    /// Closes the channel; open questions fail.
    func destroy() {
        if let channel { ares_destroy(channel) }
        channel = nil
    }
}
