import Registration
import SIPCore

/// Endpoints on which publications of hosted presentities depend without a registration: those with an open connection, and those of an
/// earlier process that may come back.
final class PresentityEndpoints: ShardMember {
    /// Kind of the tickets of presentities with endpoints that may come back.
    static let ticketKind: UInt8 = 1

    let kernel: GatewayKernel
    let context: ShardContext
    /// The flow, which owns this part.
    private unowned let flow: PresentitiesFlow
    /// Connections over which unregistered endpoints published, by presentity.
    private var connections = PublishingConnections()
    /// Endpoints that published before a restart and have not come back, by presentity.
    private var returning: [String: Set<String>] = [:]
    /// Keys of presentities in ``returning``, by ticket.
    private var returningKeys = Slab<String>()

    init(_ flow: PresentitiesFlow) {
        kernel = flow.kernel
        context = flow.context
        self.flow = flow
    }

    /// Number of entries of each table.
    var sizes: [String: Int] { ["returning": returning.count, "publishingConnections": connections.count] }

    /// Notes the connection over which an unregistered endpoint published: the endpoint is present as long as one of them is open.
    func note(_ endpoint: String, of key: String, over connection: ConnectionID) { connections.note(endpoint, of: key, over: connection) }

    /// Whether an endpoint without a registration has published for the user over a connection that is still open.
    func hasUnregistered(_ key: String) -> Bool { !connections.endpoints(of: key).isEmpty }

    /// Forgets the connections of a presentity without instances that depend on an endpoint.
    func settle(_ presentity: HostedPresentity) {
        if connections.knows(presentity.key), !presentity.dependsOnEndpoints { connections.forget(presentity.key) }
    }

    /// Ends the instances of unregistered endpoints that published over a closed connection (MS-PRES 3.2.5.5).
    func closed(_ connection: ConnectionID, at now: Instant) {
        for (key, endpoints) in connections.close(connection) {
            let gone = endpoints.filter { !isRegistered($0, of: key) }
            let isLast = !hasUnregistered(key) && !flow.ports.hasRegistrations(key)
            flow.endpointsEnded(gone, of: key, isLast: isLast, at: now)
        }
    }

    private func isRegistered(_ endpoint: String, of key: String) -> Bool {
        EndpointID(endpoint).map { flow.ports.isRegistered($0, of: key) } ?? false
    }

    // MARK: restart

    /// Gives endpoints ``GatewayTiming/restartGrace`` to come back, because their connections ended with the earlier process.
    func awaitReturn(to presentity: HostedPresentity, at now: Instant) {
        let endpoints = presentity.endpoints
        guard !endpoints.isEmpty else { return }
        returning[presentity.key] = endpoints
        let ticket = Ticket(.presentities, kind: Self.ticketKind, returningKeys.insert(presentity.key))
        timers.set(ticket, at: now + configuration.timing.restartGrace)
    }

    /// Ends the endpoints that have not come back in time (MS-PRES 3.2.5.5).
    func timerDue(_ ticket: Ticket, at now: Instant) {
        guard let key = returningKeys.remove(ticket.key), let awaited = returning.removeValue(forKey: key) else { return }
        let present = connections.endpoints(of: key)
        let gone = awaited.filter { one in
            !present.contains { $0.lowercased() == one.lowercased() } && !isRegistered(one, of: key)
        }
        flow.endpointsEnded(gone.sorted(), of: key, isLast: present.isEmpty && !flow.ports.hasRegistrations(key), at: now)
    }
}
