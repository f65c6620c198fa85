import SIPCore
import SIPEvents

/// Dialogs restored after a restart, by Call-ID and the watcher's tag, for as long as a client repeats a SUBSCRIBE (RFC 3261 17.1.2).
struct ResumedCalls {
    private struct Call: Hashable {
        var id: String
        var tag: String?
    }

    private var tags: [Call: String] = [:]
    private var until = Instant(nanosecondsSince1970: 0)

    /// 64*T1 (32 s), and the travel time of the last copy.
    private static let span = TimeSpan.seconds(40)

    mutating func add(_ watcher: WatcherDialog, at now: Instant) {
        tags[Call(id: watcher.dialog.callID, tag: watcher.dialog.id.remoteTag)] = watcher.localTag
        until = now + Self.span
    }

    /// Local tag of the dialog that a request without a To tag belongs to.
    mutating func tag(of request: SIPRequest, at now: Instant) -> String? {
        if now > until { tags = [:] }
        return request.headers.callID.flatMap { tags[Call(id: $0, tag: request.headers.fromTag)] }
    }
}

extension Gateway {
    /// Answers a repeated SUBSCRIBE in the restored dialog that it created, because the response of the earlier process was not sent or was
    /// lost; otherwise its watcher would have two dialogs.
    /// - Returns: false if the SUBSCRIBE is new.
    func answerAgain(
        _ request: SIPRequest, _ event: Event, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant
    ) -> Bool {
        guard let tag = resumedCalls.tag(of: request, at: now), let watcher = dialogs[tag],
            let sequence = request.headers.cSeq?.number, watcher.dialog.remoteCSeq == sequence, watcher.event.matches(event),
            !watcher.notifier.isEnding, flows.border.isRemoteEnd(watcher.watcherKey, request, flow)
        else { return false }
        reached(watcher, over: flow)
        let requestedExpires = request.headers.expires.map { Int(clamping: $0) }
        let actions = watcher.notifier.receiveSubscribe(
            expires: requestedExpires, piggyback: isPiggyback(request, of: watcher, isPoll: requestedExpires == 0), at: now)
        log(.debug, "subscription of an earlier process answered again", ["call-id": watcher.dialog.callID])
        perform(actions, on: watcher, answering: (request, transaction), isRevocable: true, at: now)
        schedule(watcher)
        return true
    }
}
