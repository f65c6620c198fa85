import ArgumentParser
import GatewayService
import NIOCore
import PresenceDocuments
import SIPCore
import SIPTransport
import XMLCore

struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publish a presence document of a user, once or until stopped.",
        discussion: """
            A PIDF document goes as PUBLISH (RFC 3903); a category publication of MS-PRES (root element `publish`) as SERVICE.
            Prints the entity-tag and lifetime, or the answer's document. It stays published until its lifetime ends; with --keep it is
            refreshed, and published again when the server forgot it, until Ctrl-C removes it.

            EXAMPLES
              isthmus publish sip:alice@example.org --via tcp:127.0.0.1:5060 presence.xml
              isthmus publish sip:alice@example.org --via tcp:127.0.0.1:5060 \\
                --keep presence.xml
              isthmus publish sip:alice@example.org --via udp:127.0.0.1:5060 \\
                --if-match a1b2 --expires 0
              isthmus publish sip:bob@contoso.com --via tcp:127.0.0.1:5060 busy.xml
              isthmus publish sip:bob@contoso.com --via tcp:127.0.0.1:5060 \\
                --password-file bob.password busy.xml
            """)

    @OptionGroup var peer: PeerOptions
    @Argument(help: "A document, or - for standard input; none with --if-match, to refresh or remove.")
    var file: String?
    @Option(help: ArgumentHelp("The lifetime to ask for; 0 removes the publication of --if-match.", valueName: "seconds"))
    var expires = 3_600
    @Option(help: ArgumentHelp("The entity-tag of the publication to refresh, replace or remove.", valueName: "tag"))
    var ifMatch: String?
    @Flag(help: "Keep a PIDF document published until stopped, and then remove it.")
    var keep = false

    func validate() throws {
        guard (0...604_800).contains(expires) else { throw ValidationError("--expires must be from 0 to 604800 seconds") }
        if file == nil, ifMatch == nil { throw ValidationError("give a FILE, or --if-match to refresh or remove a publication") }
        if keep, file == nil || ifMatch != nil || expires == 0 {
            throw ValidationError("--keep needs a FILE, and neither --if-match nor --expires 0")
        }
        if expires == 0, ifMatch == nil { throw ValidationError("--expires 0 needs --if-match") }
    }

    func run() async throws {
        let body = try file.map { try CommandInput.read($0) } ?? []
        let isService = try !body.isEmpty && Self.isCategoryPublication(body, file: file ?? "-")
        if keep {
            guard !isService else {
                throw CommandFailure(.usage, "--keep is for PIDF: category instances last as their expireType says (MS-PRES 2.2.2.5.1)")
            }
            return try await keepPublished(body)
        }
        let (answers, continuation) = AsyncStream.makeStream(of: ClientAnswer.self)
        let signIn = try peer.signIn()
        let server = try await peer.start { via, listeners in
            let endpoint = RequestEndpoint(via: via, listeners: listeners, key: .system()) { continuation.yield($0) }
            endpoint.signIn = signIn
            return endpoint
        }
        let (uri, from, expires, ifMatch) = (peer.uri, peer.from, expires, ifMatch)
        try await server.shards[0].perform { endpoint, now in
            (endpoint as? RequestEndpoint)?.start(isService ? .service : .publish, to: uri, from: from, at: now) { request in
                request.body = body
                if isService {
                    request.headers.set(.contentType, CategoryPublishDocument.mediaType.description)
                } else {
                    request.headers.event = Event("presence")
                    request.headers.expires = UInt32(expires)
                    request.headers.sipIfMatch = ifMatch
                    if !body.isEmpty { request.headers.set(.contentType, DocumentMediaType.pidf.name) }
                }
            }
        }.get()
        var answer: ClientAnswer?
        for await first in answers {
            answer = first
            break
        }
        await server.stop()
        try Self.report(answer ?? .none(reason: "no answer"), uri: uri)
    }

    /// Publishes a PIDF document, refreshes it, and removes it when this process is told to stop.
    private func keepPublished(_ body: [UInt8]) async throws {
        let (events, continuation) = AsyncStream.makeStream(of: PublishEvent.self)
        let (uri, from, expires, signIn) = (peer.uri, peer.from, expires, try peer.signIn())
        let server = try await peer.start { via, listeners in
            let endpoint = PublishEndpoint(
                body, of: uri, by: from, expires: expires, via: via, listeners: listeners, key: .system()
            ) { continuation.yield($0) }
            endpoint.signIn = signIn
            return endpoint
        }
        let shard = server.shards[0]
        try await shard.perform { endpoint, now in (endpoint as? PublishEndpoint)?.start(at: now) }.get()
        let interrupted = shard.whenInterrupted { endpoint, now in (endpoint as? PublishEndpoint)?.stop(at: now) }
        var failure: CommandFailure?
        var wasPublished = false
        loop: for await event in events {
            switch event {
            case .published(let tag, let expires):
                wasPublished = true
                Terminal.complainVerbatim("published etag=\(tag) expires=\(expires)\n")
            case .postponed(let reason, _) where !wasPublished:
                failure = CommandFailure(.unreachable, "\(uri): \(reason)")
                break loop
            case .postponed(let reason, let seconds): Terminal.complain("\(reason); trying again in \(seconds) s")
            case .refused(let reason):
                failure = CommandFailure(.inputRefused, "\(uri): \(reason)")
                break loop
            case .over:
                Terminal.complainVerbatim("removed\n")
                break loop
            }
        }
        interrupted.cancel()
        await server.stop(drain: .milliseconds(500))
        if let failure { throw failure }
    }

    /// Whether a document is a category publication, and not PIDF.
    /// - Throws: `CommandFailure` with the position when the document is neither.
    static func isCategoryPublication(_ body: [UInt8], file: String) throws -> Bool {
        let root: XMLElement
        do {
            let tree = try XMLTree.parse(body)
            root = tree.root
            if root.is(CategoryPublishDocument.rootName) { return true }
            if root.localName == "presence" { return false }
            throw CommandFailure(
                .inputRefused,
                "\(file):\(root.position.line):\(root.position.column): <\(root.localName)> is neither a PIDF document (RFC 3863 4.1.1)"
                    + " nor a category publication (MS-PRES 6.8)")
        } catch let error as XMLError {
            throw CommandFailure(.inputRefused, "\(file):\(error.position.line):\(error.position.column): \(error.message)")
        }
    }

    private static func report(_ answer: ClientAnswer, uri: String) throws {
        switch answer {
        case .none(let reason): throw CommandFailure(.unreachable, "\(uri): \(reason)")
        case .response(let response) where response.status.isSuccess:
            var line = "published"
            if let tag = response.headers.sipETag { line += " etag=\(tag)" }
            if let expires = response.headers.expires { line += " expires=\(expires)" }
            Terminal.complainVerbatim(line + "\n")
            if !response.body.isEmpty { Terminal.write(response.body + [10]) }
        case .response(let response):
            if !response.body.isEmpty { Terminal.write(response.body + [10]) }
            throw CommandFailure(.inputRefused, "\(uri): \(response.refusalText)")
        }
    }
}
