import PresenceDocuments
import PresenceRules
import SIPCore
import SIPEvents
import XCAP

/// Lists that users of this shard keep by XCAP.
extension PresenceSources: KeptLists {
    func owner(ofService key: String) -> String? { context.serviceURIs.owner(of: key) }

    func members(ofService key: String, of owner: String) throws(Refusal) -> [String] {
        let configuration = configuration
        let document = flows.documents.document(auid: ApplicationUsage.rlsServices.auid, name: "index", of: owner)
        let found = document.flatMap { document in
            RLSServicesIndex.service(in: document.octets) { uri in
                SIPURI(uri).map { configuration.canonical($0).aorKey == key } ?? false
            }
        }
        guard let service = found else { throw Refusal(.notFound, "RFC 4826 4.4.1: there is no such list service") }
        guard service.packages.isEmpty || service.packages.contains(EventToken.presence) else {
            throw Refusal(
                .badEvent, "RFC 4826 4.2: the list service is for other event packages",
                headers: [Refusal.Header(.allowEvents, service.packages.joined(separator: ", "))])
        }
        var lists = flows.decidingDocuments.lists(of: owner)
        var anchor = "resource-lists/users/\(owner)/\(Self.inlineDocument)/~~/resource-lists/list"
        switch service.members {
        case .reference(let uri): anchor = uri
        case .list(let octets):
            do {
                lists.add(
                    try ResourceListsDocument.decode(octets), at: "resource-lists/users/\(owner)/\(Self.inlineDocument)")
            } catch {
                throw Refusal(.notFound, "RFC 4826 4.2: the list of the service cannot be read")
            }
        }
        do throws(ListFailure) {
            return try lists.members(of: anchor)
        } catch {
            switch error {
            case .tooManyEntries, .tooManyReferences, .tooManyLists:
                throw Refusal(.requestEntityTooLarge, "RFC 4826 4: \(error)", errorID: 2012)
            case .unsupportedURI, .otherRoot, .noDocument, .notOneElement:
                throw Refusal(.notFound, "RFC 4826 4: the list of the service: \(error)")
            }
        }
    }

    /// Name of the document that stands for the list within a service.
    private static let inlineDocument = "isthmus.list-of-service"
}
