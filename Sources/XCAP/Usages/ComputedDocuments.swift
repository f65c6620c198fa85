import PresenceDocuments
import XMLCore

extension ApplicationUsage {
    /// Server capabilities (RFC 4825 12): `xcap-caps/global/index`, computed.
    package static let capabilities = ApplicationUsage(
        auid: "xcap-caps", mediaType: "application/xcap-caps+xml", defaultNamespaces: [XMLNamespace.xcapCapabilities.uri],
        namespaces: [XMLNamespace.xcapCapabilities.uri], userDocuments: .none, globalDocuments: .only("index"), isReadOnly: true
    ) { (_, _) throws(XCAPConflict) in }

    /// Directory of the documents of a user (OMA): `org.openmobilealliance.xcap-directory/users/XUI/directory.xml`, computed.
    public static let directory = ApplicationUsage(
        auid: "org.openmobilealliance.xcap-directory", mediaType: "application/vnd.oma.xcap-directory+xml",
        defaultNamespaces: [XMLNamespace.xcapDirectory.uri], namespaces: [XMLNamespace.xcapDirectory.uri],
        userDocuments: .only("directory.xml"), globalDocuments: .none, isReadOnly: true
    ) { (_, _) throws(XCAPConflict) in }
}

/// Document `xcap-caps/global/index` (RFC 4825 12): what the server supports.
package enum XCAPCapabilities {
    /// Computes the document; usages and namespaces keep their order.
    package static func document(of usages: [ApplicationUsage] = ApplicationUsage.all, extensions: [String] = []) -> [UInt8] {
        var namespaces: [String] = []
        for namespace in usages.flatMap(\.namespaces) where !namespaces.contains(namespace) { namespaces.append(namespace) }
        var writer = XMLWriter(capacity: 1_024)
        writer.start("xcap-caps")
        writer.namespace("", .xcapCapabilities)
        for (list, item, values) in [
            ("auids", "auid", usages.map(\.auid)), ("extensions", "extension", extensions), ("namespaces", "namespace", namespaces),
        ] {
            writer.start(list)
            for value in values { writer.element(item, value) }
            writer.end()
        }
        return writer.finish()
    }
}

/// Directory of the documents of one user, in the OMA format `xcap-directory`.
package enum XCAPDirectory {
    /// Document of the user.
    package struct Entry: Hashable, Sendable {
        /// Path of the document.
        package var document: DocumentSelector
        /// Its entity-tag.
        package var tag: EntityTag
        /// Moment of the last change; nil when unknown.
        package var lastModified: DateTime?
        /// Octets of the document; nil when unknown.
        package var size: Int?

        /// Creates an entry; by default without moment and size.
        package init(document: DocumentSelector, tag: EntityTag, lastModified: DateTime? = nil, size: Int? = nil) {
            self.document = document
            self.tag = tag
            self.lastModified = lastModified
            self.size = size
        }
    }

    /// Computes the document: one folder for each AUID, in the order of the first entry of each.
    package static func document(of entries: [Entry], root: XCAPRoot) -> [UInt8] {
        var auids: [String] = []
        var folders: [String: [Entry]] = [:]
        for entry in entries {
            if folders[entry.document.auid] == nil { auids.append(entry.document.auid) }
            folders[entry.document.auid, default: []].append(entry)
        }
        var writer = XMLWriter(capacity: 1_024)
        writer.start("xcap-directory")
        writer.namespace("", .xcapDirectory)
        for auid in auids {
            writer.start("folder")
            writer.attribute("auid", auid)
            for entry in folders[auid] ?? [] {
                writer.start("entry")
                writer.attribute("uri", "\(root)/\(entry.document)")
                writer.attribute("etag", entry.tag.value)
                writer.attribute("last-modified", ifPresent: entry.lastModified?.text)
                writer.attribute("size", ifPresent: entry.size.map(String.init))
                writer.end()
            }
            writer.end()
        }
        return writer.finish()
    }
}
