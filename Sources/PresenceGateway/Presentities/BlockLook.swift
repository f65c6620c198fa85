import EnhancedPresence

/// The presentity shown to a blocked watcher in place of the one that blocks it (MS-PRES 1.3.1.3.4, 4.4.2).
///
///     watcher in container 32000 --never shown presence--> neverPublished: only what is published for every user
///                                --shown presence-------> signedOff(n):   the state at the block, signed off at that time
///
/// Either is a ``HostedPresentity`` beside the true one, with its own watchers, deadlines and server publications, rendered by the same
/// code in every format. No change of the true one reaches it, so in bytes and times a block looks like silence or like a sign-off.
/// `docs/blocking.md` lists the guarantees.
enum BlockLook: Hashable, Sendable {
    /// The user never published.
    case neverPublished
    /// The user signed off; the number identifies the sign-off within the presentity.
    case signedOff(UInt32)

    /// Key of the record in the table of presentities: the user's key and a suffix. It sorts after the true record and is the key of no
    /// user, because no URI contains a space.
    func key(of user: String) -> String {
        switch self {
        case .neverPublished: user + " never published"
        case .signedOff(let number): "\(user) signed off \(number)"
        }
    }
}
