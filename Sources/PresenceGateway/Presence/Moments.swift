import PresenceDocuments
import SIPCore

/// One moment in the words of the protocol and in those of the documents.
extension DateTime {
    init(_ instant: Instant) { self.init(nanosecondsSince1970: instant.nanosecondsSince1970) }
}

extension Instant {
    init(_ moment: DateTime) { self.init(nanosecondsSince1970: moment.nanosecondsSince1970) }
}
