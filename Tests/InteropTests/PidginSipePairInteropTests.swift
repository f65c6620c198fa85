import Foundation
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
