import PresenceDocuments
import SIPCore

// Conversions between the times of the protocol and those of documents.
extension DateTime {
    init(_ instant: Instant) { self.init(nanosecondsSince1970: instant.nanosecondsSince1970) }
}

extension Instant {
    init(_ moment: DateTime) { self.init(nanosecondsSince1970: moment.nanosecondsSince1970) }
}
