import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// Inputs and actions of a relayed publication of a simple domain.
extension PIDFBridge {
    /// A SERVICE request, as the client sent it.
    struct Request {
        var request: SIPRequest
        var transaction: ServerTransactionID?
        var document: CategoryPublishDocument
        var sender: PublishingEndpoint
        /// The sender's endpoint, if its connection shows whether it is present.
        var endpoint: String?
        /// End of the time for which the request is held.
        var until: Instant
    }

    /// Surroundings of an input.
    struct Environment {
        var now: Instant
        /// Endpoints of the user with an open connection.
        var connected: Set<String>
        /// Network of the user's domain; nil: the domain is not configured any more, and the document stays.
        var network: DomainNetwork?
        /// Whether the user's domain accepts publications from this node.
        var isRoutable: Bool
        /// Pause after a refusal for which no client waits.
        var retryPause: TimeSpan
        /// Renders the elements for the compositor; nil: nothing to publish.
        var render: ([CategoryElement]) -> [UInt8]?
    }

    /// Reason for the refusal of a held request.
    enum RefusalCause: Equatable {
        case compositor(status: Int)
        case notStored
    }

    enum Action: Equatable {
        /// PUBLISH; a `body` of nil refreshes or removes the publication.
        case publish(ifMatch: EntityTag?, body: [UInt8]?, expires: Int, attempt: UInt64)
        /// Acknowledge a change that the compositor need not see, once it is stored (``PIDFBridge/changeStored()``).
        case accept(SIPResponse, ServerTransactionID?)
        case answer(SIPResponse, ServerTransactionID?)
        case refuse(SIPRequest, ServerTransactionID?, RefusalCause)
        /// The compositor accepted, will be asked later, or refused: counted and logged.
        case published
        case postponed(until: Instant)
        case refused(status: Int)
        /// The stored record has changed.
        case keep
    }
}
