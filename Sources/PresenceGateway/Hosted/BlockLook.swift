import EnhancedPresence

/// What a blocked watcher is shown: a presentity of its own, in place of the one that blocks it (MS-PRES 1.3.1.3.4, 4.4.2).
///
///     watcher in container 32000 --never shown presence--> neverPublished: what is published for every user, and nothing else
///                                --shown presence-------> signedOff(n):   as it was when the watcher was blocked, signed off then
///
/// Either is a ``HostedPresentity`` beside the true one, with watchers, deadlines and server publications of its own. Every format is made
/// from it by the code that serves all presentities, and nothing that the true one does reaches it: so a block looks, in octets and
/// moments, like silence or like a sign-off. `docs/blocking.md` says what that promises.
enum BlockLook: Hashable, Sendable {
    /// The user never published.
    case neverPublished
    /// The user signed off; numbered among the sign-offs of the presentity.
    case signedOff(UInt32)

    /// The key of the record in the table of presentities: that of the user, and more. It sorts right behind the true record, and is the
    /// key of no user, because no URI has a space.
    func key(of user: String) -> String {
        switch self {
        case .neverPublished: user + " never published"
        case .signedOff(let number): "\(user) signed off \(number)"
        }
    }
}
