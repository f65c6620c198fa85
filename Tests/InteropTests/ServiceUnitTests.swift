import Foundation
import NotificationSocket
import Testing

extension RealSockets {
    /// The program as a service manager runs it, and the files by which systemd would.
    @Suite struct ServiceUnitTests {
        @Test("the program notifies its manager of READY, WATCHDOG, RELOADING on SIGHUP and STOPPING on SIGTERM", arguments: [false, true])
        func notifications(isAbstract: Bool) async throws {
            let scratch = try ScratchDirectory("notify")
            defer { scratch.remove() }
            let manager = try NotificationSocket(isAbstract: isAbstract)
            let program = try await IsthmusProgram(
                in: scratch, domains: ["example.org: { side: simple, hosted: true, unruled: allow }"],
                environment: ["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "400000", "WATCHDOG_PID": ""])
            let ready = try await manager.next { $0["READY"] != nil }
            #expect(ready["STATUS"]?.contains("127.0.0.1:\(program.port)") == true, "\(ready)")
            // WATCHDOG_PID names no process, and least of all this one.
            program.reload()
            let reloading = try await manager.next { _ in true }
            #expect(reloading["RELOADING"] == "1" && reloading["MONOTONIC_USEC"] != nil, "\(reloading)")
            #expect(try await manager.next { _ in true } == ready)
            async let code = program.stop()
            #expect(try await manager.next { _ in true }["STOPPING"] == "1")
            #expect(await code == 0, "\(program.log)")
        }

        @Test("the event loops of the program feed the watchdog, until it stops") func watchdog() async throws {
            let scratch = try ScratchDirectory("watchdog")
            defer { scratch.remove() }
            let manager = try NotificationSocket()
            let program = try await IsthmusProgram(
                in: scratch, domains: ["example.org: { side: simple, hosted: true, unruled: allow }"],
                environment: ["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "400000"])
            for _ in 0..<3 { _ = try await manager.next { $0 == ["WATCHDOG": "1"] } }
            #expect(await program.stop() == 0, "\(program.log)")
            #expect(try await manager.next()["STOPPING"] == "1")
            while let late = manager.take() { #expect(late == ["WATCHDOG": "1"], "nothing but what was on its way") }
        }

        @Test("without NOTIFY_SOCKET the program runs as before") func alone() async throws {
            let scratch = try ScratchDirectory("alone")
            defer { scratch.remove() }
            let program = try await IsthmusProgram(
                in: scratch, domains: ["example.org: { side: simple, hosted: true, unruled: allow }"], environment: ["NOTIFY_SOCKET": ""])
            #expect(await program.stop() == 0)
            #expect(!program.log.contains("service manager"), "\(program.log)")
        }

        @Test("the packaged configuration passes the check, listens on the loopback, and refuses every domain") func configuration()
            async throws
        {
            let scratch = try ScratchDirectory("packaged")
            defer { scratch.remove() }
            let text = try String(contentsOf: PeerPrograms.packaging.appendingPathComponent("isthmus.yaml"), encoding: .utf8)
            #expect(text.contains("sqlite: /var/lib/isthmus/isthmus.db") && text.contains("on-stop: keep"))
            let file = try scratch.write(
                text.replacingOccurrences(of: "/var/lib/isthmus", with: scratch.url.path)
                    .replacingOccurrences(of: "/run/isthmus", with: scratch.url.path), to: "isthmus.yaml")
            func run(_ arguments: [String]) async throws -> (Int32?, String) {
                let command = try ChildProcess(
                    PeerPrograms.isthmus, arguments + ["--config", file.path], in: scratch.url, name: arguments[0])
                return (await command.exit(within: 20), command.outputText + command.errorText)
            }
            let check = try await run(["check"])
            #expect(check.0 == 0 && check.1.contains("listening on udp:127.0.0.1:5060 tcp:127.0.0.1:5060"), "\(check)")
            let route = try await run(["route", "sip:alice@example.org"])
            #expect(route.1.contains("403"), "\(route)")
        }

        @Test(
            "systemd takes the unit without a warning, and finds no more exposure than 2.0",
            .enabled(if: PeerPrograms.areReady(PeerPrograms.systemdAnalyze)))
        func unit() async throws {
            let scratch = try ScratchDirectory("unit")
            defer { scratch.remove() }
            let text = try String(contentsOf: PeerPrograms.packaging.appendingPathComponent("isthmus.service"), encoding: .utf8)
            // The program of the unit is not installed here; its name is a warning of its own.
            let unit = try scratch.write(
                text.replacingOccurrences(of: "/usr/bin/isthmus", with: PeerPrograms.isthmus.path), to: "isthmus.service")
            let analyze = try PeerPrograms.systemdAnalyze.required(package: "systemd")
            let verify = try ChildProcess(analyze, ["verify", "--man=no", unit.path], in: scratch.url, name: "verify")
            #expect(await verify.exit(within: 30) == 0, "\(verify.errorText)")
            #expect(!verify.errorText.contains("isthmus.service"), "\(verify.errorText)")
            let security = try ChildProcess(
                analyze, ["security", "--offline=true", "--threshold=20", "--no-pager", unit.path], in: scratch.url, name: "security")
            #expect(await security.exit(within: 30) == 0, "\(security.outputText)\(security.errorText)")
            #expect(security.outputText.contains("Overall exposure level"), "\(security.outputText)")
        }
    }
}
