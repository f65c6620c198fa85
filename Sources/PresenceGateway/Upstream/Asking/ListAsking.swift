import PresenceDocuments
import SIPCore

/// SUBSCRIBEs to a resource list (RFC 4662 4.1, RFC 5367 4).
extension UpstreamSubscription {
    func describeList(_ request: inout SIPRequest) {
        request.headers.append(.supported, "eventlist")
        // A list comes with the first SUBSCRIBE only, and stays as it is (RFC 5367 4).
        guard list?.isKept == false, request.headers.toTag == nil else { return }
        request.headers.append(.require, ListRequest.tag)
        request.headers.set("Content-Disposition", ListRequest.disposition)
        request.headers.set(.contentType, ListRequest.contentType)
        request.body = ResourceListsDocument(entries: resources.filter(\.hasSink).map(\.uri.description)).encode()
    }
}
