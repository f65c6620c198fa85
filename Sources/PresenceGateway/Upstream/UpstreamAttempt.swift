import FederationRouting
import SIPCore
import SIPEvents

/// One attempt of an upstream subscription: its first SUBSCRIBE, and the dialog that this creates.
///
///     none --begin--> asking --2xx, NOTIFY--> open --NOTIFY of another branch, before any other--> open (that branch)
///                       | ^                     |
///                       | +-- 3xx, challenge    +--lost--> none
///                       +-- a 2xx without a usable Contact: the first NOTIFY creates the dialog
struct UpstreamAttempt {
    /// State of the attempt.
    enum Phase: Equatable {
        case none
        /// The first SUBSCRIBE, and the Request-URIs that redirected it (RFC 3261 8.1.3.4).
        case asking(SIPRequest, redirectedFrom: Set<String>)
        case open(Dialog)
    }

    /// From tag.
    private(set) var localTag = ""
    private(set) var callID = ""
    private(set) var phase = Phase.none
    /// Whether the route set is that of a NOTIFY (RFC 6665 4.4.1) rather than that of the 200.
    private(set) var hasNotified = false
    /// Routing failure of the last SUBSCRIBE; nil: it was sent.
    private(set) var routingFailure: HopFailure?

    init() {}

    /// Resumes the attempt of an earlier process.
    /// - Parameter dialog: nil: the attempt was lost.
    init(resuming localTag: String, callID: String, dialog: Dialog?, hasNotified: Bool) {
        self.localTag = localTag
        self.callID = callID
        phase = dialog.map { .open($0) } ?? .none
        self.hasNotified = hasNotified
    }

    var dialog: Dialog? {
        if case .open(let dialog) = phase { dialog } else { nil }
    }

    /// First SUBSCRIBE; nil once there is a dialog.
    var request: SIPRequest? {
        if case .asking(let request, _) = phase { request } else { nil }
    }

    /// Request-URIs that redirected the first SUBSCRIBE.
    var redirectedFrom: Set<String> {
        if case .asking(_, let visited) = phase { visited } else { [] }
    }

    // MARK: requests

    /// Starts an attempt with identifiers of its own; its SUBSCRIBE follows by ``ask(_:)``.
    mutating func begin(localTag: String, callID: String) {
        self.localTag = localTag
        self.callID = callID
        phase = .none
        hasNotified = false
    }

    /// Notes the first SUBSCRIBE, or its repetition with credentials or at another target; ignored in a dialog.
    mutating func ask(_ request: SIPRequest) {
        if dialog == nil { phase = .asking(request, redirectedFrom: redirectedFrom) }
    }

    /// Notes the Request-URIs that redirected the first SUBSCRIBE; ignored in a dialog.
    mutating func redirected(from visited: Set<String>) {
        if case .asking(let request, _) = phase { phase = .asking(request, redirectedFrom: visited) }
    }

    /// Makes a SUBSCRIBE within the dialog; nil: there is no dialog.
    mutating func makeRequest(maxForwards: Int) -> SIPRequest? {
        guard case .open(var dialog) = phase else { return nil }
        defer { phase = .open(dialog) }
        return dialog.makeRequest(.subscribe, maxForwards: maxForwards)
    }

    /// Numbers a SUBSCRIBE within the dialog that is repeated with credentials; nil: there is no dialog.
    mutating func nextNumber() -> UInt32? {
        guard case .open(var dialog) = phase else { return nil }
        defer { phase = .open(dialog) }
        return dialog.nextNumber()
    }

    /// Notes that the SUBSCRIBE was not sent because its next hop was not located.
    mutating func notRouted(_ failure: HopFailure) { routingFailure = failure }

    /// Notes a SUBSCRIBE that was sent and not answered.
    mutating func notAnswered() { routingFailure = nil }

    // MARK: messages

    /// Handles the final response to a SUBSCRIBE.
    mutating func receive(_ response: SIPResponse) {
        routingFailure = nil
        guard response.status.isSuccess else { return }
        switch phase {
        case .none: break
        case .asking(let request, _):
            if let dialog = Dialog(request: request, response: response) { phase = .open(dialog) }
        case .open(var dialog):
            dialog.receive(response)
            phase = .open(dialog)
        }
    }

    /// Notes that the 200 carried a state (MS-SIP 3.4.5.1).
    mutating func piggybacked() { hasNotified = true }

    /// Checks the dialog and the CSeq of a NOTIFY; the first one may create the dialog or choose its branch (RFC 3856 6.8).
    /// - Returns: whether the dialog has changed in more than its CSeq.
    /// - Throws: the refusal of the NOTIFY.
    mutating func receiveNotify(_ request: SIPRequest) throws(Refusal) -> Bool {
        let isFirst = !hasNotified
        switch phase {
        case .none: throw .noSuchDialog
        case .asking(let subscribe, _):
            guard let dialog = Dialog(subscribe: subscribe, notify: request) else { throw .noSuchDialog }
            phase = .open(dialog)
            hasNotified = true
            return true
        case .open(var dialog):
            if DialogID(incoming: request) == dialog.id {
                let decision = dialog.receive(request)
                phase = .open(dialog)
                if case .reject(let status) = decision { throw Refusal(status, "RFC 3261 12.2.2: CSeq is out of order") }
                if isFirst {
                    dialog.adoptRouteSet(of: request)
                    phase = .open(dialog)
                }
            } else {
                // Forked SUBSCRIBE: the dialog that notifies first is kept, the others are refused (RFC 3856 6.8).
                guard isFirst, let branch = dialog.branch(of: request) else { throw .noSuchDialog }
                phase = .open(branch)
            }
            hasNotified = true
            return isFirst
        }
    }

    /// Notes the loss of the dialog; a first SUBSCRIBE without a dialog is kept, because its response may still come.
    mutating func lost() {
        if case .open = phase { phase = .none }
    }
}
