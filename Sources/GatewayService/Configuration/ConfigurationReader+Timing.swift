import PresenceGateway
import SIPCore
import SIPTransport
import Yams

/// `timing`, and lifetimes of single domains.
extension ConfigurationReader {
    mutating func readTiming(_ timing: ConfigurationNode) {
        let ranges: [(String, WritableKeyPath<GatewayTiming, GatewayTiming.ExpiryRange>)] = [
            ("enterprise-expires", \.enterprise), ("simple-expires", \.simple), ("publication-expires", \.publication),
            ("registration-expires", \.registration),
        ]
        let spans: [(String, WritableKeyPath<GatewayTiming, TimeSpan>)] = [
            ("notify-spacing-ms", \.notifySpacing), ("first-notify-ms", \.firstNotifyGrace), ("poll-wait-ms", \.pollWait),
            ("retry-minimum-ms", \.retryMinimum), ("retry-maximum-ms", \.retryMaximum), ("stale-after-ms", \.staleAfter),
            ("connection-grace-ms", \.connectionGrace), ("restart-grace-ms", \.restartGrace), ("overload-late-ms", \.overloadLateness),
            ("restore-pace-ms", \.restorePace), ("publish-wait-ms", \.publishWait),
        ]
        guard let fields = timing.fields(ranges.map(\.0) + spans.map(\.0) + ["retry-after-s", "notify-patience-s"]) else { return }
        for (name, path) in ranges {
            guard let node = fields[name] else { continue }
            configuration.core.timing[keyPath: path] = readRange(node, standard: configuration.core.timing[keyPath: path])
        }
        for (name, path) in spans {
            if let value = fields[name]?.integer(0...86_400_000) { configuration.core.timing[keyPath: path] = .milliseconds(value) }
        }
        let (late, reported) = (configuration.core.timing.overloadLateness, configuration.transport.latenessReported)
        if late > .zero, late < reported {
            fields["overload-late-ms"]?.refuse(
                "must be 0, which is never, or at least \(reported.nanoseconds / 1_000_000): what is less is not noticed")
        }
        if let value = fields["notify-patience-s"]?.integer(0...86_400) { configuration.core.timing.notifyPatience = .seconds(value) }
        if let value = fields["retry-after-s"]?.integer(1...86_400) { configuration.core.timing.retryAfter = value }
    }

    /// Reads a range in seconds; missing values default to those of `standard`.
    func readRange(_ node: ConfigurationNode, standard: GatewayTiming.ExpiryRange) -> GatewayTiming.ExpiryRange {
        var range = standard
        guard let parts = node.fields(["minimum", "default", "maximum"]) else { return range }
        let seconds = 1...31_536_000
        if let value = parts["minimum"]?.integer(seconds) { range.minimum = value }
        if let value = parts["default"]?.integer(seconds) { range.standard = value }
        if let value = parts["maximum"]?.integer(seconds) { range.maximum = value }
        if !(range.minimum <= range.standard && range.standard <= range.maximum) {
            node.refuse("must rise: minimum \(range.minimum), default \(range.standard), maximum \(range.maximum)")
        }
        return range
    }
}
