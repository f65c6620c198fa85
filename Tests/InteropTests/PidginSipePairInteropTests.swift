import Foundation
import Testing

extension RealSockets {
    /// Two real clients of one home server, with nothing between them but the gateway.
    @Suite struct PidginSipePairInteropTests {
        @Test("two pidgin-sipe clients: each sees the other come, change, block and go")
        func twoFinchesSeeEachOther() async throws {
            let scratch = try ScratchDirectory("finches")
            let (alicesURI, bobsURI) = ("sip:alice@contoso.com", "sip:bob@contoso.com")
            let gateway = try await IsthmusProgram(
                in: scratch, domains: ["contoso.com: { side: enterprise, hosted: true, network: sameEnterprise }"])

            let alice = try await Finch(user: "alice@contoso.com", server: gateway.port, named: "alice", in: scratch)
            let bob = try await Finch(user: "bob@contoso.com", server: gateway.port, named: "bob", in: scratch)
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
