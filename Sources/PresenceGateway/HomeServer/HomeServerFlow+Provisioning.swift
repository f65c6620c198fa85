import PresenceDocuments
import SIPCore

/// Provisioning groups for clients, each sent empty so that clients keep their own settings.
extension HomeServerFlow {
    func provisioningGroups(_ request: SIPRequest) throws(Refusal) -> [String] {
        guard !request.body.isEmpty else {
            throw .badRequest("vnd-microsoft-provisioning-v2: the request names its groups in a body", errorID: 4001)
        }
        guard request.headers.contentType?.essence == ProvisionGroupListDocument.mediaType.description else {
            throw .unsupportedMediaType(accept: ProvisionGroupListDocument.mediaType.description)
        }
        let document: ProvisioningGroupListDocument
        do {
            document = try ProvisioningGroupListDocument(parsing: request.body, limits: documentLimits)
        } catch {
            throw .badRequest("vnd-microsoft-provisioning-v2: \(error)", errorID: 4001)
        }
        guard document.groups.count <= Self.provisioningGroupLimit else {
            throw Refusal(.requestEntityTooLarge, "vnd-microsoft-provisioning-v2: more than \(Self.provisioningGroupLimit) groups")
        }
        return document.groups
    }

    private static let provisioningGroupLimit = 64
}
