import Foundation
import SIPSecurity
import Testing

/// `curl --digest` and raw sockets against the XCAP server of the program.
extension RealSockets {
    @Suite(.enabled(if: PeerPrograms.areReady(PeerPrograms.curl, PeerPrograms.python))) struct DocumentInteropTests {
        private static let lists = "application/resource-lists+xml"
        private static let element = "application/xcap-el+xml"
        private static let namespace = "urn:ietf:params:xml:ns:resource-lists"

        static func list(_ entries: String...) -> String {
            "<?xml version=\"1.0\"?>\r\n<resource-lists xmlns=\"\(namespace)\">\n <!-- mine --><list name=\"friends\">"
                + entries.map { "<entry uri=\"\($0)\"/>" }.joined() + "</list>\n</resource-lists>\n"
        }

        /// The program with one user, and curl beside it.
        private struct Stage {
            let scratch: ScratchDirectory
            let program: IsthmusProgram
            let port: Int

            /// URI of a document of the user, or of a node in it.
            func uri(_ path: String) -> String { "https://localhost:\(port)/xcap-root/\(path)" }

            var rules: String { uri("org.openmobilealliance.pres-rules/users/sip:mara@example.com/pres-rules") }

            var index: String { uri("resource-lists/users/sip:mara@example.com/index") }

            struct Answer: Equatable {
                var status: Int
                var tag: String?
                var body: [UInt8]
                var headers: String

                var text: String { String(decoding: body, as: UTF8.self) }
            }

            /// Runs curl, by default as the user.
            func curl(_ uri: String, _ arguments: [String] = [], user: String? = "mara:open sesame") async throws -> Answer {
                let name = UUID().uuidString.prefix(8)
                let (head, body) = (scratch.file("\(name).head"), scratch.file("\(name).body"))
                let sign = user.map { ["--digest", "-u", $0] } ?? []
                let process = try ChildProcess(
                    try PeerPrograms.curl.required(package: "curl"),
                    ["-sS", "-g", "--cacert", scratch.file("authority.crt").path, "-D", head.path, "-o", body.path, "--max-time", "20"]
                        + sign + arguments + [uri], in: scratch.url, name: "curl-\(name)")
                guard await process.exit(within: 25) == 0 else { throw PeerError(description: "curl: \(process.errorText)") }
                // With Digest the first response is the challenge.
                let text = try String(contentsOf: head, encoding: .utf8).replacingOccurrences(of: "\r\n", with: "\n")
                let last = text.components(separatedBy: "\n\n").filter { $0.hasPrefix("HTTP/") }.last ?? ""
                let lines = last.split(separator: "\n").map(String.init)
                let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
                let tag = lines.first { $0.lowercased().hasPrefix("etag:") }.map { String($0.dropFirst(6)) }
                return Answer(
                    status: status, tag: tag, body: (try? [UInt8](Data(contentsOf: body))) ?? [], headers: last)
            }

            func put(
                _ uri: String? = nil, _ content: String, type: String = lists, _ arguments: [String] = [],
                user: String? = "mara:open sesame"
            ) async throws -> Answer {
                let file = try scratch.write(content, to: "put-\(UUID().uuidString.prefix(8))")
                return try await curl(
                    uri ?? index, ["-X", "PUT", "--data-binary", "@\(file.path)", "-H", "Content-Type: \(type)"] + arguments, user: user)
            }
        }

        private static func start(
            _ name: String, in existing: ScratchDirectory? = nil, port wanted: Int? = nil, limits: String = "", unruled: String = "block"
        ) async throws -> Stage {
            let scratch = try existing ?? ScratchDirectory("documents-\(name)")
            let port = try wanted ?? Loopback.freePort()
            if existing == nil {
                try await Certificate.make(in: scratch)
                let verifiers = try CredentialVerifiers(user: "mara", realm: "example.com", password: "open sesame")
                let robs = try CredentialVerifiers(user: "rob", realm: "fabrikam.com", password: "open sesame")
                try scratch.write(
                    "users:\n  \"sip:mara@example.com\":\n    verifiers: \"\(verifiers.text)\"\n  \"sip:noa@example.com\": {}\n"
                        + "  \"sip:rob@fabrikam.com\":\n    verifiers: \"\(robs.text)\"\n",
                    to: "users.yaml")
            }
            let program = try await IsthmusProgram(
                in: scratch, store: "{ sqlite: \"\(scratch.file("isthmus.db").path)\" }",
                domains: [
                    "example.com: { side: simple, hosted: true, peers: [ 127.0.0.1 ], unruled: \(unruled) }",
                    "fabrikam.com: { side: enterprise, network: sameEnterprise, hosted: true, peers: [ 127.0.0.1 ] }",
                ],
                settings: [
                    "directory: { file: users.yaml }", "tls: { certificate: server.crt, key: server.key, trust: authority.crt }",
                    "xcap: { listen: [ \"https:127.0.0.1:\(port)\" ], root: \"https://localhost:\(port)/xcap-root\" }", limits,
                ])
            return Stage(scratch: scratch, program: program, port: port)
        }

        /// A server certificate for localhost.
        private enum Certificate {
            static func make(in scratch: ScratchDirectory) async throws {
                try scratch.write(
                    """
                    set -e
                    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority \
                        -keyout authority.key -out authority.crt
                    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -keyout server.key -out server.csr
                    echo subjectAltName=DNS:localhost,IP:127.0.0.1 > server.ext
                    openssl x509 -req -in server.csr -CA authority.crt -CAkey authority.key -CAcreateserial -days 2 \
                        -extfile server.ext -out server.crt
                    """, to: "make.sh")
                let shell = try ChildProcess(
                    URL(fileURLWithPath: "/bin/sh"), ["-c", "cd \"$0\" && sh make.sh", scratch.url.path], in: scratch.url, name: "make")
                guard await shell.exit(within: 30) == 0 else {
                    throw PeerError(description: "openssl makes no certificate: \(shell.errorText)")
                }
            }
        }

        @Test("RFC 4825 8.2.1, 7: PUT answers 201 with an ETag, GET gives the same octets, after kill -9 too, and tags go on")
        func kept() async throws {
            let stage = try await Self.start("kept")
            let created = try await stage.put(nil, Self.list("sip:a@example.com"))
            #expect(created.status == 201 && created.tag != nil && created.body.isEmpty, "\(created) \(stage.program.log)")
            let found = try await stage.curl(stage.index)
            #expect(found.status == 200 && found.text == Self.list("sip:a@example.com") && found.tag == created.tag)
            #expect(found.headers.contains("Cache-Control: private, no-cache") && found.headers.contains("Vary: Authorization"))
            await stage.program.kill()
            let second = try await Self.start("kept", in: stage.scratch, port: stage.port)
            let again = try await second.curl(second.index)
            #expect(again.status == 200 && again.body == found.body && again.tag == created.tag)
            let tag = try #require(created.tag)
            let changed = try await second.put(nil, Self.list("sip:b@example.com"), ["-H", "If-Match: \(tag)"])
            #expect(changed.status == 200 && changed.tag != created.tag)
            #expect(try await second.put(nil, Self.list("sip:c@example.com"), ["-H", "If-Match: \(tag)"]).status == 412)
            #expect(await second.program.stop() == 0)
            stage.scratch.remove()
        }

        @Test("RFC 4825 8.2, 11: each status and 409 reason, and the document stays as it is")
        func refusals() async throws {
            let stage = try await Self.start("refusals")
            let content = Self.list("sip:a@example.com", "sip:b@example.com")
            let created = try await stage.put(nil, content)
            #expect(created.status == 201)
            let node = stage.index + "/~~/resource-lists/list%5B@name=%22friends%22%5D"
            let entry = node + "/entry%5B@uri=%22sip:a@example.com%22%5D"
            /// Content, type, URI, further arguments, status, and the element in a 409 body.
            let cases: [(String?, String, String, [String], Int, String?)] = [
                ("<resource-lists", Self.lists, stage.index, [], 409, "not-well-formed"),
                (Self.list() + "<more/>", Self.lists, stage.index, [], 409, "not-well-formed"),
                (content, "text/xml", stage.index, [], 415, nil),
                (content, Self.lists, stage.index, ["-H", "If-None-Match: *"], 412, nil),
                (content, Self.lists, stage.index, ["-H", "If-Match: \"other\""], 412, nil),
                (content, Self.lists, stage.index + "/more", [], 409, "no-parent"),
                (
                    "<resource-lists xmlns=\"\(Self.namespace)\"><wrong/></resource-lists>", Self.lists, stage.index, [], 409,
                    "schema-validation-error"
                ),
                (
                    "<resource-lists xmlns=\"\(Self.namespace)\"><list name=\"a\"/><list name=\"a\"/></resource-lists>", Self.lists,
                    stage.index, [], 409, "uniqueness-failure"
                ),
                (
                    "<resource-lists xmlns=\"\(Self.namespace)\"><list><external anchor=\"https://elsewhere.example.org/x\"/></list></resource-lists>",
                    Self.lists, stage.index, [], 409, "constraint-failure"
                ),
                ("<a/><b/>", Self.element, entry, [], 409, "not-xml-frag"),
                ("<entry uri=\"sip:x@example.com\"/>", Self.element, entry, [], 409, "cannot-insert"),
                ("<entry uri=\"sip:x@example.com\"/>", Self.element, node + "/list/entry", [], 409, "no-parent"),
                ("a\"b'<", "application/xcap-att+xml", entry + "/@uri", [], 409, "not-xml-att-value"),
                ("\u{FEFF}x", Self.lists + "; charset=utf-16", stage.index, [], 409, "not-utf-8"),
                (String(repeating: "x", count: 300_000), Self.lists, stage.index, [], 413, nil),
                (nil, "", node + "/entry%5B1%5D", ["-X", "DELETE"], 409, "cannot-delete"),
                (nil, "", node + "/entry%5B7%5D", ["-X", "DELETE"], 404, nil),
                (nil, "", stage.index + "/~~/%5B", [], 400, nil),
                (nil, "", stage.index, ["-X", "POST"], 405, nil),
                (nil, "", stage.uri("pres-rules/users/sip:mara@example.com/index"), [], 404, nil),
                (nil, "", stage.uri("no-such-usage/users/sip:mara@example.com/index"), [], 404, nil),
                ("<ruleset/>", "application/auth-policy+xml", stage.rules, [], 409, "schema-validation-error"),
                (nil, "", stage.uri("resource-lists/users/sip:noa@example.com/index"), [], 403, nil),
                (nil, "", stage.uri("resource-lists/users/sip:nobody@example.com/index"), [], 403, nil),
                (nil, "", stage.index, ["-H", "X-3GPP-Intended-Identity: \"sip:mara@example.com\""], 403, nil),
                (nil, "", stage.index, ["-H", "X-XCAP-Asserted-Identity: \"sip:noa@example.com\""], 403, nil),
                (nil, "", stage.uri("resource-lists/users/sip:mara@example.com/" + String(repeating: "x", count: 9_000)), [], 414, nil),
            ]
            for (content, type, uri, arguments, status, element) in cases {
                let answer =
                    if let content { try await stage.put(uri, content, type: type, arguments) } else {
                        try await stage.curl(uri, arguments)
                    }
                #expect(answer.status == status, "\(uri) \(answer.headers)")
                if let element {
                    #expect(answer.headers.contains("application/xcap-error+xml") && answer.text.contains("<\(element)"), "\(answer.text)")
                }
            }
            for user in [nil, "mara:wrong", "nobody:open sesame"] {
                let answer = try await stage.put(nil, Self.list(), user: user)
                #expect(answer.status == 401 && answer.headers.contains("WWW-Authenticate: Digest realm=\"example.com\""))
            }
            let kept = try await stage.curl(stage.index)
            #expect(kept.status == 200 && kept.text == content && kept.tag == created.tag)
            let tag = try #require(created.tag)
            #expect(try await stage.curl(stage.index, ["-H", "If-None-Match: \(tag)"]).status == 304)
            let head = try await stage.curl(stage.index, ["-I"])
            #expect(
                head.status == 200 && !head.text.contains("<resource-lists")
                    && head.headers.contains("Content-Length: \(content.utf8.count)"))
            let part = try await stage.curl(entry)
            #expect(part.status == 200 && part.text == "<entry uri=\"sip:a@example.com\"/>")
            #expect(try await stage.curl(entry, ["-X", "DELETE"]).status == 200)
            #expect(try await stage.curl(stage.index).text == Self.list("sip:b@example.com"))
            #expect(await stage.program.stop() == 0)
            stage.scratch.remove()
        }

        @Test("kill -9 between changes leaves the last answered document, or the one that was being stored")
        func killed() async throws {
            var stage = try await Self.start("killed", limits: "limits: { document-requests-per-second: 1000 }")
            var last = ""
            for round in 0..<4 {
                for number in 0..<(3 + round) {
                    let content = Self.list("sip:r\(round)n\(number)@example.com")
                    let answer = try await stage.put(nil, content)
                    #expect([200, 201].contains(answer.status))
                    last = content
                }
                let next = Self.list("sip:r\(round)last@example.com")
                let (present, file) = (stage, try stage.scratch.write(next, to: "next"))
                let unanswered = try ChildProcess(
                    try PeerPrograms.curl.required(package: "curl"),
                    [
                        "-sS", "--cacert", present.scratch.file("authority.crt").path, "--digest", "-u", "mara:open sesame", "-X", "PUT",
                        "--data-binary", "@\(file.path)", "-H", "Content-Type: \(Self.lists)", present.index,
                    ], in: present.scratch.url, name: "unanswered-\(round)")
                await present.program.kill()
                _ = await unanswered.exit(within: 20)
                stage = try await Self.start(
                    "killed", in: stage.scratch, port: stage.port, limits: "limits: { document-requests-per-second: 1000 }")
                let found = try await stage.curl(stage.index).text
                #expect([last, next].contains(found))
                last = found
            }
            #expect(await stage.program.stop() == 0)
            stage.scratch.remove()
        }

        @Test("RFC 5025 3.2.1: rules put with curl end and admit a live subscription, and decide after kill -9 too")
        func rules() async throws {
            let stage = try await Self.start("rules")
            let policy = "application/auth-policy+xml"
            func ruleset(_ handling: String) -> String {
                let grants =
                    "<transformations><p:provide-services><p:all-services/></p:provide-services><p:provide-all-attributes/></transformations>"
                return """
                    <ruleset xmlns="urn:ietf:params:xml:ns:common-policy" xmlns:p="urn:ietf:params:xml:ns:pres-rules"><rule id="bob">
                    <conditions><identity><one id="sip:bob@example.com"/></identity></conditions>
                    <actions><p:sub-handling>\(handling)</p:sub-handling></actions>\(handling == "allow" ? grants : "")</rule></ruleset>
                    """
            }
            func watch(_ stage: Stage, _ more: String...) throws -> ChildProcess {
                try ChildProcess(
                    PeerPrograms.isthmus,
                    [
                        "watch", "sip:mara@example.com", "--via", "tcp:127.0.0.1:\(stage.program.port)", "--as", "sip:bob@example.com",
                    ] + more, in: stage.scratch.url, name: "watch-\(UUID().uuidString.prefix(8))")
            }
            // The domain blocks watchers that no rule names.
            #expect(await (try watch(stage, "--once")).exit(within: 20) == 1)
            #expect(try await stage.put(stage.rules, ruleset("allow"), type: policy).status == 201)
            let live = try watch(stage)
            #expect(await eventually(within: 20) { live.outputText.contains("<presence") || !live.isRunning }, "\(live.errorText)")
            #expect(try await stage.put(stage.rules, ruleset("block"), type: policy).status == 200)
            #expect(await live.exit(within: 20) != nil, "the subscription goes on: \(live.outputText)")
            #expect((live.outputText + live.errorText).contains("rejected"), "\(live.outputText) \(live.errorText)")
            await stage.program.kill()
            let second = try await Self.start("rules", in: stage.scratch, port: stage.port)
            #expect(await (try watch(second, "--once")).exit(within: 20) == 1)
            let sub = second.rules + "/~~/ruleset/rule%5B@id=%22bob%22%5D/actions/p:sub-handling?xmlns(p=urn:ietf:params:xml:ns:pres-rules)"
            let element = "<p:sub-handling xmlns:p=\"urn:ietf:params:xml:ns:pres-rules\">polite-block</p:sub-handling>"
            #expect(try await second.put(sub, element, type: Self.element).status == 200)
            let polite = try watch(second, "--once")
            #expect(await polite.exit(within: 20) == 0 && polite.outputText.contains("<presence"), "\(polite.errorText)")
            #expect(await second.program.stop() == 0)
            stage.scratch.remove()
        }

        @Test(
            "PKT-SP-PRS appendix I: SIPp learns of a pending watcher, curl allows it, and SIPp learns of the approval",
            .enabled(if: PeerPrograms.areReady(PeerPrograms.sipp)))
        func reactiveAuthorization() async throws {
            let stage = try await Self.start("reactive", unruled: "confirm")
            let owner = try SIPp(
                "winfo-owner", name: "owner", to: stage.program.port, transport: "tcp", keys: ["presentity": "sip:mara@example.com"],
                in: stage.scratch)
            #expect(await owner.answersFirstNotify(), "\(owner.account)")
            let watcher = try ChildProcess(
                PeerPrograms.isthmus,
                ["watch", "sip:mara@example.com", "--via", "tcp:127.0.0.1:\(stage.program.port)", "--as", "sip:bob@example.com"],
                in: stage.scratch.url, name: "watcher")
            #expect(await owner.reaches("pending"), "\(owner.account)\n\(stage.program.log)")
            let rule = """
                <ruleset xmlns="urn:ietf:params:xml:ns:common-policy" xmlns:p="urn:ietf:params:xml:ns:pres-rules"><rule id="bob">
                <conditions><identity><one id="sip:bob@example.com"/></identity></conditions><actions><p:sub-handling>allow</p:sub-handling>
                </actions></rule></ruleset>
                """
            #expect(try await stage.put(stage.rules, rule, type: "application/auth-policy+xml").status == 201)
            #expect(await owner.reaches("approved"), "\(owner.account)\n\(stage.program.log)")
            #expect(await owner.succeeds())
            #expect(owner.bodies.allSatisfy { $0.contains("<watcher-list resource=\"sip:mara@example.com\" package=\"presence\"") })
            #expect(await eventually(within: 20) { watcher.outputText.contains("<presence") }, "\(watcher.errorText)")
            await watcher.stop(signal: SIGTERM)
            #expect(await stage.program.stop() == 0)
            stage.scratch.remove()
        }

        @Test(
            "RFC 4826 4, RFC 5264: SIPp watches a list service that curl keeps and changes; a member publishes differences",
            .enabled(if: PeerPrograms.areReady(PeerPrograms.sipp)))
        func listService() async throws {
            let stage = try await Self.start("service", unruled: "allow")
            let content = """
                <rls-services xmlns="urn:ietf:params:xml:ns:rls-services"><service uri="sip:mara-friends@example.com"><resource-list>
                \(stage.index)/~~/resource-lists/list%5b@name=%22friends%22%5d</resource-list></service></rls-services>
                """
            #expect(try await stage.put(nil, Self.list("sip:noa@example.com")).status == 201)
            let service = stage.uri("rls-services/users/sip:mara@example.com/index")
            #expect(try await stage.put(service, content, type: "application/rls-services+xml").status == 201)
            let publisher = SIPpPublisher(
                presentity: "sip:noa@example.com", port: stage.program.port, transport: "tcp", scratch: stage.scratch)
            let namespaces =
                "xmlns=\"urn:ietf:params:xml:ns:pidf\" xmlns:p=\"urn:ietf:params:xml:ns:pidf-diff\" entity=\"sip:noa@example.com\""
            let type = "application/pidf-diff+xml"
            try await publisher.publish(
                "<p:pidf-full \(namespaces)><tuple id=\"t\"><status><basic>open</basic></status><note>at home</note></tuple></p:pidf-full>",
                type: type)

            let watcher = try SIPp(
                "pidf-follower", name: "watcher", to: stage.program.port, transport: "tcp",
                keys: [
                    "presentity": "sip:mara-friends@example.com", "watcher": "sip:mara@example.com",
                    "accept": "multipart/related, application/rlmi+xml, application/pidf+xml",
                ], limit: 120, in: stage.scratch)
            func account() -> String { "\(watcher.account)\n\(stage.program.log.suffix(6000))" }
            #expect(await eventually(within: 20) { watcher.bodies.contains { $0.contains("at home") } }, "\(account())")
            try await publisher.publish(
                "<p:pidf-diff \(namespaces)><p:replace sel=\"presence/tuple/note/text()\">on the train</p:replace></p:pidf-diff>",
                type: type)
            #expect(await eventually(within: 20) { watcher.bodies.contains { $0.contains("on the train") } }, "\(account())")
            #expect(try await stage.put(nil, Self.list("sip:mara@example.com")).status == 200)
            #expect(
                await eventually(within: 20) {
                    watcher.bodies.contains { $0.contains("reason=\"noresource\"") && $0.contains("sip:mara@example.com") }
                }, "\(account())")
            #expect(try await stage.curl(service, ["-X", "DELETE"]).status == 200)
            #expect(
                await eventually(within: 20) { watcher.messages.contains("Subscription-State: terminated;reason=noresource") },
                "\(account())")
            await watcher.stop()
            #expect(await stage.program.stop() == 0)
            stage.scratch.remove()
        }

        @Test("the containers of an enterprise user are rules that curl reads and changes, and survive kill -9; others are 409 extension")
        func containers() async throws {
            let stage = try await Self.start("containers")
            let (rob, policy) = ("rob:open sesame", "application/auth-policy+xml")
            func rules(_ stage: Stage) -> String { stage.uri("pres-rules/users/sip:rob@fabrikam.com/index") }
            func ruleset(_ condition: String) -> String {
                """
                <ruleset xmlns="urn:ietf:params:xml:ns:common-policy" xmlns:p="urn:ietf:params:xml:ns:pres-rules"><rule id="bob">
                <conditions><identity><one id="sip:bob@example.com"/></identity>\(condition)</conditions>
                <actions><p:sub-handling>polite-block</p:sub-handling></actions></rule></ruleset>
                """
            }
            #expect(try await stage.curl(rules(stage), user: rob).status == 404)
            let refused = try await stage.put(rules(stage), ruleset("<sphere value=\"work\"/>"), type: policy, user: rob)
            #expect(refused.status == 409 && refused.text.contains("<extension") && refused.text.contains("sphere"), "\(refused)")
            let created = try await stage.put(rules(stage), ruleset(""), type: policy, user: rob)
            #expect(created.status == 201, "\(created) \(stage.program.log.suffix(4_000))")
            let shown = try await stage.curl(rules(stage), user: rob)
            #expect(shown.tag == created.tag && shown.text.contains("isthmus-blocked") && shown.text.contains("sip:bob@example.com"))
            await stage.program.kill()
            let second = try await Self.start("containers", in: stage.scratch, port: stage.port)
            #expect(try await second.curl(rules(second), user: rob) == shown)
            #expect(try await second.curl(rules(second), ["-X", "DELETE"], user: rob).status == 200)
            #expect(try await second.curl(rules(second), user: rob).status == 404)
            #expect(await second.program.stop() == 0)
            stage.scratch.remove()
        }

        @Test("a client that reads no responses, trailers beyond the limit and contradictory lengths cost a bounded memory and end")
        func hostileClients() async throws {
            let stage = try await Self.start("hostile", limits: "limits: { http-connections-per-address: 30 }")
            #expect(try await stage.put(nil, Self.list("sip:a@example.com")).status == 201)
            let script = """
                import socket, ssl, sys, time
                port = int(sys.argv[1])
                context = ssl._create_unverified_context()
                def connect():
                    s = context.wrap_socket(socket.create_connection(("127.0.0.1", port), 5))
                    s.settimeout(2)
                    return s
                path = b"/xcap-root/resource-lists/users/sip:mara@example.com/index"
                get = b"GET " + path + b" HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"
                def answer(octets):
                    s = connect()
                    try:
                        s.sendall(octets)
                        got = b""
                        while True:
                            part = s.recv(65536)
                            if not part: break
                            got += part
                    except OSError: pass
                    finally: s.close()
                    return got.split(b"\\r\\n")[0].decode(), got.count(b"HTTP/1.1 ")
                # Both lengths: a second request must not be seen by one reader and not by the other (RFC 7230 3.3.3).
                print(answer(b"PUT " + path + b" HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n" + get))
                chunk = b"PUT " + path + b" HTTP/1.1\\r\\nHost: x\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n1\\r\\nx\\r\\n0\\r\\n"
                print(answer(chunk + b"".join(b"X-%d: " % n + b"y" * 1000 + b"\\r\\n" for n in range(200)) + b"\\r\\n"))
                sent = 0
                silent = []
                for _ in range(8):
                    s = connect()
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                    silent.append(s)
                for s in silent:
                    s.settimeout(1)
                    try:
                        for _ in range(2000): s.sendall(get * 50); sent += 50
                    except OSError: pass
                print("standing", sent, flush=True)
                time.sleep(60)
                """
            let file = try stage.scratch.write(script, to: "hostile.py")
            let before = try Self.residentOctets(of: stage.program.processID)
            let python = try ChildProcess(
                try PeerPrograms.python.required(package: "python3"), [file.path, String(stage.port)], in: stage.scratch.url,
                name: "hostile"
            )
            #expect(await eventually(within: 60) { python.outputText.contains("standing") || !python.isRunning })
            let lines = python.outputText.split(separator: "\n").map(String.init)
            #expect(lines.first == "('HTTP/1.1 400 Bad Request', 1)", "\(lines) \(python.errorText)")
            #expect(lines.dropFirst().first?.contains("HTTP/1.1 4") == true, "\(lines)")
            #expect(try Self.residentOctets(of: stage.program.processID) - before < 32 << 20, "\(lines)")
            #expect(try await stage.curl(stage.index).text == Self.list("sip:a@example.com"))
            #expect(await stage.program.stop() == 0)
            await python.stop(signal: SIGKILL)
            stage.scratch.remove()
        }

        /// Resident memory of a process, in octets.
        private static func residentOctets(of process: pid_t) throws -> Int {
            let text = try String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)
            return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4_096
        }

        @Test("slow, oversized and pipelined requests and a flood of connections do not hinder another client")
        func slowClients() async throws {
            let stage = try await Self.start("slow", limits: "limits: { http-connections-per-address: 30 }")
            #expect(try await stage.put(nil, Self.list("sip:a@example.com")).status == 201)
            // Ten clients that send a content octet by octet, five with endless header fields, a pipelined flood, and many more connections.
            let script = """
                import socket, ssl, time, sys
                port = int(sys.argv[1])
                context = ssl._create_unverified_context()
                def connect():
                    return context.wrap_socket(socket.create_connection(("127.0.0.1", port), 5))
                path = b"/xcap-root/resource-lists/users/sip:mara@example.com/index"
                slow = [connect() for _ in range(10)]
                for s in slow: s.sendall(b"PUT " + path + b" HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 1000\\r\\n\\r\\nx")
                large = connect()
                large.sendall(b"GET " + path + b" HTTP/1.1\\r\\nHost: x\\r\\n")
                first = b""
                try:
                    for n in range(60): large.sendall(b"X-%d: " % n + b"y" * 1000 + b"\\r\\n"); time.sleep(0.001)
                except OSError: pass
                try: first = large.recv(100)
                except OSError: pass
                print(first.split(b"\\r\\n")[0].decode())
                flood = connect()
                flood.sendall((b"GET " + path + b" HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n") * 200)
                answers = b""
                flood.settimeout(10)
                while answers.count(b"HTTP/1.1 401") < 200:
                    part = flood.recv(65536)
                    if not part: break
                    answers += part
                print(answers.count(b"HTTP/1.1 401"))
                more = []
                refused = 0
                for _ in range(40):
                    try: more.append(connect())
                    except OSError: refused += 1
                print("refused" if refused >= 20 else refused)
                for s in more[4:]: s.close()
                for s in more[:4]: s.close()
                sys.stdout.flush()
                print("standing", flush=True)
                time.sleep(60)
                """
            let file = try stage.scratch.write(script, to: "slow.py")
            let python = try ChildProcess(
                try PeerPrograms.python.required(package: "python3"), [file.path, String(stage.port)], in: stage.scratch.url, name: "slow")
            #expect(await eventually(within: 30) { python.outputText.contains("standing") || !python.isRunning })
            let lines = python.outputText.split(separator: "\n").map(String.init)
            #expect(
                lines.first == "HTTP/1.1 431 Request Header Fields Too Large" && lines.dropFirst().prefix(2) == ["200", "refused"],
                "\(lines) \(python.errorText)")
            #expect(try await stage.curl(stage.index).text == Self.list("sip:a@example.com"))
            #expect(await stage.program.stop() == 0)
            await python.stop(signal: SIGKILL)
            stage.scratch.remove()
        }
    }
}
