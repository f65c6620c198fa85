import PresenceDocuments
import PresenceRules
import SIPCore
import XCAP

/// Documents that decide about the watchers of users of this shard: those that users keep by XCAP, else those of the configuration.
///
///     configuration ---------------+
///                                  +--> rules and lists of a user --> Presentities: its watchers are decided about again
///     XCAP, once they are stored --+
///
/// Rules and lists are chosen apart: a user with lists by XCAP and rules of the configuration has both.
final class DecidingDocuments: FlowsPart, DocumentObserver {
    private var configured: [String: UserDocuments] = [:]

    /// Replaces the documents that the configuration has of a user; nil: none. The caller reviews the user's watchers.
    func configure(_ documents: UserDocuments?, of user: String) {
        guard place.has(user) else { return }
        configured[user] = documents
        flows.presentities.replace(effective(of: user), of: user)
    }

    func documentChanged(auid: String, name: String, of user: String, at now: Instant) {
        let isList = auid == ApplicationUsage.resourceLists.auid
        if isList || auid == HomeDirectories.Place.presenceRules.auid {
            flows.presentities.use(effective(of: user), of: user, at: now)
        }
        if isList || auid == ApplicationUsage.rlsServices.auid { flows.presenceSubscriptions.keptListsChanged(of: user, at: now) }
    }

    func documentsRestored(of user: String) { flows.presentities.replace(effective(of: user), of: user) }

    /// The documents that decide; nil: there are no rules.
    private func effective(of user: String) -> UserDocuments? {
        let given = configured[user]
        guard let rules = keptRules(of: user) ?? given?.rules else { return nil }
        return UserDocuments(rules: rules, lists: lists(of: user))
    }

    /// The ruleset of a user with changes that are not stored yet; nil: there is none.
    func currentRules(of user: String) -> [UInt8]? {
        flows.documents.currentRules(of: user) ?? configured[user].map { $0.rules.encode() }
    }

    /// Resource lists of a user.
    func lists(of user: String) -> ListDocuments {
        let kept = flows.documents.documents(auid: ApplicationUsage.resourceLists.auid, of: user)
        guard !kept.isEmpty else { return configured[user]?.lists ?? ListDocuments(root: configuration.xcapRoot) }
        var lists = ListDocuments(root: configuration.xcapRoot)
        for document in kept {
            // An unreadable list is one that does not exist: its rules match no watcher.
            guard let read = try? ResourceListsDocument.decode(document.octets) else { continue }
            lists.add(read, at: "\(document.auid)/users/\(user)/\(document.name)")
        }
        return lists
    }

    /// The rules that the user keeps. Rules that cannot be read, for example because a limit was lowered, block every watcher: to ignore
    /// them could show what they hide.
    private func keptRules(of user: String) -> PresenceRulesDocument? {
        let place = HomeDirectories.Place.presenceRules
        guard let document = flows.documents.document(auid: place.auid, name: place.name, of: user) else { return nil }
        do {
            return try PresenceRulesDocument.decode(document.octets)
        } catch {
            log(.error, "presence rules cannot be read; every watcher is blocked", ["presentity": user, "problem": "\(error)"])
            return PresenceRulesDocument(rules: [PresenceRule(id: "unreadable", handling: .block)])
        }
    }
}
