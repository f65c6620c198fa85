import Foundation
import PresenceDocuments

extension DateTime {
    /// Current time of this machine in whole seconds: the default of `--at`.
    static func wallClock() -> DateTime {
        DateTime(nanosecondsSince1970: Int64(Date().timeIntervalSince1970) * 1_000_000_000)
    }
}
