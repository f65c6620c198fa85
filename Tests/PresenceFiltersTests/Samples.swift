import Foundation
import PresenceDocuments
import PresenceFilters
import XMLCore

/// Documents and filters for the tests.
enum Samples {
    static let namespaces = [
        "pidf": "urn:ietf:params:xml:ns:pidf", "dm": "urn:ietf:params:xml:ns:pidf:data-model", "rpid": "urn:ietf:params:xml:ns:pidf:rpid",
        "caps": "urn:ietf:params:xml:ns:pidf:caps", "ts": "urn:ietf:params:xml:ns:pidf:timed-status", "x": "urn:example:x",
    ]
    static let bindings = namespaces.sorted { $0.key < $1.key }.map {
        SimpleFilterDocument.Binding(prefix: $0.key, namespace: $0.value)
    }
    private static let declarations =
        "xmlns=\"urn:ietf:params:xml:ns:pidf\" "
        + namespaces.filter { $0.key != "pidf" }.sorted { $0.key < $1.key }.map { "xmlns:\($0.key)=\"\($0.value)\"" }.joined(separator: " ")

    static func presence(_ content: String, entity: String = "sip:mara@example.com") -> [UInt8] {
        Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<presence \(declarations) entity=\"\(entity)\">\(content)</presence>".utf8)
    }

    /// A service for messages, a service for calls, a person and a device.
    static let rich = presence(
        """

          <tuple id="im"><status><basic>open</basic></status><rpid:class>IM</rpid:class><contact priority="0.8">im:mara@example.com</contact>\
        <note xml:lang="en">at work</note></tuple>
          <tuple id="call" x:kind="voice"><status><basic>closed</basic><x:line>2</x:line></status><rpid:class>CALL</rpid:class>\
        <contact priority="0.2">sip:mara@contoso.com</contact></tuple>
          <note>back soon</note>
          <dm:person id="p"><rpid:activities from="2026-05-04T10:00:00Z"><rpid:meeting/><rpid:busy/></rpid:activities>\
        <rpid:sphere><rpid:work/></rpid:sphere></dm:person>
          <dm:device id="d"><dm:deviceID>urn:uuid:48662e19-5fbf-43fc-a2fd-d23002787599</dm:deviceID><dm:note>desk</dm:note></dm:device>

        """)

    static func filter(_ what: FilterContent? = nil, _ triggers: [FilterTrigger] = []) throws -> CompiledFilter {
        try CompiledFilter(SimpleFilter(id: "f", what: what, triggers: triggers), bindings: bindings)
    }

    /// Content by expressions.
    static func content(_ includes: [String], without excludes: [String] = [], of document: [UInt8] = rich) throws -> String? {
        let what = FilterContent(includes: includes.map { FilterSelection($0) }, excludes: excludes.map { FilterSelection($0) })
        return try filter(what).content(of: document).map(body)
    }

    /// Document without its first line and without the tags of the root.
    static func body(_ octets: [UInt8]) -> String {
        let text = String(decoding: octets, as: UTF8.self)
        guard let start = text.range(of: "<presence "), let open = text[start.upperBound...].firstIndex(of: ">") else { return text }
        if text[text.index(before: open)] == "/" { return "" }
        return String(text[text.index(after: open)...].dropLast("</presence>".count))
    }
}

/// Generator with a seed, so that a failure can be repeated.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
