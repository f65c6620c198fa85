import Foundation
import GatewayTesting
import SIPCore
import ScriptedPeers
import Testing
import XMLCore

extension RealSockets {
    /// Two gateways as processes, each with an enterprise, and PIDF between them.
    ///
    ///     bob@contoso.com --SERVICE--> edge A --PIDF, exact values--> edge B --categories--> dana@fabrikam.com
    @Suite struct BackToBackInteropTests {
        @Test("with exact values on, every golden state arrives behind two gateways as it left")
        func lossless() async throws {
            let states = try GoldenState.all()
            #expect(states.count >= 40)
            let edges = try await Edges("back-to-back")
            let stage = LoopbackStage(seed: 21)
            let bob = CategoryPublisher(
                name: "bob", presentity: "sip:bob@contoso.com", address: try stage.place("bob", .tcp), nextHop: edges.near, seed: 21)
            let dana = EnhancedWatcher(
                name: "dana", watcher: "sip:dana@fabrikam.com", presentity: "sip:bob@contoso.com", address: try stage.place("dana", .tcp),
                nextHop: edges.far, seed: 22)
            dana.form = .categories(["state"])
            try await stage.attach(bob, name: "bob", at: bob.address)
            try await stage.attach(dana, name: "dana", at: dana.address)
            try await stage.act { now in dana.subscribe(at: now) }
            #expect(try await stage.wait(atMost: .seconds(20)) { dana.phase == .live }, "\(stage.account)")
            for state in states {
                try await stage.act { now in
                    bob.publish([0, 100, 200, 300, 400].map { .init("state", instance: 1, container: $0, body: state.text) }, at: now)
                }
                let arrives = try await stage.wait(atMost: .seconds(20)) {
                    Self.lastState(dana) == state.facts && bob.awaited == 0
                }
                let seen = Self.lastState(dana)
                #expect(
                    arrives,
                    "\(state.name): lost \(state.facts.subtracting(seen).sorted()), added \(seen.subtracting(state.facts).sorted()); \(String(describing: bob.lastAnswer?.status))"
                )
            }
            await stage.finish()
            await edges.stop()
        }

        @Test("RFC 3261 16.3: a domain that each of two gateways sends to the other is a loop, which dies at once")
        func loop() async throws {
            let edges = try await Edges("loop")
            let stage = LoopbackStage(seed: 23)
            let dana = EnhancedWatcher(
                name: "dana", watcher: "sip:dana@fabrikam.com", presentity: "sip:nobody@example.org",
                address: try stage.place("dana", .tcp),
                nextHop: edges.far, seed: 24)
            try await stage.attach(dana, name: "dana", at: dana.address)
            try await stage.act { now in dana.subscribe(at: now) }
            let isOver = try await stage.wait(atMost: .seconds(30)) {
                if case .ended = dana.phase { return true }
                if case .refused = dana.phase { return true }
                return false
            }
            #expect(isOver, "\(dana.phase)\n\(edges.second.log.suffix(2_000))")
            let asked = [edges.first, edges.second].map { $0.log.components(separatedBy: "subscribing upstream").count - 1 }
            #expect((1...2).contains(asked.reduce(0, +)), "the SUBSCRIBE went around: \(asked)")
            await stage.finish()
            await edges.stop()
        }

        /// Each gateway hosts one enterprise, and knows the other as a SIMPLE domain.
        private struct Edges {
            let first: IsthmusProgram
            let second: IsthmusProgram
            private let folders: [ScratchDirectory]

            init(_ name: String) async throws {
                let ports = (try Loopback.freePort(), try Loopback.freePort())
                folders = [try ScratchDirectory("\(name)-a"), try ScratchDirectory("\(name)-b")]
                first = try await Self.edge(in: folders[0], "contoso.com", "fabrikam.com", at: ports.0, toward: ports.1)
                second = try await Self.edge(in: folders[1], "fabrikam.com", "contoso.com", at: ports.1, toward: ports.0)
            }

            private static func edge(
                in folder: ScratchDirectory, _ home: String, _ away: String, at port: Int, toward other: Int
            ) async throws -> IsthmusProgram {
                try await IsthmusProgram(
                    in: folder, port: port,
                    domains: [
                        "\(home): { side: enterprise, hosted: true, peers: [ 127.0.0.1 ] }",
                        "\(away): { side: simple, route: \"tcp:127.0.0.1:\(other)\", lossless: true }",
                        "example.org: { side: simple, route: \"tcp:127.0.0.1:\(other)\" }",
                    ], node: "edge.\(home)")
            }

            var near: TransportAddress { TransportAddress(.tcp, "127.0.0.1", first.port) }
            var far: TransportAddress { TransportAddress(.tcp, "127.0.0.1", second.port) }

            func stop() async {
                for edge in [first, second] { #expect(await edge.stop() == 0, "\(edge.log.suffix(2_000))") }
                folders.forEach { $0.remove() }
            }
        }

        /// Facts of the newest state that the watcher received.
        private static func lastState(_ watcher: EnhancedWatcher) -> Set<String> {
            for notification in watcher.notifications.reversed() {
                if let text = GoldenState.stateElement(in: String(decoding: notification.body, as: UTF8.self)) {
                    return GoldenState.facts(of: text)
                }
            }
            return []
        }
    }
}

/// State of the golden vectors that PIDF carries without loss.
struct GoldenState {
    var name: String
    /// The `state` element as it is published.
    var text: String
    /// Every text and attribute in it, with its path.
    var facts: Set<String>

    static func all() throws -> [GoldenState] {
        let folder = PeerPrograms.files.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Vectors/conversion/lossless")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.filter { $0.lastPathComponent.hasSuffix(".in.xml") }.sorted { $0.path < $1.path }.compactMap { file in
            let name = String(file.lastPathComponent.dropLast(".in.xml".count))
            let document = try String(contentsOf: file, encoding: .utf8)
            // Vectors for lossy conversions have their own expected output.
            guard !FileManager.default.fileExists(atPath: folder.appendingPathComponent("\(name).out.xml").path),
                let text = stateElement(in: document)
            else { return nil }
            return GoldenState(name: name, text: text, facts: facts(of: text))
        }
    }

    /// The last `state` element of a categories document, with the prefix that its type needs.
    static func stateElement(in document: String) -> String? {
        guard let start = document.range(of: "<state ", options: .backwards),
            let end = document.range(of: "</state>", range: start.upperBound..<document.endIndex)
        else { return nil }
        let text = String(document[start.lowerBound..<end.upperBound])
        guard !text.contains("xmlns:xsi=") else { return text }
        return text.replacingOccurrences(of: "<state ", with: "<state xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" ")
    }

    static func facts(of text: String) -> Set<String> {
        guard let root = try? XMLTree.parse(Array(text.utf8)).root else { return [] }
        var facts: Set<String> = []
        func visit(_ element: XMLElement, _ path: String) {
            for attribute in element.attributes { facts.insert("\(path)@\(attribute.localName)=\(attribute.value)") }
            let children = Array(element.children)
            if children.isEmpty, !element.trimmedText.isEmpty { facts.insert("\(path)=\(element.trimmedText)") }
            for child in children { visit(child, "\(path)/\(child.localName)") }
        }
        visit(root, "state")
        return facts
    }
}
