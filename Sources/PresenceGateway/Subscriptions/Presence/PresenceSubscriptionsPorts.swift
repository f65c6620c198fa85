import EnhancedPresence
import FederationRouting
import SIPCore

/// Rights of watchers, and limits of partners and users.
protocol WatchAdmission: AnyObject {
    /// Checks that a watcher may watch a presentity.
    func checkRights(watcher: SIPURI, presentity: SIPURI) throws(Refusal)

    /// Checks the limits of the watcher's partner.
    /// - Parameter partner: partner that the presentities are counted for already; nil: none.
    func checkPartner(of watcher: SIPURI, _ flow: Flow, watching keys: [String], countedFor partner: String?) throws(Refusal)

    /// Checks that the users of hosted domains exist; in a batch, missing users are rejected singly.
    func checkUsers(_ uris: [SIPURI], isBatch: Bool) throws(Refusal)

    /// Adds a watcher to the resource's subscriber list (MS-PRES 3.4.5.1.3, 3.7.5.3).
    /// - Throws: 413 if the list is full or the context too large.
    func noteSubscriber(
        _ request: SIPRequest, _ parties: RequestScreening.Parties, _ resource: CategoryRequest.Resource, _ format: WatcherFormat,
        isPoll: Bool, at now: Instant
    ) throws(Refusal)

    /// The watcher's entry for the resource's subscriber list; nil: none.
    func newSubscriber(
        _ request: SIPRequest, _ parties: RequestScreening.Parties, _ resource: CategoryRequest.Resource, _ format: WatcherFormat,
        isPoll: Bool
    ) -> NewSubscriber?

    /// Counts a presentity that a partner watches.
    func watch(_ presentity: String, by partner: String)

    /// Ends the count of a presentity that a partner watched.
    func unwatch(_ presentity: String, by partner: String)
}

/// Presentities of hosted domains as sources of watched resources.
protocol HostedSources: AnyObject {
    /// Whether a presentity is hosted on this node, but in another shard.
    func isElsewhere(_ presentity: SIPURI, _ key: String) -> Bool

    /// Whether the table of presentities has an entry, or room for one, as the watcher sees it.
    func hasRoom(for presentity: String, watchedBy watcher: WatcherIdentity, hidesIdentity: Bool) -> Bool

    /// Number of watchers of a presentity of this shard with dialogs in other shards.
    func remoteWatcherCount(of presentity: String) -> Int

    /// Whether there is a record of the key.
    func hasRecord(at key: String) -> Bool

    /// Whether presence rules may decide about a presentity of this shard.
    var decidesByRules: Bool { get }

    /// Checks that the rules of a presentity of this shard admit a watcher; the shard of another presentity checks itself.
    /// - Throws: 403 if they block it (RFC 5025 3.2.1).
    func checkAccess(
        of watcher: WatcherIdentity, hidesIdentity: Bool, to presentity: String, _ uri: SIPURI, at now: Instant
    ) throws(Refusal)

    /// Feeds a resource from the record that its watcher sees.
    func attachHosted(_ resource: WatchedResource, to watcher: WatcherDialog, at now: Instant)

    /// Ends the feeding of a resource.
    func detachHosted(_ resource: WatchedResource, from watcher: WatcherDialog)

    /// Composes the documents of a record that PUBLISH changed in this tick.
    func composePublished(at key: String)

    /// Renders the resource in the watcher's format; nil: its record is gone.
    func view(of resource: WatchedResource, for watcher: WatcherDialog, at now: Instant) -> (presence: RenderedPresence, isOwn: Bool)?

    /// Records that a watcher was shown presence, for the sign-off after a block (MS-PRES 1.3.1.3.4).
    func noteShown(_ rendered: RenderedPresence, of resource: WatchedResource, to watcher: WatcherDialog, at now: Instant)

    /// Renders the view of a notification sent now, with its derivation; changes nothing.
    func trace(_ resource: WatchedResource, for dialog: WatcherDialog, at now: Instant) -> (ViewExplanation, RenderedPresence)
}

/// Lists that users keep by XCAP (RFC 4826 4).
protocol KeptLists: AnyObject {
    /// Owner of the list service of a URI, by `aorKey`; nil: the URI names none.
    func owner(ofService key: String) -> String?

    /// URIs of the members of a list service, as written.
    /// - Throws: 404 if the service or its list does not exist, 413 if the list is too long, 489 if it is for other event packages.
    func members(ofService key: String, of owner: String) throws(Refusal) -> [String]
}

/// Presentities of other domains as sources of watched resources.
protocol RemoteSources: AnyObject {
    /// Whether the table of upstream subscriptions has room.
    var hasRoom: Bool { get }

    /// Feeds a resource by an upstream subscription, which is shared if the order is the same.
    func joinUpstream(
        _ resource: WatchedResource, of watcher: WatcherDialog, parties: RequestScreening.Parties, domain: DomainConfiguration,
        hop: NextHop, loopMarkers: String, isPoll: Bool, at now: Instant)

    /// Sends the requests that a dialog waits for.
    func startUpstreams(of watcher: WatcherDialog, at now: Instant)

    /// Starts the upstream subscription of a restored resource, paced by ``GatewayTiming/restorePace``.
    func startLater(_ resource: WatchedResource, at now: Instant)

    /// Requests the categories that a resource has gained.
    func widenUpstream(of resource: WatchedResource, at now: Instant)

    /// Ends the feeding of resources; subscriptions without other watchers end.
    func leaveUpstreams(_ resources: [WatchedResource], at now: Instant)

    /// Loop markers of a subscription, for operators.
    func hopMarks(of upstream: UpstreamSubscription) -> String
}
