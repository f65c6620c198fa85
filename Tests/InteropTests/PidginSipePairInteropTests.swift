import Foundation
import SIPSecurity
import Testing

extension RealSockets {
    /// Two real clients of one home server with only the gateway between them; they sign in with NTLM.
    @Suite struct PidginSipePairInteropTests {
        @Test("two pidgin-sipe clients with NTLM: each sees the other come, change, block and go; a wrong password stays out")
        func twoFinchesSeeEachOther() async throws {
            let scratch = try ScratchDirectory("finches")
            let (alicesURI, bobsURI) = ("sip:alice@contoso.com", "sip:bob@contoso.com")
            let users = try scratch.write("users: {}\n", to: "users.yaml")
            try await IsthmusProgram.addUser(alicesURI, password: "wonder-land", to: users, in: scratch)
            try await IsthmusProgram.addUser(bobsURI, password: "builder:1", to: users, in: scratch)
            let gateway = try await IsthmusProgram(
                in: scratch, domains: ["contoso.com: { side: enterprise, hosted: true, network: sameEnterprise }"],
                authentication: "ntlm", settings: ["directory: { file: \"\(users.path)\" }"])

            let stranger = try await Finch(
                user: "bob@contoso.com", password: "wonder-land", server: gateway.port, authentication: .ntlm, named: "stranger",
                in: scratch)
            #expect(await stranger.isRefused(), "\(stranger.account)\n\(gateway.log.suffix(6000))")
            #expect(await stranger.quit() == 0, "\(stranger.account)")

            let alice = try await Finch(
                user: "alice@contoso.com", password: "wonder-land", server: gateway.port, authentication: .ntlm, named: "alice",
                in: scratch)
            let bob = try await Finch(
                user: "bob@contoso.com", password: "builder:1", server: gateway.port, authentication: .ntlm, named: "bob", in: scratch)
            func account() -> String { "\(alice.account)\n\(bob.account)\n\(gateway.log.suffix(8000))" }
            #expect(await alice.signsIn(), "\(account())")
            #expect(await bob.signsIn(), "\(account())")
            try await alice.add(bobsURI, to: "Colleagues")
            try await bob.add(alicesURI, to: "Colleagues")
            #expect(await alice.sees(bobsURI, "available"), "\(account())")
            #expect(await bob.sees(alicesURI, "available"), "\(account())")

            try await alice.show("busy", "café à midi")
            #expect(await bob.sees(alicesURI, "busy", "café à midi"), "\(account())")
            try await bob.show("do-not-disturb")
            #expect(await alice.sees(bobsURI, "do-not-disturb"), "\(account())")
            try await bob.show("away", "lunch")
            #expect(await alice.sees(bobsURI, "away", "lunch"), "\(account())")

            try await alice.block(bobsURI)
            #expect(await bob.sees(alicesURI, "offline"), "\(account())")
            try await alice.unblock(bobsURI)
            #expect(await bob.sees(alicesURI, "busy"), "\(account())")

            #expect(try await bob.signOut(), "\(account())")
            #expect(await alice.sees(bobsURI, "offline"), "\(account())")
            #expect(await bob.quit() == 0, "\(account())")
            #expect(try await alice.signOut(), "\(account())")
            #expect(await alice.quit() == 0, "\(account())")
            #expect(await gateway.stop() == 0, "\(gateway.log.suffix(6000))")
            scratch.remove()
        }
    }
}

extension RealSockets {
    /// pidgin-sipe as a watcher of a user of a hosted SIMPLE domain, whose presence rules are stored with curl.
    @Suite(.enabled(if: PeerPrograms.areReady(PeerPrograms.finch, PeerPrograms.busSession, PeerPrograms.curl, PeerPrograms.sipp)))
    struct PidginSipeRulesInteropTests {
        private let alice = "sip:alice@contoso.com"
        private let dave = "sip:dave@example.com"
        private let mara = "sip:mara@example.com"

        /// Rules of mara: this handling for alice, and dave is allowed.
        private func ruleset(_ handling: String) -> String {
            func rule(_ id: String, _ watcher: String, _ handling: String) -> String {
                let grants = """
                    <transformations><p:provide-services><p:all-services/></p:provide-services>
                    <p:provide-persons><p:all-persons/></p:provide-persons><p:provide-all-attributes/></transformations>
                    """
                return """
                    <rule id="\(id)"><conditions><identity><one id="\(watcher)"/></identity></conditions>
                    <actions><p:sub-handling>\(handling)</p:sub-handling></actions>\(handling == "allow" ? grants : "")</rule>
                    """
            }
            return """
                <ruleset xmlns="urn:ietf:params:xml:ns:common-policy" xmlns:p="urn:ietf:params:xml:ns:pres-rules">
                \(rule("alice", alice, handling))\(rule("dave", dave, "allow"))</ruleset>
                """
        }

        /// Stores the rules of mara with curl; returns the status.
        private func put(_ handling: String, to port: Int, in scratch: ScratchDirectory) async throws -> String {
            let name = UUID().uuidString.prefix(8)
            let file = try scratch.write(ruleset(handling), to: "rules-\(name).xml")
            let curl = try ChildProcess(
                try PeerPrograms.curl.required(package: "curl"),
                [
                    "-sS", "--digest", "-u", "mara:open sesame", "-T", file.path, "-H", "Content-Type: application/auth-policy+xml",
                    "--max-time", "20", "-o", "/dev/null", "-w", "%{http_code}",
                    "http://127.0.0.1:\(port)/xcap-root/pres-rules/users/\(mara)/index",
                ], in: scratch.url, name: "curl-\(name)")
            guard await curl.exit(within: 25) == 0 else { throw PeerError(description: "curl: \(curl.errorText)") }
            return curl.outputText
        }

        @Test("RFC 5025 3.2.1: pidgin-sipe shows an allowed presentity, offline after a polite block, no later state after a block")
        func watcherUnderRules() async throws {
            let scratch = try ScratchDirectory("finch-rules")
            let verifiers = try CredentialVerifiers(user: "mara", realm: "example.com", password: "open sesame")
            try scratch.write("users:\n  \"\(mara)\":\n    verifiers: \"\(verifiers.text)\"\n  \"\(alice)\": {}\n", to: "users.yaml")
            let port = try Loopback.freePort()
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "contoso.com: { side: enterprise, hosted: true, network: sameEnterprise, peers: [ 127.0.0.1 ] }",
                    "example.com: { side: simple, hosted: true, peers: [ 127.0.0.1 ], unruled: block }",
                ],
                settings: [
                    "directory: { file: users.yaml }",
                    "xcap: { listen: [ \"http:127.0.0.1:\(port)\" ], root: \"http://127.0.0.1:\(port)/xcap-root\" }",
                ])
            let phone = SIPpPublisher(presentity: mara, port: gateway.port, transport: "udp", scratch: scratch, named: "mara")
            try await phone.publish(.busy)
            #expect(try await put("allow", to: port, in: scratch) == "201", "\(gateway.log.suffix(4000))")
            let neighbour = try SIPp(
                "pidf-follower", name: "dave", to: gateway.port, transport: "udp",
                keys: ["presentity": mara, "watcher": dave, "accept": "application/pidf+xml"], limit: 240, in: scratch)
            let finch = try await Finch(user: "alice@contoso.com", server: gateway.port, named: "alice", in: scratch)
            func account() -> String { "\(finch.account)\n\(neighbour.account)\n\(gateway.log.suffix(8000))" }
            #expect(await finch.signsIn(), "\(account())")
            try await finch.add(mara, to: "Friends")
            #expect(await finch.sees(mara, "busy"), "\(account())")

            #expect(try await put("polite-block", to: port, in: scratch) == "200")
            #expect(await finch.sees(mara, "offline"), "\(account())")
            try await phone.publish(.away)
            #expect(await neighbour.shows("open", "away"), "\(account())")
            #expect(try await finch.contact(mara)?.status == "offline", "\(account())")

            #expect(try await put("allow", to: port, in: scratch) == "200")
            #expect(await finch.sees(mara, "away"), "\(account())")
            #expect(try await put("block", to: port, in: scratch) == "200")
            let rejection = "Subscription-State: terminated;reason=rejected"
            #expect(await finch.eventually { finch.account.contains(rejection) }, "\(account())")
            try await phone.publish(.busy)
            #expect(await neighbour.shows("open", "busy"), "\(account())")
            // The client keeps the state that it was sent before the rejection.
            #expect(try await finch.contact(mara)?.status == "away", "\(account())")

            #expect(try await finch.signOut(), "\(account())")
            #expect(await finch.quit() == 0, "\(finch.account)")
            await neighbour.stop()
            #expect(await gateway.stop() == 0, "\(gateway.log.suffix(6000))")
            scratch.remove()
        }
    }
}

extension IsthmusProgram {
    /// Adds a user to a directory file with `isthmus user add`, as an operator does.
    static func addUser(_ uri: String, password: String, to file: URL, in scratch: ScratchDirectory) async throws {
        let command = try ChildProcess(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c", "printf '%s\\n' \"$PASSWORD\" | \"$0\" user add \"$1\" --file \"$2\" --password-stdin", PeerPrograms.isthmus.path,
                uri, file.path,
            ],
            in: scratch.url, name: "user-add", environment: ["PASSWORD": password])
        guard await command.exit(within: 60) == 0 else {
            throw PeerError(description: "isthmus user add: \(command.outputText)\(command.errorText)")
        }
    }
}
