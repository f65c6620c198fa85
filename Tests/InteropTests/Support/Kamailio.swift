import Foundation

/// Kamailio as the SIMPLE presence server of example.org on one port for UDP and TCP: in memory and open to every watcher, or with a
/// database, presence rules and resource lists.
final class Kamailio: Sendable {
    let port: Int
    /// Where it listens for TLS.
    let securePort: Int
    private let process: ChildProcess

    /// - Parameters:
    ///   - port: where it is to listen; nil: where it is free.
    ///   - certificate: the file in PEM form with which it speaks TLS, beside its key, and the roots that it trusts; nil: it speaks none.
    ///   - challenge: how it asks for credentials of SUBSCRIBEs; any user with the password `secret` will do. nil: it does not.
    ///   - database: with presence rules and lists, which live there; nil: without, in memory.
    init(
        in scratch: ScratchDirectory, transport: String, port wanted: Int? = nil, certificate: (own: URL, roots: URL)? = nil,
        challenge: Challenge? = nil, database: PostgreSQL? = nil
    ) async throws {
        let program = try PeerPrograms.kamailio.required(package: "kamailio")
        port = try wanted ?? Loopback.freePort()
        securePort = try Loopback.freePort()
        let tables = scratch.file("tables-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: tables, withIntermediateDirectories: true)
        for table in ["version", "presentity", "active_watchers", "watchers", "xcap"] {
            try FileManager.default.copyItem(
                at: URL(fileURLWithPath: "/usr/share/kamailio/dbtext/kamailio/\(table)"), to: tables.appendingPathComponent(table))
        }
        let template = database == nil ? "kamailio/kamailio.cfg" : "kamailio/kamailio-lists.cfg"
        var text = try String(contentsOf: PeerPrograms.files.appendingPathComponent(template), encoding: .utf8)
        for (name, value) in [
            ("PORT", "\(port)"), ("MODULES", try Self.modules()), ("TABLES", tables.path), ("TRANSPORT", transport),
            ("DATABASE", database?.url ?? ""), ("TLSPORT", "\(securePort)"), ("TLSFILE", scratch.file("tls.cfg").path),
            ("ALGORITHM", challenge?.algorithm ?? "MD5"), ("CONTACT", "\(transport == "tls" ? securePort : port)"),
        ] {
            text = text.replacingOccurrences(of: "@\(name)@", with: value)
        }
        let configuration = try scratch.write(text, to: "kamailio.cfg")
        if let certificate { _ = try scratch.write(Self.secure(certificate.own, certificate.roots), to: "tls.cfg") }
        process = try ChildProcess(
            program,
            [
                "-DD", "-E", "-f", configuration.path, "-P", scratch.file("kamailio.pid").path, "-Y", scratch.url.path, "-w",
                scratch.url.path, "-m", "64", "-M", "8",
            ] + (certificate == nil ? [] : ["-A", "WITH_TLS"]) + (challenge?.defines ?? []), in: scratch.url, name: "kamailio")
        try await waitUntilReady()
    }

    /// How SUBSCRIBEs are challenged.
    struct Challenge: Sendable {
        /// 401 or 407.
        var status: Int
        /// `MD5` or `SHA-256`.
        var algorithm: String

        fileprivate var defines: [String] { ["-A", "WITH_AUTH"] + (status == 407 ? ["-A", "WITH_PROXY_AUTH"] : []) }
    }

    /// Both ends of every connection need a certificate of these roots.
    private static func secure(_ own: URL, _ roots: URL) -> String {
        ["server", "client"].map { side in
            """
            [\(side):default]
            method = TLSv1.2+
            verify_certificate = yes
            require_certificate = yes
            certificate = \(own.path)
            private_key = \(own.deletingPathExtension().appendingPathExtension("key").path)
            ca_list = \(roots.path)

            """
        }.joined()
    }

    private static func modules() throws -> String {
        let roots = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]
        for root in roots where FileManager.default.fileExists(atPath: "\(root)/kamailio/modules/presence.so") {
            return "\(root)/kamailio/modules/"
        }
        throw PeerError(description: "the Debian package kamailio-presence-modules is not installed")
    }

    /// It answers OPTIONS once its workers are up.
    private func waitUntilReady() async throws {
        let socket = try LoopbackSocket(.datagram, port: 0)
        let request =
            "OPTIONS sip:127.0.0.1:\(port) SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:\(socket.port);branch=z9hG4bKready\(socket.port)\r\n"
            + "Max-Forwards: 70\r\nFrom: <sip:probe@example.com>;tag=1\r\nTo: <sip:probe@example.org>\r\n"
            + "Call-ID: ready-\(socket.port)\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n"
        for _ in 0..<100 where process.isRunning {
            socket.send(Array(request.utf8), to: port)
            if socket.receive(atMost: 100) != nil { return }
        }
        throw PeerError(description: "kamailio did not answer: \(process.errorText.suffix(2000))")
    }

    /// The tables of presence, rules and lists, made by Kamailio's own scripts.
    static func makeTables(in database: PostgreSQL) async throws {
        for name in ["standard", "presence", "rls"] {
            try await database.run(URL(fileURLWithPath: "/usr/share/kamailio/postgres/\(name)-create.sql"))
        }
    }

    /// Puts a document of a user by XCAP (RFC 4825 7.4).
    func put(_ document: String, _ usage: String, of user: String, type: String) throws {
        let socket = try LoopbackSocket(.stream, port: port)
        let request =
            "PUT /xcap-root/\(usage)/users/\(user)/index HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Type: \(type)\r\n"
            + "Content-Length: \(document.utf8.count)\r\n\r\n" + document
        socket.send(Array(request.utf8))
        let answer = socket.receive(until: "\r\n\r\n")
        guard answer.hasPrefix("HTTP/1.1 200") || answer.hasPrefix("HTTP/1.1 201") else {
            throw PeerError(description: "PUT of \(usage): \(answer)\n\(process.errorText.suffix(1000))")
        }
    }

    /// What the user lets watchers see (RFC 5025): `allow`, `polite-block`, `block` or `confirm`.
    func setRule(_ handling: String, for watcher: String, of user: String) throws {
        let rules = """
            <?xml version="1.0" encoding="UTF-8"?>
            <cr:ruleset xmlns="urn:ietf:params:xml:ns:pres-rules" xmlns:pr="urn:ietf:params:xml:ns:pres-rules"
                xmlns:cr="urn:ietf:params:xml:ns:common-policy">
              <cr:rule id="r1">
                <cr:conditions><cr:identity><cr:one id="\(watcher)"/></cr:identity></cr:conditions>
                <cr:actions><pr:sub-handling>\(handling)</pr:sub-handling></cr:actions>
                <cr:transformations>
                  <pr:provide-services><pr:all-services/></pr:provide-services>
                  <pr:provide-persons><pr:all-persons/></pr:provide-persons>
                  <pr:provide-all-attributes/>
                </cr:transformations>
              </cr:rule>
            </cr:ruleset>
            """
        try put(rules, "pres-rules", of: user, type: "application/auth-policy+xml")
    }

    /// The list that the service keeps for a watcher (RFC 4826 4).
    func setList(_ uri: String, of watcher: String, members: [String]) throws {
        let entries = members.map { "<rl:entry uri=\"\($0)\"/>" }.joined()
        let services = """
            <?xml version="1.0" encoding="UTF-8"?>
            <rls-services xmlns="urn:ietf:params:xml:ns:rls-services" xmlns:rl="urn:ietf:params:xml:ns:resource-lists">
              <service uri="\(uri)"><list name="contacts">\(entries)</list><packages><package>presence</package></packages></service>
            </rls-services>
            """
        try put(services, "rls-services", of: watcher, type: "application/rls-services+xml")
    }

    func stop() async { await process.stop() }

    /// SIGKILL to all its processes: connections end, and what it knew is gone.
    func kill() async {
        process.sendToAll(signal: SIGKILL)
        await process.stop(signal: SIGKILL)
    }

    /// All its processes stand still: connections are accepted, and nothing is answered.
    func pause() { process.sendToAll(signal: SIGSTOP) }
    func resume() { process.sendToAll(signal: SIGCONT) }
}
