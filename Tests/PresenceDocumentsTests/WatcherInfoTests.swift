import Foundation
import PresenceDocuments
import Testing

/// Watcher information documents (RFC 3858).
@Suite struct WatcherInfoTests {
    static let full = """
        <?xml version="1.0"?>
        <watcherinfo xmlns="urn:ietf:params:xml:ns:watcherinfo" version="3" state="full">
          <watcher-list resource="sip:alice@example.com" package="presence">
            <watcher id="w1" event="subscribe" status="active" display-name="Ann" expiration="3120" duration-subscribed="480">
              sip:ann@example.org</watcher>
            <watcher id="w2" event="timeout" status="waiting">sip:bob@example.org</watcher>
            <unknown xmlns="urn:example:x"/>
          </watcher-list>
        </watcherinfo>
        """

    @Test("RFC 3858 4: a document is read, and written so that it reads the same")
    func roundTrip() throws {
        let document = try WatcherInfoDocument.decode(Array(Self.full.utf8))
        #expect(document.version == 3 && document.isFull && document.lists.count == 1)
        let watchers = document.lists[0].watchers
        #expect(watchers.map(\.uri) == ["sip:ann@example.org", "sip:bob@example.org"])
        #expect(watchers[0].displayName == "Ann" && watchers[0].expiration == 3_120 && watchers[0].durationSubscribed == 480)
        #expect(watchers[1].status == .waiting && watchers[1].event == .timeout)
        #expect(try WatcherInfoDocument.decode(document.encode()) == document)
    }

    @Test(
        "RFC 3858 4.1, 4.3: missing and unknown values are refused with their rule",
        arguments: [
            ("version=\"3\"", "version=\"x\"", "RFC 3858 4.1"), ("version=\"3\" ", "", "RFC 3858 4.1"),
            ("state=\"full\"", "state=\"some\"", "RFC 3858 4.1"), ("package=\"presence\"", "", "RFC 3858 4.2"),
            ("status=\"waiting\"", "status=\"asleep\"", "RFC 3858 4.3"), ("event=\"timeout\"", "event=\"snooze\"", "RFC 3858 4.3"),
            ("id=\"w2\" ", "", "RFC 3858 4.3"), ("watcherinfo ", "other ", "RFC 3858 4.1"),
        ])
    func refused(_ part: String, _ other: String, _ rule: String) {
        var text = Self.full.replacingOccurrences(of: part, with: other)
        if part == "watcherinfo " { text = text.replacingOccurrences(of: "</watcherinfo>", with: "</other>") }
        do {
            _ = try WatcherInfoDocument.decode(Array(text.utf8))
            Issue.record("\(other) is accepted")
        } catch {
            #expect("\(error)".contains(rule), "\(error)")
        }
    }
}
