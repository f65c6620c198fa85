import XMLCore

// RFC 4481, Timed Presence Extensions to PIDF
// namespace urn:ietf:params:xml:ns:pidf:timed-status, inside a tuple

/// Status of the past or the future (RFC 4481 2), not the current one.
public struct TimedStatus: Hashable, Sendable {
    /// Start of the status.
    public var from: DateTime
    /// End of the status; nil if open.
    public var until: DateTime?
    /// Basic status; nil when absent.
    public var basic: BasicStatus?
    /// Notes for people, in document order.
    public var notes: [PIDFNote] = []
    /// Elements of RPID (RFC 4480).
    public var rpid = RPID()
    /// Elements without a field here; kept and written again.
    public var extensions: [XMLFragment] = []
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute] = []

    /// Creates a status; by default with an open end.
    public init(from: DateTime, until: DateTime? = nil, basic: BasicStatus? = nil) {
        self.from = from
        self.until = until
        self.basic = basic
    }
}

/// Names of RFC 4481.
enum TimedStatusName {
    static let timedStatus = XMLName("timed-status", in: .timedStatus)
    static let basic = XMLName("basic", in: .timedStatus)
    static let note = XMLName("note", in: .timedStatus)
    static let ownAttributes: [StaticString] = ["from", "until"]
}

extension TimedStatus {
    init(_ element: XMLElement) throws(DocumentError) {
        guard let from = try element.dateTime("from", rule: "RFC 4481 2") else {
            throw .missing("from", in: element, rule: "RFC 4481 2")
        }
        self.init(from: from, until: try element.dateTime("until", rule: "RFC 4481 2"))
        attributes = element.attributes(besides: TimedStatusName.ownAttributes)
        for child in element.children {
            switch child {
            case TimedStatusName.basic, PIDFName.basic: basic = try child.basicStatus()
            case TimedStatusName.note, PIDFName.note: notes.append(child.note)
            default:
                if try !rpid.read(child) { extensions.append(child.fragment()) }
            }
        }
    }

    func write(to writer: inout XMLWriter) {
        writer.start("ts:timed-status")
        writer.attribute("from", from.text)
        writer.attribute("until", ifPresent: until?.text)
        for attribute in attributes { writer.attribute(attribute) }
        if let basic { writer.element("ts:basic", basic.name) }
        for note in notes { note.write("ts:note", to: &writer) }
        rpid.write(to: &writer)
        for fragment in extensions { writer.fragment(fragment) }
        writer.end()
    }
}
