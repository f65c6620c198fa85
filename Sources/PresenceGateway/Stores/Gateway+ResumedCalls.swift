import SIPCore
import SIPEvents

/// The dialogs that a restart brought back, by Call-ID, for as long as a client repeats a SUBSCRIBE (RFC 3261 17.1.2).
struct ResumedCalls {
    private var tags: [String: String] = [:]
    private var until = Instant(nanosecondsSince1970: 0)

    /// 64*T1, and the time that the last copy may travel.
    private static let span = TimeSpan.seconds(40)

    mutating func add(_ watcher: WatcherDialog, at now: Instant) {
        tags[watcher.dialog.callID] = watcher.localTag
        until = now + Self.span
    }

    /// Our tag of the dialog with this Call-ID.
    mutating func tag(of callID: String?, at now: Instant) -> String? {
        if now > until { tags = [:] }
        return callID.flatMap { tags[$0] }
    }
}

extension Gateway {
    /// A SUBSCRIBE that an earlier process took and kept, but did not live to answer, or whose answer was lost with it: the same one
    /// comes again, and is answered in the dialog that it has made. Otherwise its watcher would have two.
    /// - Returns: false when it is a new one.
    func answerAgain(
        _ request: SIPRequest, _ event: Event, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant
    ) -> Bool {
        guard let tag = resumedCalls.tag(of: request.headers.callID, at: now), let watcher = dialogs[tag],
            watcher.dialog.id.remoteTag == request.headers.fromTag, let sequence = request.headers.cSeq?.number,
            watcher.dialog.remoteCSeq == sequence, watcher.event.matches(event), !watcher.notifier.isEnding
        else { return false }
        reached(watcher, over: flow)
        let wish = request.headers.expires.map { Int(clamping: $0) }
        let actions = watcher.notifier.receiveSubscribe(expires: wish, piggyback: isPiggyback(request, watcher.format), at: now)
        log(.debug, "subscription of an earlier process answered again", ["call-id": watcher.dialog.callID])
        perform(actions, on: watcher, answering: (request, transaction), at: now)
        schedule(watcher)
        return true
    }
}
