import ArgumentParser
import PresenceDocuments
import SIPCore

/// Presence format that `watch` requests.
enum WatchFormat: String, Hashable, Sendable, CaseIterable, ExpressibleByArgument {
    case pidf, categories, msrtc, xpidf

    /// Categories that an enhanced client requests to show a contact.
    static let shownCategories: [CategoryName] = ["state", "note", "contactCard", "services", "calendarData"]

    /// Adds the headers and the body of the format (MS-PRES 3.4.5.1.1, 3.7.5.1; RFC 3856 6.5).
    func complete(_ request: inout SIPRequest, presentity: String) {
        switch self {
        case .pidf: request.headers.set(.accept, "application/pidf+xml")
        case .xpidf: request.headers.set(.accept, "application/xpidf+xml")
        case .msrtc: request.headers.set(.accept, "text/xml+msrtc.pidf")
        case .categories:
            request.headers.set(.accept, "application/msrtc-event-categories+xml, application/rlmi+xml, multipart/related")
            request.headers.set(.supported, "eventlist, ms-piggyback-first-notify")
            let action = BatchSubscribeAction(
                name: .subscribe, id: "1", resources: [BatchSubscribeResource(uri: presentity)], categories: Self.shownCategories)
            request.headers.set(.contentType, BatchSubscribeDocument.mediaType.description)
            request.body = BatchSubscribeDocument(uri: presentity, name: "", actions: [action]).encoded()
        }
    }
}
