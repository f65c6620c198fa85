import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents
import XMLCore

/// Inputs and actions of a relayed publication of an enterprise domain.
extension CategoryBridge {
    /// Surroundings of an input.
    struct Environment {
        var now: Instant
        /// Whether the user's domain accepts publications from this node.
        var isRoutable: Bool
        /// Minimum lifetime of instances in seconds, so that short lifetimes do not cause frequent requests.
        var leastLife: Int
        /// Applies a PUBLISH to the entity-tags.
        var receive: (SIPRequest, inout PublicationTable) throws(Refusal) -> Outcome
        /// Reads a published document.
        var read: ([UInt8], _ number: UInt64, _ until: Instant) throws(Refusal) -> Source
        /// Composes the sources into instances, in the form for a home server that computes states, or for one that does not.
        var compose: ([String: Source], _ homeComputesState: Bool) -> Composition
    }

    /// Response of the home server to a SERVICE.
    enum Answer: Equatable {
        /// - Parameter computesState: whether the returned containers have a state that the home server computed.
        case accepted(CategoriesDocument?, computesState: Bool)
        case conflict(FaultDocument?)
        /// 408, 480, 5xx, or none; `retryAfter` in seconds.
        case unavailable(retryAfter: Int?)
        case refused(status: Int)
    }

    /// Reason for the refusal of a PUBLISH.
    enum RefusalCause: Equatable {
        case request(Refusal)
        case homeServer(status: Int)
        /// The home server is asked again after `retryAfter` seconds.
        case paused(retryAfter: Int)
        case timeout
        case shutdown
    }

    enum Action: Equatable {
        /// SERVICE.
        case publish(CategoryPublishDocument, attempt: UInt64)
        /// Acknowledge an applied PUBLISH, once it is stored (``CategoryBridge/changeStored()``).
        case acknowledge(Change)
        case refuse(Held, RefusalCause)
        /// The home server accepted, has other versions, refused, or computes states: counted and logged.
        case published
        case conflict(stale: Int)
        case refused(status: Int)
        case computesState
        /// The stored record has changed.
        case keep
    }
}
