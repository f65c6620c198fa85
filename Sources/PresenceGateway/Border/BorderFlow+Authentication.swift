import SIPCore
import SIPSecurity

/// Authentication of requests, and signatures for the client (MS-SIPAE 3.3, RFC 3261 22).
extension BorderFlow {
    /// Authenticates the user in From, if the user's domain is hosted and the listener requires it; users of other domains are
    /// authenticated by their own servers.
    ///
    /// - Throws: a challenge, or a final refusal.
    func authenticate(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant
    ) throws(Refusal) {
        guard !configuration.authentication.isEmpty, let from = request.headers.from,
            let domain = configuration.domain(of: from.uri), domain.hosted,
            let demand = configuration.authentication(at: flow.local)?.demand(on: domain.side),
            // From of a batch's NOTIFY names the watcher (MS-PRES 3.4.5.3); its sender is the domain that was asked.
            verdict(onNotifierOf: request, on: flow) == nil
        else { return }
        guard let authenticator else {
            throw .unavailable("there is no directory to authenticate users with", retryAfter: configuration.timing.retryAfter)
        }
        let source = MessageSource(local: flow.local, remote: flow.remote, connection: flow.connection)
        switch authenticator.check(request, from: source, under: demand, at: now) {
        case .accepted(_, let association):
            counters.requestsAuthenticated += 1
            guard let transaction else { return }
            transactions.notStranger(transaction)
            if let association { transactions.note(association, of: transaction) }
        case .challenge(let answer):
            counters.requestsChallenged += 1
            noteFailure(answer, flow)
            throw Refusal(answer)
        case .refused(let answer):
            if answer.status == .serviceUnavailable { counters.limitsReached += 1 }
            noteFailure(answer, flow)
            throw Refusal(answer)
        }
    }

    private func noteFailure(_ answer: AuthenticationAnswer, _ flow: Flow) {
        guard answer.isFailure else { return }
        counters.authenticationFailures += 1
        log(.notice, "sign-in failed", ["peer": flow.remote.host, "rule": answer.explanation])
    }

    /// Signs a response to a request of a security association, refusals included; challenges are not signed.
    func sign(_ response: inout SIPResponse, of transaction: ServerTransactionID) {
        guard let authenticator, let association = transactions.note(of: transaction) else { return }
        authenticator.sign(&response, under: association)
    }

    /// Signs a request to the last known source of a client with a security association.
    func sign(_ request: inout SIPRequest, to destination: Destination, at now: Instant) {
        guard let authenticator else { return }
        switch destination {
        case .connection(let connection, _): authenticator.sign(&request, connection: connection, remote: nil, at: now)
        case .address(let remote, _): authenticator.sign(&request, connection: nil, remote: remote, at: now)
        }
    }
}

extension Refusal {
    fileprivate init(_ answer: AuthenticationAnswer) {
        self.init(
            answer.status, answer.explanation, errorID: answer.errorID, headers: answer.headers.map { Header($0.name, $0.value) })
        isRoutine = !answer.isFailure
    }
}
