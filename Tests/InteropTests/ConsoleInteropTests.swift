import Foundation
import GatewayTesting
import ScriptedPeers
import Testing

extension RealSockets {
    /// The console in Chromium, beside Kamailio as the presence server of example.org and SIPp as a watcher of the enhanced presence model.
    @Suite(
        .enabled(
            if: PeerPrograms.areReady(
                PeerPrograms.kamailio, PeerPrograms.sipp, PeerPrograms.python, PeerPrograms.chromium, PeerPrograms.chromeDriver),
            "peers absent"))
    struct ConsoleInteropTests {
        @Test("an operator follows a watcher to the message that told it, sees a change pass, and converts a document, all by keyboard")
        func operatorWithBrowser() async throws {
            let scratch = try ScratchDirectory("console")
            let alice = "sip:alice@example.org"
            let kamailio = try await Kamailio(in: scratch, transport: "udp")
            let adminPort = try Loopback.freePort()
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "example.org: { side: simple, route: \"udp:127.0.0.1:\(kamailio.port)\" }",
                    "contoso.com: { side: enterprise, route: \"udp:127.0.0.1:9\" }",
                ], settings: ["admin: { http: \"127.0.0.1:\(adminPort)\", inspect: true }"])
            let publisher = SIPpPublisher(presentity: alice, port: kamailio.port, transport: "udp", scratch: scratch)
            try await publisher.publish(.open)
            let watcher = try SIPp(
                "batch-watcher", name: "watcher", to: gateway.port, transport: "udp",
                keys: ["watcher": "sip:bob@contoso.com", "resources": "<resource uri=\"\(alice)\"/>"], limit: 100, in: scratch)
            func shows(_ availability: Int) async -> Bool {
                await eventually(within: 30) { watcher.categories.last { $0.entity == alice }?.availability == availability }
            }
            #expect(await shows(3_500), "\(watcher.account)\n\(gateway.log)")

            let document = PeerPrograms.packaging.deletingLastPathComponent().appendingPathComponent("docs/examples/alice.pidf.xml")
            let conversion = try ChildProcess(
                PeerPrograms.isthmus, ["convert", "--to", "categories", "--report", "json", document.path], in: scratch.url, name: "convert"
            )
            #expect(await conversion.exit(within: 20) == 0)
            let report = try scratch.write(conversion.errorText, to: "report.json")
            // Kept beside the program, to look at.
            let pictures = PeerPrograms.isthmus.deletingLastPathComponent().appendingPathComponent("console-screenshots")
            try? FileManager.default.removeItem(at: pictures)
            try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
            let browser = try ChildProcess(
                try PeerPrograms.python.required(package: "python3"),
                [
                    PeerPrograms.files.appendingPathComponent("browser/console.py").path, "http://127.0.0.1:\(adminPort)",
                    String(gateway.port), document.path, report.path, pictures.path, scratch.file("profile").path,
                ], in: scratch.url, name: "browser", environment: ["HOME": scratch.url.path])
            #expect(await eventually(within: 60) { browser.outputText.contains("following") || !browser.isRunning })
            try await publisher.publish(.busy)
            #expect(
                await browser.exit(within: 120) == 0,
                "\(browser.outputText)\n\(browser.errorText.suffix(4_000))\n\(gateway.log.suffix(2_000))")
            #expect(browser.outputText.hasSuffix("done\n"))
            #expect(await shows(6_500), "\(watcher.account)")
            for picture in ["overview", "live-change", "why-subscription", "mapping-document"] {
                #expect(FileManager.default.fileExists(atPath: pictures.appendingPathComponent("\(picture).png").path), "\(picture)")
            }
            await watcher.stop()
            #expect(await gateway.stop() == 0, "\(gateway.log)")
            await kamailio.stop()
            scratch.remove()
        }
    }
}
