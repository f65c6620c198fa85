import Foundation
import PresenceDocuments

extension DateTime {
    /// The time of this machine, in whole seconds: what `--at` stands for when it is not given.
    static func wallClock() -> DateTime {
        DateTime(nanosecondsSince1970: Int64(Date().timeIntervalSince1970) * 1_000_000_000)
    }
}
