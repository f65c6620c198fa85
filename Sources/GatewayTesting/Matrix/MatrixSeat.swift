import PresenceGateway
import SIPCore
import ScriptedPeers

/// State of one presentity as seen by a watcher, independent of its format.
enum MatrixView: Equatable, CustomStringConvertible {
    case nothing, pending
    case shows(SimulatedMood)
    /// Ended, with a reason of RFC 6665 4.1.3 or its equivalent in the watcher's format.
    case over(String)

    var description: String {
        switch self {
        case .nothing: "nothing"
        case .pending: "pending"
        case .shows(let mood): mood.rawValue
        case .over(let reason): "over: \(reason)"
        }
    }
}

/// Watcher in one format that subscribes to the subject of a remote domain, with the history of its views.
final class MatrixSeat {
    let format: MatrixWatcher
    private let remote: MatrixRemoteDomain
    private let conversation: Conversation
    private(set) var watcher: ScriptedWatcher
    /// Successive different views of the subject.
    private(set) var history: [MatrixView] = []
    private let user: String

    init(_ format: MatrixWatcher, of remote: MatrixRemoteDomain, number: Int = 1) async throws {
        self.format = format
        self.remote = remote
        conversation = remote.conversation
        user = format.isEnterprise ? "sip:erin\(number)@fabrikam.com" : "sip:carol\(number)@example.com"
        let several = [remote.subject, remote.bystander]
        switch format {
        case .category: watcher = try await conversation.enhancedWatcher(user, of: remote.subject, form: .categories(["state", "note"]))
        case .batch: watcher = try await conversation.enhancedWatcher(user, of: user, form: .batch(several, ["state", "note"]))
        case .msrtc: watcher = try await conversation.enhancedWatcher(user, of: remote.subject, form: .msrtc)
        case .pidf: watcher = try await conversation.simpleWatcher(user, of: remote.subject)
        case .partial: watcher = try await conversation.partialWatcher(user, of: remote.subject)
        case .xpidf:
            let simple = try await conversation.simpleWatcher(user, of: remote.subject)
            simple.accept = "application/xpidf+xml"
            watcher = simple
        case .list: watcher = try await conversation.listWatcher(of: several, as: user)
        }
        listen()
    }

    private func listen() {
        watcher.whenNotified = { [unowned self] in
            let view = self.view
            if history.last != view { history.append(view) }
        }
    }

    /// Subscribes. A batch that receives `resubscribe` for users of another deployment continues with a single subscription (MS-PRES
    /// 3.4.5.1.3.1).
    func subscribe(expires: UInt32 = 600) async throws {
        try await conversation.act { now in watcher.subscribe(expires: expires, at: now) }
        guard format == .batch, remote.source.isEnterprise, let batch = watcher as? EnhancedWatcher else { return }
        try await conversation.expect("resubscribe, for both") {
            batch.rejected.count == 2 && batch.rejected.allSatisfy { $0.state == "resubscribe" } && batch.isOver
        }
        watcher = try await conversation.enhancedWatcher(user, of: remote.subject, form: .categories(["state", "note"]))
        listen()
        try await conversation.act { now in watcher.subscribe(expires: expires, at: now) }
    }

    /// Clears the history.
    func forgetHistory() { history = [] }

    /// Removes the views before the first occurrence of a view.
    /// - Returns: The removed views.
    func beginHistory(with view: MatrixView) -> [MatrixView] {
        let before = Array(history.prefix { $0 != view })
        history.removeFirst(before.count)
        return before
    }

    /// Content types expected in notifications.
    var contentTypes: Set<String> {
        switch format {
        case .category, .batch: ["multipart/related", "application/msrtc-event-categories+xml"]
        case .msrtc: ["text/xml+msrtc.pidf"]
        case .pidf: ["application/pidf+xml"]
        case .partial: ["application/pidf-diff+xml"]
        case .xpidf: ["application/xpidf+xml"]
        case .list: ["multipart/related"]
        }
    }

    /// Whether the current subscription names several presentities.
    var seesBystander: Bool { watcher.namesSeveral }

    /// Current view of the subject.
    var view: MatrixView { view(of: remote.subject) }

    func view(of presentity: String) -> MatrixView {
        if let list = watcher as? ListWatcher, let entry = list.entries[presentity] {
            switch entry.state {
            case "terminated": return .over(entry.reason ?? "")
            case "pending": return .pending
            case nil: return ended ?? .nothing
            default: return ended ?? entry.presence.map { .shows(SimulatedMood($0)) } ?? .shows(.offline)
            }
        }
        if let batch = watcher as? EnhancedWatcher, let instanceState = batch.instanceState(on: presentity) {
            if instanceState.state == "terminated" { return .over(instanceState.reason ?? "") }
            if instanceState.state == "pending" { return .pending }
        }
        if let ended { return ended }
        if watcher.subscriptionState?.state == .pending { return .pending }
        return watcher.presence(of: presentity).map { .shows(SimulatedMood($0)) } ?? .nothing
    }

    private var ended: MatrixView? {
        switch watcher.phase {
        case .ended(let reason): .over(reason)
        case .refused(403): .over("rejected")
        case .refused(404): .over("noresource")
        case .refused(let status): .over("\(status)")
        case .unanswered: .over("unanswered")
        case .idle, .asked, .live: nil
        }
    }
}
