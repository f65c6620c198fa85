import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// Relays what enterprise clients of a user of a simple domain publish with SERVICE (MS-PRES 3.2) to that domain's compositor as one
/// publication (RFC 3903 4).
///
///     SERVICE --> instances, versions, lifetimes --view of a watcher there--> PIDF --PUBLISH--> compositor
///        200 <-- the compositor accepted, or the wait ended: the state is kept, and PUBLISH is repeated until accepted
///        refusal <-- the compositor refused for good: the change is undone
///
/// The instances and their versions are kept here: for its clients, this gateway is the user's presence server.
final class PIDFBridge {
    let key: String
    let uri: SIPURI
    /// Names the bridge to the kernel; nil: it has no timer and sent no request.
    var ticket: Ticket?
    /// The current instances.
    var enhanced: EnhancedPresentity
    /// The instances acknowledged to clients, restored after a refusal; equal to ``enhanced`` unless requests are held.
    var accepted: EnhancedPresentity
    var client: PublicationClient
    /// The document to publish; nil: nothing.
    var document: [UInt8]?
    /// Digest of the compositor's document; nil: none, or unknown.
    var acceptedDigest: UInt64?
    /// Incremented with every change of ``document``.
    var generation: UInt64 = 0
    /// The document of the outstanding request.
    var sent: Sent?
    /// Number of the newest request; responses to earlier ones are ignored.
    var attempt: UInt64 = 0
    /// SERVICE requests that wait for the compositor.
    var held: [Held] = []
    /// Endpoints without a connection, with the time by which they must return.
    var leaving: [String: Instant] = [:]
    /// Time of the next attempt after a refusal or a restart.
    var retryAt: Instant?
    var dialogContext = DialogContext()

    struct Sent {
        var generation: UInt64
        var digest: UInt64?
    }

    struct Held {
        var request: SIPRequest
        var transaction: ServerTransactionID?
        /// The 200 with the committed versions.
        var response: SIPResponse
        /// The instances after the request, and the generation of the document that shows them.
        var enhanced: EnhancedPresentity
        var generation: UInt64
        var until: Instant
    }

    /// Maximum number of waiting SERVICE requests of one user; more are refused with 503.
    static let heldLimit = 32

    init(key: String, uri: SIPURI, enhanced: EnhancedPresentity, client: PublicationClient) {
        self.key = key
        self.uri = uri
        self.enhanced = enhanced
        accepted = enhanced
        self.client = client
    }

    /// Whether nothing is published, and nothing remains to be removed at the compositor.
    var isIdle: Bool { !isPublished && client.isIdle && held.isEmpty }

    /// Whether an instance published by a client is live; computed instances alone do not count.
    var isPublished: Bool { enhanced.pairs.contains { enhanced.instances(of: $0).contains { !$0.isComputed } } }

    /// Whether the compositor has the current document.
    var isShown: Bool { acceptedDigest == document.map(DialogContext.digest) }

    /// Whether the compositor has the wanted state, and no request is outstanding.
    var isSettled: Bool { isShown && !client.isAsking && client.isWanted == (document != nil) }

    /// Applies a change to the current instances, the acknowledged ones, and those of held requests.
    func forEachStanding(_ change: (inout EnhancedPresentity) -> Void) {
        change(&enhanced)
        change(&accepted)
        for index in held.indices { change(&held[index].enhanced) }
    }

    /// UUIDs of the endpoints on which a published instance depends, in lower case.
    var endpoints: Set<String> {
        Set(
            enhanced.pairs.flatMap { enhanced.instances(of: $0) }.compactMap {
                $0.expireType == .endpoint ? $0.endpointID?.lowercased() : nil
            })
    }

    var nextDeadline: Instant? {
        let byTime = enhanced.nextDeadline.map { Instant($0) }
        return [byTime, client.nextDeadline, held.map(\.until).min(), leaving.values.min(), retryAt].compactMap(\.self).min()
    }

    // MARK: published document

    /// Elements for the compositor. Each category is taken as colleagues see it, because the compositor's domain decides about its own
    /// watchers; if nothing is published for colleagues, as a watcher in the domain's network would see it. Containers for smaller groups,
    /// the user or blocked watchers are ignored. legacyInterop replaces a missing state (MS-PRES 3.7.5.1).
    func shown(to network: DomainNetwork) -> [CategoryElement] {
        guard isPublished else { return [] }
        func identity(_ network: DomainNetwork) -> WatcherIdentity {
            WatcherIdentity(uri: "sip:anonymous.invalid", network: SourceNetwork(rawValue: network.rawValue))
        }
        let watcher = identity(network)
        let names = UpstreamSubscription.standardCategories
        let colleagues = enhanced.view(of: names, for: identity(.sameEnterprise)).categories
        let others = enhanced.view(of: names, for: watcher).categories
        var elements = zip(colleagues, others).flatMap { inside, outside in
            let isForColleagues = inside.resolution.container.map { $0 != .default } ?? false
            return (isForColleagues && !inside.instances.isEmpty ? inside : outside).instances.map(\.watcherElement)
        }
        if !elements.contains(where: { $0.name == .state }), let legacy = enhanced.legacyInterop(for: watcher) {
            elements.append(legacy.watcherElement)
        }
        return elements.map { element in
            var element = element
            if let body = element.body, let read = try? body.read(as: element.name) { element.body = read }
            return element
        }
    }
}

/// Properties common to the upstream requests of a bridge.
struct DialogContext {
    var callID = ""
    var cSeq: UInt32 = 0
    var hopMarks = ""
    var maxForwards = 70
    /// Request-URIs that redirected the newest request (RFC 3261 8.1.3.4).
    var redirections: Set<String> = []

    /// Takes the loop markers and Max-Forwards of the newest client request.
    mutating func follow(_ loopMarkers: String, _ parties: RequestScreening.Parties) {
        hopMarks = loopMarkers
        maxForwards = parties.maxForwards
    }

    static func digest(_ document: [UInt8]) -> UInt64 {
        var digest = PresenceDigest()
        digest.add(document)
        return digest.value
    }
}
