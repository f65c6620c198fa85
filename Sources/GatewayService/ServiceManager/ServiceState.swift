/// State of the service as the service manager is notified of it (sd_notify(3)).
package enum ServiceState: Hashable, Sendable {
    /// The gateway starts; `systemctl status` shows the sentence.
    case starting(String)
    /// Listeners accept, and the stored state is restored.
    case ready(String)
    /// A reload begins, at this time of CLOCK_MONOTONIC.
    case reloading(microseconds: UInt64, String)
    /// The gateway ends.
    case stopping(String)
    /// Keep-alive of the watchdog.
    case alive

    /// Assignments of the datagram, one in a line.
    var text: String {
        switch self {
        case .starting(let status): Self.status(status)
        case .ready(let status): "READY=1\n" + Self.status(status)
        case .reloading(let microseconds, let status): "RELOADING=1\nMONOTONIC_USEC=\(microseconds)\n" + Self.status(status)
        case .stopping(let status): "STOPPING=1\n" + Self.status(status)
        case .alive: "WATCHDOG=1"
        }
    }

    /// Longest sentence in Unicode scalars, so that a datagram stays small.
    private static let longest = 500

    /// A line break would end the assignment and begin another one.
    private static func status(_ sentence: String) -> String {
        let scalars = sentence.unicodeScalars.prefix(longest).map { $0.value < 32 || $0.value == 127 ? " " : $0 }
        return "STATUS=" + String(String.UnicodeScalarView(scalars))
    }
}
