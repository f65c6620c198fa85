import SIPCore
import Testing

@testable import PresenceGateway

/// Methods that the handlers of a shard serve.
@Suite struct RequestHandlerTests {
    /// Serves MESSAGE, which the gateway does not.
    private final class MessageHandler: RequestHandler {
        private unowned let gateway: Gateway
        let methods: [SIPMethod] = [.message]

        init(_ gateway: Gateway) { self.gateway = gateway }

        func receive(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant) throws(Refusal) {
            gateway.respond(SIPResponse(to: request, status: .accepted, toTag: "handler"), transaction, at: now)
        }
    }

    private func response(to method: String, _ bench: Bench) throws -> SIPResponse {
        bench.send(
            bench.subscribe("ann@example.org", to: "bob@contoso.com", via: Bench.simple).replacingOccurrences(
                of: "SUBSCRIBE", with: method),
            from: Bench.simple)
        guard case .response(let response) = try bench.next(at: Bench.simple) else { throw Bench.Unexpected() }
        return response
    }

    @Test("RFC 3261 8.2.1, 11.2: Allow of OPTIONS and 405 lists the methods of all flows")
    func methods() throws {
        let all = "SUBSCRIBE, NOTIFY, BENOTIFY, PUBLISH, SERVICE, REGISTER, OPTIONS"
        let bench = Bench()
        #expect(try response(to: "OPTIONS", bench).headers.first(.allow) == all)
        let refusal = try response(to: "MESSAGE", bench)
        #expect(refusal.status == .methodNotAllowed && refusal.headers.first(.allow) == all)
    }

    @Test("RFC 3261 8.2.1, 11.2: a method is served and listed in OPTIONS and 405 once a handler for it was added")
    func addedHandler() throws {
        let bench = Bench()
        let handler = MessageHandler(bench.gateway)
        bench.gateway.add(handler)
        #expect(try response(to: "MESSAGE", bench).status == .accepted)
        #expect(try response(to: "OPTIONS", bench).headers.first(.allow)?.hasSuffix(", OPTIONS, MESSAGE") == true)
        let refusal = try response(to: "INFO", bench)
        #expect(refusal.status == .methodNotAllowed && refusal.headers.first(.allow)?.hasSuffix(", OPTIONS, MESSAGE") == true)
    }

    @Test("RFC 3261 12.2.2: a request of a call within a dialog is 481, because the dialog does not exist")
    func withinDialog() throws {
        let request = SIPRequest(.info, uri: SIPURI(host: "example.com"))
        var inDialog = request
        inDialog.headers.to = NameAddr(SIPURI(host: "example.com"), parameters: SIPParameters([.init("tag", "1")]))
        let handlers = RequestHandlers()
        #expect(throws: Refusal.noSuchDialog) { _ = try handlers.handler(of: inDialog) }
        #expect(throws: Refusal.methodNotAllowed("")) { _ = try handlers.handler(of: request) }
    }
}
