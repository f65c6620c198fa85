import Foundation
import GatewayTesting
import Testing

extension RealSockets {
    /// Two programs on one database.
    @Suite struct StoreLockInteropTests {
        @Test(
            "a second isthmus is kept out of the store of the first, by a symbolic link and by a hard link",
            arguments: ["symbolic", "hard"])
        func secondProgram(_ kind: String) async throws {
            let scratch = try ScratchDirectory("lock-\(kind)")
            let domains = ["example.org: { side: simple, route: \"udp:127.0.0.1:9\" }"]
            let first = try await IsthmusProgram(in: scratch, store: "{ sqlite: \"\(scratch.file("isthmus.db").path)\" }", domains: domains)
            let other = scratch.file("other.db").path
            let made = kind == "hard" ? link(scratch.file("isthmus.db").path, other) : symlink(scratch.file("isthmus.db").path, other)
            #expect(made == 0)
            let refusal = await #expect(throws: PeerError.self) {
                _ = try await IsthmusProgram(in: scratch, store: "{ sqlite: \"\(other)\" }", domains: domains)
            }
            #expect(refusal?.description.contains("another process has this store") == true)
            #expect(first.isRunning)
            await first.kill()
            let second = try await IsthmusProgram(in: scratch, store: "{ sqlite: \"\(other)\" }", domains: domains)
            #expect(await second.stop() == 0)
            scratch.remove()
        }
    }
}
