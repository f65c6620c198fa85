import FederationRouting
import Foundation
import PresenceDocuments
import PresenceGateway
import PresenceRules
import Synchronization
import UserDirectory

extension ProgramConfiguration {
    /// Reads the presence rules and resource lists that entries of a directory file name, relative to that file.
    /// - Returns: Documents by the key of the user.
    /// - Throws: `ServiceFailure` with one line per mistake.
    package func loadDocuments(of state: DirectoryState) throws(ServiceFailure) -> [String: UserDocuments] {
        guard case .file(let path) = directory, case .known(let users) = state else { return [:] }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        var documents: [String: UserDocuments] = [:]
        var mistakes: [String] = []
        for user in users.users {
            guard let rules = user.rulesFile else { continue }
            guard domains[user.domain].map({ $0.hosted && $0.side == .simple }) == true else {
                mistakes.append("\(path): \(user.uri): `rules` is for users of hosted simple domains")
                continue
            }
            do throws(ServiceFailure) {
                var read = UserDocuments(rules: try Self.document(PresenceRulesDocument.self, rules, in: folder))
                if let lists = user.listsFile {
                    read.lists.add(
                        try Self.document(ResourceListsDocument.self, lists, in: folder), at: "resource-lists/users/\(user.uri)/index")
                }
                documents[user.key] = read
            } catch {
                mistakes += error.lines
            }
        }
        guard mistakes.isEmpty else { throw ServiceFailure(mistakes) }
        return documents
    }

    private static func document<Document: PresenceDocument>(
        _ type: Document.Type, _ path: String, in folder: URL
    ) throws(ServiceFailure) -> Document {
        let path = URL(fileURLWithPath: path, relativeTo: folder).path
        let bytes = try InputFile.read(path)
        do {
            return try Document.decode(bytes)
        } catch {
            throw ServiceFailure("\(path):\(error.position == nil ? " " : "")\(error)")
        }
    }
}

/// Users with documents that the configuration gave to the shards, so that a reload can take back those that are gone.
final class DocumentedUsers: Sendable {
    private let keys: Mutex<Set<String>>

    init(_ documents: [String: UserDocuments]) { keys = Mutex(Set(documents.keys)) }

    /// Replaces the users.
    /// - Returns: Documents of all users that had or have some; nil: the user has none any more.
    func replace(by documents: [String: UserDocuments]) -> [(user: String, documents: UserDocuments?)] {
        let former = keys.withLock { keys in
            defer { keys = Set(documents.keys) }
            return keys
        }
        return former.union(documents.keys).sorted().map { ($0, documents[$0]) }
    }
}
