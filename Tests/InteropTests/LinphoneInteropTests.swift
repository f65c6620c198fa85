import Foundation
import Testing

extension RealSockets {
    /// F1 with a public client: liblinphone watches a hosted presentity of an enterprise domain.
    @Suite(
        .enabled(
            if: PeerPrograms.areReady(PeerPrograms.linphone, PeerPrograms.python),
            "the Debian packages linphone-cli and python3 are not installed"))
    struct LinphoneInteropTests {
        private static let bob = "sip:bob@contoso.com"

        /// Category publication of one state, in every container that a watcher may be in.
        private static func publication(_ state: String, version: Int) -> String {
            let publications = [0, 100, 200, 300, 400].map { container in
                """
                <publication categoryName="state" instance="1" container="\(container)" version="\(version)" expireType="time" expires="600">\
                <state xmlns="http://schemas.microsoft.com/2006/09/sip/state" manual="true" \
                xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="userState">\(state)</state></publication>
                """
            }
            return """
                <publish xmlns="http://schemas.microsoft.com/2006/09/sip/rich-presence"><publications uri="\(bob)">\
                \(publications.joined())</publications></publish>
                """
        }

        @Test("RFC 4480 3.2: liblinphone shows on the phone and busy for a 6500 on the phone, and online for available with a free text")
        func statesOfBob() async throws {
            let scratch = try ScratchDirectory("linphone")
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: ["contoso.com: { side: enterprise, hosted: true }", "example.com: { side: simple, hosted: true, unruled: allow }"])
            let client = try Linphone(user: "sip:carol@example.com", watching: Self.bob, proxyPort: gateway.port, in: scratch)
            // On a busy machine the library takes its time to start.
            #expect(await eventually(within: 90) { client.seen().last?.consolidated == "offline" }, "\(client.trace)")
            let states: [(state: String, activities: [String], texts: [String], consolidated: String)] = [
                ("<availability>3500</availability>", [], [], "online"),
                ("<availability>6500</availability><activity token=\"on-the-phone\"/>", ["busy", "on-the-phone"], [], "busy"),
                ("<availability>6500</availability>", ["busy"], [], "busy"),
                (
                    "<availability>3500</availability><activity><custom LCID=\"1033\">Working from home</custom></activity>", ["other"],
                    ["Working from home"], "online"
                ),
                ("<availability>18500</availability>", [], [], "offline"),
            ]
            for (version, expected) in states.enumerated() {
                let file = try scratch.write(Self.publication(expected.state, version: version), to: "state.xml")
                let publish = try ChildProcess(
                    PeerPrograms.isthmus, ["publish", Self.bob, "--via", "tcp:127.0.0.1:\(gateway.port)", file.path], in: scratch.url,
                    name: "publish-\(version)")
                #expect(await publish.exit(within: 20) == 0, "\(publish.errorText)")
                let isSeen = await eventually(within: 15) {
                    guard let seen = client.seen().last else { return false }
                    return seen.activities.sorted() == expected.activities && seen.texts == expected.texts
                        && seen.consolidated == expected.consolidated
                }
                #expect(isSeen, "\(expected.state): \(client.trace.suffix(3_000))\n\(gateway.log.suffix(3_000))")
            }
            await client.stop()
            #expect(await gateway.stop() == 0)
            scratch.remove()
        }
    }
}
