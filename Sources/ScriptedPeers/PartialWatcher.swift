import PresenceDocuments
import SIPCore
import XMLCore

/// SIMPLE watcher that prefers partial PIDF (RFC 5262, RFC 5263) and maintains the resulting presence document.
package final class PartialWatcher: ScriptedWatcher {
    private var document: [UInt8]?
    private var version: UInt32?
    /// Number of received difference documents.
    package private(set) var differences = 0

    override func dress(_ request: inout SIPRequest) {
        request.headers.append(.accept, "application/pidf-diff+xml, application/pidf+xml;q=0.5")
        if request.headers.toTag == nil { (document, version) = (nil, nil) }
    }

    override func read(_ body: [UInt8], _ contentType: MediaType?) -> ObservedPresence? {
        guard contentType?.essence == "application/pidf-diff+xml" else { return super.read(body, contentType) }
        guard let partial = try? PartialPIDFDocument(body), let number = partial.version else {
            fault("a partial document that cannot be read, or without version (RFC 5263 4.4)")
            return nil
        }
        if case .difference = partial.content {
            differences += 1
            if version.map({ number != $0 + 1 }) ?? true {
                fault("difference \(number) after \(version.map(String.init) ?? "nothing") (RFC 5263 4.4)")
            }
        }
        guard let whole = try? partial.document(after: document ?? []) else {
            fault("a difference that cannot be applied (RFC 5262 4)")
            return nil
        }
        (document, version) = (whole, number)
        return super.read(whole, nil)
    }
}
