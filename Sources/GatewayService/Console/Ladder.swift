import PresenceDocuments
import PresenceGateway
import SIPCore
import SIPTransport

/// The messages of a watcher's dialog and of the upstream dialog behind it, in order.
package struct Ladder: Codable, Hashable, Sendable {
    /// One message.
    package struct Step: Codable, Hashable, Sendable {
        /// The dialog of a message.
        package enum Leg: String, Codable, Hashable, Sendable { case watcher, upstream }

        package var at: DateTime
        package var leg: Leg
        /// Whether this node received it.
        package var isReceived: Bool
        /// Address of the peer.
        package var remote: String
        package var callID: String
        /// Method or status, with what distinguishes it.
        package var summary: String
        /// The message without credentials.
        package var text: String
        /// Whether it has a body.
        package var hasBody: Bool

        /// Whether its arrow points to the right, from the watcher toward the remote domain.
        var pointsRight: Bool { (leg == .watcher) == isReceived }

        /// Time of the day (UTC).
        var time: String { at.timeOfDay }
    }

    /// Name of this node.
    package var node: String
    package var steps: [Step]

    /// Selects the messages of the dialogs.
    init(_ messages: [PassedMessage], ofWatcher watcherCalls: Set<String>, upstream upstreamCalls: Set<String>, node: String) {
        self.node = node
        steps = messages.compactMap { message in
            let shown = MessageSummary(message.bytes)
            let leg: Step.Leg
            if watcherCalls.contains(shown.callID) {
                leg = .watcher
            } else if upstreamCalls.contains(shown.callID) {
                leg = .upstream
            } else {
                return nil
            }
            return Step(
                at: DateTime(message.at), leg: leg, isReceived: message.isReceived, remote: message.remote.description,
                callID: shown.callID, summary: shown.summary, text: shown.text, hasBody: shown.hasBody)
        }
    }

    /// Time within which a message is taken for what another was mapped to.
    private static let mappingTime: Int64 = 2_000_000_000

    /// The next message with a body in the other leg that goes on in the same direction; nil: there is none within 2 s.
    func counterpart(of index: Int) -> Step? {
        let step = steps[index]
        guard step.hasBody, step.isReceived else { return nil }
        return steps[(index + 1)...].first {
            $0.leg != step.leg && $0.hasBody && !$0.isReceived && $0.pointsRight == step.pointsRight
                && $0.at.nanosecondsSince1970 - step.at.nanosecondsSince1970 <= Self.mappingTime
        }
    }

    /// The ladder drawn with characters, a line for each message.
    package var text: String {
        guard !steps.isEmpty else {
            return "no message of these dialogs is held; they are held while the console or --ladder is used, or with admin.recall\n"
        }
        let width = max(24, steps.map(\.summary.count).max() ?? 0) + 4
        func centered(_ text: String) -> String {
            let free = max(0, width - text.count)
            return String(repeating: " ", count: free / 2) + text + String(repeating: " ", count: free - free / 2)
        }
        var result = "time          watcher" + String(repeating: " ", count: width - 7) + node + "\n"
        for step in steps {
            let line = String(repeating: "-", count: width - step.summary.count - 3)
            let arrow = step.pointsRight ? "- \(step.summary) \(line.dropFirst(2))->" : "<-\(line.dropFirst(2)) \(step.summary) -"
            let sides = step.leg == .watcher ? "|" + arrow + "|" + centered("") + "|" : "|" + centered("") + "|" + arrow + "|"
            result += step.time + "  " + sides + "\n"
        }
        return result
    }
}

/// Summary of a message for the console.
struct MessageSummary {
    let callID: String
    let summary: String
    let hasBody: Bool
    /// Addresses of From and To, and the Request-URI.
    let parties: [String]
    private let bytes: [UInt8]

    /// The message without credentials.
    var text: String { MaskedMessage.text(bytes) }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        let headers: SIPHeaders
        switch SIPParser.parse(bytes) {
        case .success(.request(let request)):
            headers = request.headers
            let state = headers.first(.subscriptionState).map { " (\($0.prefix { $0 != ";" }))" } ?? ""
            summary = "\(request.method.rawValue) \(headers.cSeq.map { String($0.number) } ?? "")\(state)"
            hasBody = !request.body.isEmpty
            parties = [request.requestURI, headers.from?.uri.description ?? "", headers.to?.uri.description ?? ""]
        case .success(.response(let response)):
            headers = response.headers
            summary = "\(response.status.rawValue) (\(headers.cSeq.map { "\($0.method.rawValue) \($0.number)" } ?? ""))"
            hasBody = !response.body.isEmpty
            parties = [headers.from?.uri.description ?? "", headers.to?.uri.description ?? ""]
        case .failure:
            (callID, summary, hasBody, parties) = ("", "malformed message", false, [])
            return
        }
        callID = headers.callID ?? ""
    }
}

extension DateTime {
    /// Time of the day (UTC) in milliseconds, such as `09:15:00.250`.
    package var timeOfDay: String { String(publishTime.dropFirst("2026-11-22T".count)) }
}
