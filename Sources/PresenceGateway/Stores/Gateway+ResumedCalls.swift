import SIPCore
import SIPEvents

/// The dialogs that a restart brought back, by Call-ID and the watcher's tag, for as long as a client repeats a SUBSCRIBE
/// (RFC 3261 17.1.2).
struct ResumedCalls {
    private struct Call: Hashable {
        var id: String
        var tag: String?
    }

    private var tags: [Call: String] = [:]
    private var until = Instant(nanosecondsSince1970: 0)

    /// 64*T1, and the time that the last copy may travel.
    private static let span = TimeSpan.seconds(40)

    mutating func add(_ watcher: WatcherDialog, at now: Instant) {
        tags[Call(id: watcher.dialog.callID, tag: watcher.dialog.id.remoteTag)] = watcher.localTag
        until = now + Self.span
    }

    /// Our tag of the dialog that the request, which names none of ours, belongs to.
    mutating func tag(of request: SIPRequest, at now: Instant) -> String? {
        if now > until { tags = [:] }
        return request.headers.callID.flatMap { tags[Call(id: $0, tag: request.headers.fromTag)] }
    }
}

extension Gateway {
    /// A SUBSCRIBE that an earlier process took and kept, but did not live to answer, or whose answer was lost with it: the same one
    /// comes again, and is answered in the dialog that it has made. Otherwise its watcher would have two.
    /// - Returns: false when it is a new one.
    func answerAgain(
        _ request: SIPRequest, _ event: Event, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant
    ) -> Bool {
        guard let tag = resumedCalls.tag(of: request, at: now), let watcher = dialogs[tag],
            let sequence = request.headers.cSeq?.number, watcher.dialog.remoteCSeq == sequence, watcher.event.matches(event),
            !watcher.notifier.isEnding, isFarEnd(watcher.watcherKey, request, flow)
        else { return false }
        reached(watcher, over: flow)
        let wish = request.headers.expires.map { Int(clamping: $0) }
        let actions = watcher.notifier.receiveSubscribe(
            expires: wish, piggyback: isPiggyback(request, of: watcher, isPoll: wish == 0), at: now)
        log(.debug, "subscription of an earlier process answered again", ["call-id": watcher.dialog.callID])
        perform(actions, on: watcher, answering: (request, transaction), at: now)
        schedule(watcher)
        return true
    }
}
