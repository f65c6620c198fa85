import SIPCore
import SIPSecurity

/// Who sent a request, and the signatures that his client expects (MS-SIPAE 3.3, RFC 3261 22).
extension Gateway {
    /// Makes sure that a user of a hosted domain is who From says, where the listener asks for it; requests of other domains' users are
    /// for their own servers to authenticate.
    ///
    /// - Throws: A challenge, or why no other attempt would help.
    func authenticate(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant
    ) throws(Refusal) {
        guard !configuration.authentication.isEmpty, let from = request.headers.from,
            let domain = configuration.domain(of: from.uri), domain.hosted,
            let demand = configuration.authentication(at: flow.local)?.demand(on: domain.side)
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

    /// An answer to a request of an association is signed with its keys, refusals too; challenges are not.
    func sign(_ response: inout SIPResponse, of transaction: ServerTransactionID) {
        guard let authenticator, let association = transactions.note(of: transaction) else { return }
        authenticator.sign(&response, under: association)
    }

    /// A request to where a client with an association was heard last is signed, NOTIFY and BENOTIFY alike.
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
