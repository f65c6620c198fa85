import Glibc
import SIPCore

/// Variables by which a service manager requests notifications (sd_notify(3), sd_watchdog_enabled(3)).
package struct ServiceManagerEnvironment: Hashable, Sendable {
    /// `NOTIFY_SOCKET`: path of a datagram socket; with a leading `@` its name in the abstract namespace.
    package var socket: String
    /// `WATCHDOG_USEC`: time within which the manager expects each keep-alive; nil where it expects none from this process.
    package var watchdog: TimeSpan?

    package init(socket: String, watchdog: TimeSpan? = nil) {
        self.socket = socket
        self.watchdog = watchdog
    }

    /// Reads the variables; nil where `NOTIFY_SOCKET` is unset or empty.
    /// - Parameter processID: compared with `WATCHDOG_PID`, which names the process that is expected to send keep-alives.
    package init?(processID: Int32, variable: (String) -> String?) {
        guard let socket = variable("NOTIFY_SOCKET"), !socket.isEmpty else { return nil }
        self.socket = socket
        if let owner = variable("WATCHDOG_PID"), Int32(owner) != processID { return }
        guard let microseconds = variable("WATCHDOG_USEC").flatMap({ Int64($0) }), (1...Self.longest).contains(microseconds) else { return }
        watchdog = TimeSpan(nanoseconds: microseconds * 1_000)
    }

    /// Variables of this process.
    package static func ofProcess() -> ServiceManagerEnvironment? {
        ServiceManagerEnvironment(processID: getpid()) { name in getenv(name).map { String(cString: $0) } }
    }

    /// Longest watchdog in microseconds, a year; longer ones are no watchdog.
    private static let longest: Int64 = 31_536_000_000_000
}
