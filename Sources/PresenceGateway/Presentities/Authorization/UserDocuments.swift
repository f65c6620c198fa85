import PresenceDocuments
import PresenceRules

/// Documents of a user that decide which watchers see its presence (RFC 5025, RFC 4826).
package struct UserDocuments: Sendable {
    /// Presence rules of the user, of either application usage.
    package var rules: PresenceRulesDocument
    /// Resource lists that the rules may name.
    package var lists: ListDocuments

    package init(rules: PresenceRulesDocument, lists: ListDocuments = ListDocuments()) {
        self.rules = rules
        self.lists = lists
    }
}
