/// PIDF documents as hand-written text, without the codecs under test.
package enum SimpleDocuments {
    /// Returns a PIDF document with one tuple and one person.
    package static func pidf(
        of presentity: String, _ basic: String, activities: [String] = [], note: String? = nil, displayName: String? = nil
    ) -> String {
        let elements = activities.map { "<rpid:\($0)/>" }.joined()
        let activitiesText = activities.isEmpty ? "" : "<rpid:activities>\(elements)</rpid:activities>"
        let noteText = note.map { "<dm:note>\(EnhancedDocuments.escape($0))</dm:note>" } ?? ""
        let person = "<dm:person id=\"p1\">\(activitiesText)\(noteText)</dm:person>"
        let name = displayName.map { "<ci:display-name>\(EnhancedDocuments.escape($0))</ci:display-name>" } ?? ""
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:dm="urn:ietf:params:xml:ns:pidf:data-model" \
            xmlns:rpid="urn:ietf:params:xml:ns:pidf:rpid" xmlns:ci="urn:ietf:params:xml:ns:pidf:cipid" \
            entity="\(EnhancedDocuments.escape(presentity))"><tuple id="t1"><status><basic>\(basic)</basic></status>\(name)</tuple>\
            \(person)</presence>
            """
    }

    /// Returns a long PIDF document with many elements, for which differences are shorter.
    package static func rich(
        of presentity: String, _ basic: String = "open", activity: String = "on-the-phone", note: String, name: String = "Alice Example"
    ) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:dm="urn:ietf:params:xml:ns:pidf:data-model" \
        xmlns:rpid="urn:ietf:params:xml:ns:pidf:rpid" xmlns:ci="urn:ietf:params:xml:ns:pidf:cipid" \
        xmlns:caps="urn:ietf:params:xml:ns:pidf:caps" xmlns:ts="urn:ietf:params:xml:ns:pidf:timed-status" \
        entity="\(EnhancedDocuments.escape(presentity))">\
        <tuple id="im"><status><basic>\(basic)</basic></status><dm:deviceID>urn:x-mac:0003ba4811e3</dm:deviceID>\
        <caps:servcaps><caps:audio>true</caps:audio><caps:video>true</caps:video><caps:message>true</caps:message></caps:servcaps>\
        <ts:timed-status from="2026-01-05T12:00:00Z" until="2026-01-05T13:00:00Z"><basic>closed</basic></ts:timed-status>\
        <contact priority="0.8">\(EnhancedDocuments.escape(presentity))</contact></tuple>\
        <tuple id="mail"><status><basic>open</basic></status><contact priority="0.3">mailto:alice@example.org</contact></tuple>\
        <tuple id="phone"><status><basic>open</basic></status><contact priority="0.4">tel:+15555550100</contact></tuple>\
        <note xml:lang="en">\(EnhancedDocuments.escape(note))</note>\
        <dm:person id="p1"><rpid:activities><rpid:\(activity)/></rpid:activities><ci:display-name>\(name)</ci:display-name>\
        <rpid:time-offset description="Europe/Berlin">60</rpid:time-offset>\
        <rpid:user-input idle-threshold="600" last-input="2026-01-05T08:50:00Z">idle</rpid:user-input></dm:person>\
        <dm:device id="d1"><dm:deviceID>urn:x-mac:0003ba4811e3</dm:deviceID></dm:device></presence>
        """
    }
}
