import EnhancedPresence
import PresenceDocuments
import SIPCore

/// Kinds of SERVICE by Content-Type (MS-SIP 3.6).
enum ServiceKind: String, CaseIterable {
    /// Publication of categories (MS-PRES 3.2.5.1.2).
    case categoryPublish = "application/msrtc-category-publish+xml"
    /// Container memberships (MS-PRES 3.5.5).
    case setContainerMembers = "application/msrtc-setcontainermembers+xml"
    /// Acknowledged subscribers (MS-PRES 3.6.5.1).
    case setSubscribers = "application/msrtc-presence-setsubscriber+xml"
    /// Delegates (MS-PRES 3.9.5.1).
    case setDelegates = "application/msrtc-setdelegate+xml"
    /// Contacts, groups, access control (MS-SIP 2.2.4.2).
    case operation = "application/soap+xml"

    static let accepted = allCases.map(\.rawValue).joined(separator: ", ")
}

/// A SERVICE about a user of a hosted domain, after the checks that all kinds share.
struct ServiceRequest {
    let request: SIPRequest
    let transaction: ServerTransactionID?
    let flow: Flow
    let parties: RequestScreening.Parties
    /// The publishing endpoint; counts as registered if its domain requires no registration.
    let sender: PublishingEndpoint
    /// Whether the endpoint is registered, even if its domain does not require it.
    let isRegistered: Bool
}

extension Refusal {
    init(_ refusal: EnhancedPresenceRefusal) {
        self.init(
            SIPStatus(rawValue: refusal.status), refusal.diagnostic?.reason ?? refusal.message,
            errorID: refusal.diagnostic.map { UInt32(clamping: $0.id) },
            body: refusal.fault.map { Body(contentType: WatcherFormat.faultType, bytes: $0.encoded()) })
    }
}
