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
        guard let documents = configuration.documents, let authenticator, let root = XCAPRoot(configuration.xcapRoot ?? "") else {
            return nil
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
