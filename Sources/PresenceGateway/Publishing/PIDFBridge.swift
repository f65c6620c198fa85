import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents

/// F4: what the enterprise clients of an identity of a simple domain publish by SERVICE (MS-PRES 3.2), carried to that domain's
/// compositor as one publication (RFC 3903 4).
///
///     SERVICE --> instances, versions, lives --view of a watcher there--> PIDF --PUBLISH--> compositor
///        200 <-- once the compositor took it, or the wait is over: then it is kept, and repeated until it is taken
///        refusal <-- the compositor refuses it for good: the change is taken back
///
/// Instances and their versions live here: to its clients this gateway is the identity's presence server.
final class PIDFBridge {
    let key: String
    let uri: SIPURI
    /// What is published now.
    var enhanced: EnhancedPresentity
    /// What clients were promised: a refusal of the far side leads back to it. The same as ``enhanced`` unless requests are held.
    var accepted: EnhancedPresentity
    var client: PublicationClient
    /// What the far side is to show; nil: nothing.
    var document: [UInt8]?
    /// Of the document that the far side has; nil: none, or nobody knows which.
    var acceptedDigest: UInt64?
    /// Grows whenever `document` changes.
    var generation: UInt64 = 0
    /// What the request on its way says.
    var sent: Sent?
    /// Tells the answer to the newest request from those to earlier ones.
    var attempt: UInt64 = 0
    /// SERVICE requests whose 200 waits for the far side.
    var held: [Held] = []
    /// Endpoints whose last connection is gone, and until when they may come back.
    var leaving: [String: Instant] = [:]
    /// When a publication that was refused while nobody waited is tried again.
    var retryAt: Instant?
    var passage = BridgePassage()

    struct Sent {
        var generation: UInt64
        var digest: UInt64?
    }

    struct Held {
        var request: SIPRequest
        var transaction: ServerTransactionID?
        /// The 200, with the versions as they were committed.
        var response: SIPResponse
        /// What it made of the instances, and the generation of the document that shows them.
        var enhanced: EnhancedPresentity
        var generation: UInt64
        var until: Instant
    }

    /// SERVICE requests of one identity that wait at the same time; beyond it 503.
    static let heldLimit = 32

    init(key: String, uri: SIPURI, enhanced: EnhancedPresentity, client: PublicationClient) {
        self.key = key
        self.uri = uri
        self.enhanced = enhanced
        accepted = enhanced
        self.client = client
    }

    /// Whether nothing is published, and nothing is left to be taken back.
    var isIdle: Bool { !isPublished && client.isIdle && held.isEmpty }

    /// Whether a client has published something that lives; what was computed of it before says nothing any more.
    var isPublished: Bool { enhanced.pairs.contains { enhanced.instances(of: $0).contains { !$0.isComputed } } }

    /// Whether the far side has what it is to show.
    var isShown: Bool { acceptedDigest == document.map(BridgePassage.digest) }

    /// Whether it is to stay so, and nothing is on its way.
    var isSettled: Bool { isShown && !client.isAsking && client.isWanted == (document != nil) }

    /// Does the same to what is published, to what was promised, and to what requests that wait were about.
    func forEachStanding(_ change: (inout EnhancedPresentity) -> Void) {
        change(&enhanced)
        change(&accepted)
        for index in held.indices { change(&held[index].enhanced) }
    }

    /// The endpoints on whose presence something published depends, in lower case.
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

    // MARK: what the far side is to show

    /// What the identity's home is given: each category as colleagues see it, because the home decides itself who of its watchers sees
    /// what; where nothing is published for colleagues, as a watcher of the domain's network would see it. Containers that clients keep
    /// for narrower circles, for themselves, or for those whom they block, are not looked at. legacyInterop stands in where there is no
    /// state (MS-PRES 3.7.5.1).
    func shown(to network: SourceNetwork) -> [CategoryElement] {
        guard isPublished else { return [] }
        func identity(_ network: SourceNetwork) -> WatcherIdentity {
            WatcherIdentity(uri: "sip:anonymous.invalid", network: EnhancedPresence.SourceNetwork(rawValue: network.rawValue))
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

/// What the requests of a bridge have in common, toward the far side.
struct BridgePassage {
    var callID = ""
    var cSeq: UInt32 = 0
    var hopMarks = ""
    var maxForwards = 70
    /// The Request-URIs that the newest request was sent on from (RFC 3261 8.1.3.4).
    var redirections: Set<String> = []

    /// Takes over what the newest request says of its way here.
    mutating func follow(_ marks: String, _ parties: RequestScreening.Parties) {
        hopMarks = marks
        maxForwards = parties.maxForwards
    }

    static func digest(_ document: [UInt8]) -> UInt64 {
        var digest = PresenceDigest()
        digest.add(document)
        return digest.value
    }
}
