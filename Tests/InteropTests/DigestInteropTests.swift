import Foundation
import Testing

extension RealSockets {
    /// A home server of a SIMPLE domain with Digest authentication; the client computes Digest independently.
    @Suite(.enabled(if: PeerPrograms.areReady(PeerPrograms.sipp), "the Debian package sip-tester is not installed"))
    struct DigestInteropTests {
        private let ann = "sip:ann@example.com"

        @Test("RFC 3261 22.2: SIPp publishes with the right password, and with none other", arguments: ["udp", "tcp"])
        func publishes(transport: String) async throws {
            let scratch = try ScratchDirectory("digest-\(transport)")
            try scratch.write("correct horse\n", to: "password")
            let command = try ChildProcess(
                URL(fileURLWithPath: "/bin/sh"),
                [
                    "-c", "\"$0\" user add \"$1\" --file \"$2/users.yaml\" --password-stdin < \"$2/password\"", PeerPrograms.isthmus.path,
                    ann,
                    scratch.url.path,
                ],
                in: scratch.url, name: "user-add")
            try #require(await command.exit(within: 60) == 0, "\(command.errorText)")
            let gateway = try await IsthmusProgram(
                in: scratch, domains: ["example.com: { side: simple, hosted: true, unruled: allow }"],
                authentication: "digest, digest-algorithms: [ MD5 ]", settings: ["directory: { file: users.yaml }"])
            let document = try scratch.write(PublishedState.open.pidf(of: ann), to: "open.xml")
            for (name, user, password, outcome) in [
                ("right", "ann", "correct horse", "published"), ("wrong", "ann", "battery staple", "refused"),
                ("unknown", "nobody", "correct horse", "refused"),
            ] {
                let run = try SIPp(
                    "publish-with-digest", name: name, to: gateway.port, transport: transport,
                    keys: ["presentity": ann, "document": document.path],
                    credentials: SIPp.Credentials(user: user, password: password, uri: "ann@example.com"), in: scratch)
                #expect(await run.succeeds(), "\(name): \(run.account)\n\(gateway.log)")
                #expect(await run.reaches(outcome), "\(name): \(run.account)\n\(gateway.log)")
            }
            #expect(!gateway.log.contains("horse") && !gateway.log.contains("response="))
            #expect(await gateway.stop() == 0)
            scratch.remove()
        }
    }
}
