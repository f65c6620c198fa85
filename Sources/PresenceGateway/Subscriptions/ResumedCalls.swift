import SIPCore

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
