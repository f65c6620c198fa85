import PresenceDocuments
import FederationRouting
import SIPCore

/// The body of a notification or of a 200 with piggybacked state.
struct NotificationBody: Equatable {
    var contentType: String
    var bytes: [UInt8]

    /// Builds the list form (MS-PRES 2.2.2.4.2): RLMI with the rejected resources, then one categories document (`parts`) per presentity.
    static func list(
        watcher: SIPURI, rejected: [WatcherDialog.RejectedResource], parts: [[UInt8]], boundary: String
    ) -> NotificationBody {
        var list = RLMIDocument(uri: watcher.description, version: 0, fullState: false)
        for resource in rejected {
            let uri = (resource.entity ?? resource.uri).description
            list.resources.append(
                RLMIResource(
                    uri: uri,
                    instances: [
                        RLMIInstance(
                            id: "0", state: .init(resource.state), reason: resource.reason, cid: withoutScheme(uri),
                            statusCode: resource.statusCode, poolFqdn: resource.poolFqdn)
                    ]))
        }
        var mime: [MIMEPart] = []
        mime.reserveCapacity(parts.count + 1)
        var root = MIMEPart(body: list.encode())
        root.headers.append("Content-Transfer-Encoding", "binary")
        root.headers.append(.contentID, "resourceList")
        root.headers.append(.contentType, WatcherFormat.rlmiType)
        mime.append(root)
        for part in parts {
            var entry = MIMEPart(body: part)
            entry.headers.append("Content-Transfer-Encoding", "binary")
            entry.headers.append(.contentType, WatcherFormat.categoriesType)
            mime.append(entry)
        }
        let multipart = MIMEMultipart(
            subtype: "related", boundary: boundary, parts: mime,
            parameters: SIPParameters([
                .init("type", WatcherFormat.rlmiType, isQuoted: true), .init("start", "resourceList", isQuoted: false),
            ]))
        let (type, bytes) = multipart.serialized()
        return NotificationBody(contentType: type.description, bytes: bytes)
    }

    /// The bare form of MS-PRES 2.2.2.4.3, one publisher per notification.
    static func single(_ part: [UInt8]) -> NotificationBody {
        NotificationBody(contentType: WatcherFormat.categoriesType, bytes: part)
    }

    /// The URI without its scheme, as `cid` requires (MS-PRES 3.4.5.1.3.1).
    private static func withoutScheme(_ uri: String) -> String {
        uri.hasPrefix("sip:") ? String(uri.dropFirst(4)) : uri
    }
}
