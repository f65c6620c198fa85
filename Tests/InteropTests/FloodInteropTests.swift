import Foundation
import GatewayTesting
import SIPCore
import ScriptedPeers
import Synchronization
import Testing

extension RealSockets {
    /// One partner floods without effect on two others, with one event loop.
    ///
    ///     bob@contoso.com    hosted here
    ///     dana@fabrikam.com  a partner at 127.0.0.1, watches bob
    ///     eve@example.com    a partner at 127.0.0.3, floods over TCP and UDP
    @Suite struct FloodInteropTests {
        @Test("a flood of one partner loses no change of another's presentity, and disturbs no order", arguments: [nil, 20])
        func flood(limit: Int?) async throws {
            let scratch = try ScratchDirectory("flood")
            let limits = limit.map { ", limits: { messages-per-second: \($0) }" } ?? ""
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "contoso.com: { side: enterprise, hosted: true, peers: [ 127.0.0.1 ] }",
                    "fabrikam.com: { side: enterprise, route: \"tcp:127.0.0.1:9\", peers: [ 127.0.0.1 ] }",
                    "example.com: { side: simple, route: \"tcp:127.0.0.3:9\", peers: [ 127.0.0.3 ]\(limits) }",
                ], logLevel: "notice")
            let stage = LoopbackStage(seed: 71)
            let next = TransportAddress(.tcp, "127.0.0.1", gateway.port)
            let bob = CategoryPublisher(
                name: "bob", presentity: "sip:bob@contoso.com", address: try stage.place("bob", .tcp),
                nextHop: next, seed: 71)
            let dana = EnhancedWatcher(
                name: "dana", watcher: "sip:dana@fabrikam.com", presentity: bob.presentity,
                address: try stage.place("dana", .tcp), nextHop: next, seed: 72)
            dana.form = .categories(["state"])
            for peer in [bob, dana] as [SIPPeer] { try await stage.attach(peer, name: peer.name, at: peer.address) }
            try await stage.act { now in dana.subscribe(at: now) }
            #expect(try await stage.wait(atMost: .seconds(20)) { dana.phase == .live }, "\(gateway.log.suffix(2_000))")

            let flood = [
                try Flood(over: .stream, to: gateway.port, atLeast: 2_000), try Flood(over: .datagram, to: gateway.port, atLeast: 2_000),
            ]
            let changes = Array(3_501...3_515)
            for availability in changes {
                let state =
                    "<state xmlns=\"http://schemas.microsoft.com/2006/09/sip/state\" "
                    + "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"aggregateState\">"
                    + "<availability>\(availability)</availability></state>"
                try await stage.act { now in
                    bob.publish([0, 100].map { .init("state", instance: 1, container: $0, body: state) }, at: now)
                }
                let arrives = try await stage.wait(atMost: .seconds(20)) {
                    dana.presence?.availability == availability && bob.awaited == 0
                }
                let status = try await stage.look { bob.lastAnswer?.status }
                #expect(arrives && status == .ok, "\(availability)\n\(gateway.log.suffix(2_000))")
                if !arrives { break }
            }
            let seen = try await stage.look { dana.notifications.compactMap { $0.presence?.availability } }
            #expect(seen == changes)
            #expect(try await stage.look { dana.faults + bob.faults } == [])
            for flood in flood { flood.stop() }
            #expect(await eventually(within: 20) { flood.allSatisfy(\.isOver) })
            let answers = flood[0].answers
            #expect(flood.allSatisfy { $0.said >= 2_000 } && !answers.isEmpty, "\(answers)")
            #expect((answers[503] ?? 0 > 0) == (limit != nil), "\(answers)")
            #expect(!gateway.log.contains("fabrikam.com"), "nobody of the other partner was refused: \(gateway.log.suffix(2_000))")
            await stage.finish()
            #expect(await gateway.stop() == 0, "\(gateway.log.suffix(2_000))")
            scratch.remove()
        }
    }
}

/// Thread that sends at full speed until it is stopped: new subscriptions, OPTIONS, and NOTIFYs without a dialog.
private final class Flood: Sendable {
    private struct State {
        var mustStop = false
        var isOver = false
        var said = 0
        var answers: [Int: Int] = [:]
    }

    private let state = Mutex(State())

    /// - Parameter least: Minimum number of messages, however early it is stopped.
    init(over kind: LoopbackSocket.Kind, to port: Int, atLeast least: Int) throws {
        let thread = Thread { [self] in
            if let socket = try? LoopbackSocket(kind, port: kind == .stream ? port : 0, at: "127.0.0.3") {
                var rest = ""
                while state.withLock({ !$0.mustStop || $0.said < least }) {
                    let number = state.withLock { state in
                        state.said += 20
                        return state.said
                    }
                    let words = (0..<20).map { Self.word(number + $0, kind == .stream ? "TCP" : "UDP", at: socket.port) }
                    if kind == .stream { socket.send(Array(words.joined().utf8)) }
                    if kind == .datagram { for word in words { socket.send(Array(word.utf8), to: port) } }
                    while let bytes = socket.receive(atMost: 0) { note(&rest, bytes) }
                }
            }
            state.withLock { $0.isOver = true }
        }
        thread.start()
    }

    private static func word(_ number: Int, _ transport: String, at port: Int) -> String {
        let method = ["SUBSCRIBE", "OPTIONS", "NOTIFY"][number % 3]
        let more = method == "NOTIFY" ? "Subscription-State: active\r\n" : "Expires: 600\r\nAccept: application/pidf+xml\r\n"
        let toTag = method == "NOTIFY" ? ";tag=none" : ""
        return "\(method) sip:user\(number)@contoso.com SIP/2.0\r\nVia: SIP/2.0/\(transport) 127.0.0.3:\(port);branch=z9hG4bKf\(number)\r\n"
            + "Max-Forwards: 70\r\nFrom: <sip:eve\(number % 50)@example.com>;tag=\(number)\r\nTo: <sip:user\(number)@contoso.com>\(toTag)\r\n"
            + "Call-ID: flood\(transport)\(number)\r\nCSeq: 1 \(method)\r\nContact: <sip:127.0.0.3:\(port);transport=\(transport.lowercased())>\r\n"
            + "Event: presence\r\n\(more)Content-Length: 0\r\n\r\n"
    }

    /// Counts the status codes received.
    private func note(_ rest: inout String, _ bytes: [UInt8]) {
        let parts = (rest + String(decoding: bytes, as: UTF8.self)).components(separatedBy: "\r\nSIP/2.0 ")
        let statuses = parts.dropFirst().compactMap { Int($0.prefix(3)) }
        rest = String((parts.last ?? "").suffix(16))
        state.withLock { state in for status in statuses { state.answers[status, default: 0] += 1 } }
    }

    func stop() { state.withLock { $0.mustStop = true } }
    var isOver: Bool { state.withLock { $0.isOver } }
    var said: Int { state.withLock { $0.said } }
    /// Number of responses by status, except the first of each read.
    var answers: [Int: Int] { state.withLock { $0.answers } }
}
