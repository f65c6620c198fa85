import EnhancedPresence
import PresenceDocuments
import SIPCore

/// Messages between the shard of a watcher and the shard of a hosted presentity: values only, which refer to records by keys and ids.
///
///     watcher's shard  --watch--> presentity's shard --views, refused--> watcher's shard
///                                        |             (a change: one view for all watches of a shard that see it)
///                      --unwatch-------->+--rejected, ended-->
package enum WatchMessage: Sendable {
    case watch(Watch)
    case unwatch(WatchID)
    case views(SharedView)
    /// The watch is refused, and does not exist.
    case refused(WatchID, Refusal)
    /// The presentity's rules block the watcher; the watch does not exist any more.
    case rejected(WatchID)
    /// The presentity does not exist any more; nor does the watch.
    case ended(WatchID)
}

/// Names a watch of a presentity by a dialog of another shard; not used twice, so that a late view of an earlier watch finds nothing.
package struct WatchID: Hashable, Sendable {
    /// Shard of the watcher.
    let shard: Int
    let number: UInt64

    /// The id among the dialogs of a presentity's watchers; no tag contains a space.
    var tag: String { "\(shard) \(number)" }
}

/// A watcher's order: what it wants to see of a presentity of another shard.
package struct Watch: Sendable {
    package let id: WatchID
    /// Canonical URI of the presentity.
    let presentity: SIPURI
    let key: String
    /// The URI as the watcher wrote it, used in its documents.
    let entity: SIPURI
    let categories: [CategoryName]
    let format: WatcherFormat
    let watcher: WatcherIdentity
    /// Whether the watcher asked for privacy of its identity (RFC 3325 9.3).
    let hidesIdentity: Bool
    /// Entry for the presentity's subscriber list; nil: none.
    let subscriber: NewSubscriber?
    /// Whether a SUBSCRIBE waits for the answer, so that it can be refused.
    let isRequest: Bool
    /// Whether the SUBSCRIBE is a poll.
    let isPoll: Bool
}

/// A watcher that is added to a presentity's subscriber list (MS-PRES 1.3.1.4).
struct NewSubscriber: Sendable {
    let watcher: WatcherIdentity
    let displayName: String?
    let subscription: SubscriberList.Subscription
}

/// Names a view of a presentity among those that its shard has sent; not used for another view, so that equal names mean equal content.
struct ViewID: Hashable, Sendable {
    /// Shard of the presentity.
    let shard: Int
    let number: UInt64
}

/// One view of a presentity, for all watches of one shard that see it.
package struct SharedView: Sendable {
    /// The view without the caches of ``CategoryView`` and ``DocumentView``, which belong to one shard.
    enum Content: Sendable {
        case categories(uri: String, CategoryMerge)
        case document([UInt8])
    }

    package struct Addressee: Sendable {
        package var watch: WatchID
        /// Number among the views of the watch, from 1; a view with a lower number is older.
        package var sequence: UInt64
        /// Whether the view hides a change from a watcher that was never shown presence (``BlockLook/neverPublished``).
        let isHidden: Bool
        /// Whether the watcher is pending; the view shows nothing of the presentity then.
        let isPending: Bool
    }

    let id: ViewID
    let content: Content
    package var addressees: [Addressee]
}

extension SharedView.Content {
    init(_ presence: RenderedPresence) {
        switch presence {
        case .categories(let view): self = .categories(uri: view.uri, view.merge)
        case .document(let view): self = .document(view.bytes)
        }
    }

    /// The view with caches of its own.
    var presence: RenderedPresence {
        switch self {
        case .categories(let uri, let merge): .categories(CategoryView(uri: uri, merge))
        case .document(let bytes): .document(DocumentView(bytes))
        }
    }
}
