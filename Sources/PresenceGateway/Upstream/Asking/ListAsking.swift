import PresenceDocuments
import SIPCore

/// SUBSCRIBEs to a resource list (RFC 4662 4.1, RFC 5367 4).
extension UpstreamSubscription {
    func describeList(_ request: inout SIPRequest) {
        request.headers.append(.supported, "eventlist")
        // The list is part of the first SUBSCRIBE only and does not change later (RFC 5367 4).
        guard list?.isKept == false, request.headers.toTag == nil else { return }
        request.headers.append(.require, ListRequest.tag)
        request.headers.set("Content-Disposition", ListRequest.disposition)
        request.headers.set(.contentType, ListRequest.contentType)
        request.body = ResourceListsDocument(entries: resources.filter(\.hasSink).map(\.uri.description)).encode()
    }
}
