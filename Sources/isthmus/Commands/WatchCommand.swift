import ArgumentParser
import GatewayService
import NIOCore
import PresenceDocuments
import PresenceMapping
import SIPCore
import SIPEvents
import SIPTransport

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Subscribe to the presence of a user and print each notification.",
        discussion: """
            Documents go to standard output; to standard error one line about each notification, and one that says in words what it shows:
            the time (UTC), the presentity, open or closed, activities and note.
            Ctrl-C ends the subscription. Exit code 1 when the other side refuses, 3 when it cannot be reached; a subscription that
            was answered once is asked for anew when it is lost.

            EXAMPLES
              isthmus watch sip:alice@example.org --via tcp:127.0.0.1:5060
              isthmus watch sip:alice@example.org --via udp:127.0.0.1:5060 \\
                --as sip:bob@contoso.com --format categories --once
              isthmus watch sip:alice@contoso.com --via tcp:127.0.0.1:5060 \\
                --as sip:bob@contoso.com --password-file bob.password
              isthmus watch sip:alice@contoso.com --via tls:sip.contoso.com:5061 \\
                --as sip:bob@example.org --config isthmus.yaml
            """)

    @OptionGroup var peer: PeerOptions
    @Option(help: "The form to ask for: \(WatchFormat.allCases.map(\.rawValue).joined(separator: ", ")).")
    var format = WatchFormat.pidf
    @Flag(inversion: .prefixedNo, help: "Indent documents for people; on a terminal unless told otherwise.")
    var pretty: Bool?
    @Flag(help: "Fetch the state once (Expires 0) and end.")
    var once = false
    @Option(help: ArgumentHelp("The lifetime to ask for; it is refreshed until the end.", valueName: "seconds"))
    var expires = 3_600

    func validate() throws {
        guard (1...604_800).contains(expires) else { throw ValidationError("--expires must be from 1 to 604800 seconds") }
    }

    func run() async throws {
        let (events, continuation) = AsyncStream.makeStream(of: WatchEvent.self)
        let (uri, from, format, seconds) = (peer.uri, peer.from, format, once ? 0 : expires)
        let signIn = try peer.signIn()
        let server = try await peer.start { via, listeners in
            let endpoint = WatchEndpoint(
                presentity: uri, watcher: from, format: format, expires: seconds, via: via, listeners: listeners,
                key: .system()
            ) { continuation.yield($0) }
            endpoint.signIn = signIn
            return endpoint
        }
        let shard = server.shards[0]
        try await shard.perform { endpoint, now in (endpoint as? WatchEndpoint)?.start(at: now) }.get()
        let interrupted = shard.whenInterrupted { endpoint, now in (endpoint as? WatchEndpoint)?.stop(at: now) }
        let converter = Converter()
        var failure: CommandFailure?
        loop: for await event in events {
            switch event {
            case .notification(let notification): print(notification, converter)
            case .lost(let reason, let seconds): Terminal.complain("\(reason); trying again in \(seconds) s")
            case .ended(let cause, let reason):
                if let cause { failure = CommandFailure(cause == .silent ? .unreachable : .inputRefused, "\(uri): \(reason)") }
                break loop
            }
        }
        interrupted.cancel()
        await server.stop(drain: .milliseconds(500))
        if let failure { throw failure }
    }

    private func print(_ notification: WatchNotification, _ converter: Converter) {
        let types = notification.documents.map { "\($0.type), \($0.body.count) bytes" }.joined(separator: "; ")
        Terminal.complainVerbatim("-- \(notification.state): \(types.isEmpty ? "no document" : types)\n")
        for document in notification.documents {
            if let line = PresenceLine(document.body, type: document.type, at: .wallClock(), converter) {
                Terminal.complainVerbatim("\(line.text)\n")
            }
            Terminal.write(document: document.body, isPretty: pretty)
        }
    }
}
