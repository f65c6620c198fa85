import HTTPTransport
import Logging
import PresenceGateway
import SIPSecurity
import SIPTransport
import XCAP

/// Running XCAP server: its listeners and their service.
struct DocumentServer: Sendable {
    let http: HTTPServer
    let service: DocumentService

    /// Starts the configured server; nil without one.
    /// - Throws: `ServiceFailure` naming the listener that cannot be opened.
    static func start(
        _ configuration: ProgramConfiguration, on server: SIPServer, router: ShardRouter, authenticator: Authenticator?, tls: TLSService?,
        logger: Logger
    ) async throws(ServiceFailure) -> DocumentServer? {
        guard let documents = configuration.documents else { return nil }
        let listeners = documents.listeners.map(\.description).joined(separator: ", ")
        guard let authenticator else {
            throw ServiceFailure("xcap.listen: \(listeners): users cannot sign in")
        }
        guard let written = configuration.xcapRoot, let root = XCAPRoot(written) else {
            throw ServiceFailure("xcap.root: \(documents.root): no URI of an XCAP root can be made of it")
        }
        let service = DocumentService(
            server: server, router: router, authenticator: authenticator, root: root,
            configuration: configuration.gateway(listeners: server.listeners, logLevel: .error))
        do {
            let http = try await HTTPServer.start(
                on: documents.listeners, options: documents.options, context: tls?.webContexts, logger: logger,
                service: { request, answer in service.answer(request, answer) })
            return DocumentServer(http: http, service: service)
        } catch {
            throw ServiceFailure("xcap.listen: \(error)")
        }
    }
}
