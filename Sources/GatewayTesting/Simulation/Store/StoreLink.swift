import PresenceGateway
import SIPCore

/// Path of the requests of one gateway process to its store, and of the results back.
package protocol StoreLink: AnyObject {
    /// Receives each result, in the order of the requests.
    var receiver: ((StoreResult, Instant) -> Void)? { get set }
    /// Sends a request.
    func send(_ request: StoreRequest)
    /// Ends the link with its process: no result arrives any more, requests under way may still be carried out.
    func end()
}
