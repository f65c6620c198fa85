import GatewayService
import PresenceDocuments
import PresenceMapping
import SIPCore

/// One line about a presence document for people: time, presentity, open or closed, activities and note.
struct PresenceLine {
    /// The line, without a line end.
    let text: String

    /// Creates the line; nil: the document is of another type, cannot be read, or says nothing of these.
    init?(_ document: [UInt8], type: String, at now: DateTime, _ converter: Converter) {
        let options = ConversionOptions(at: now)
        guard let essence = MediaType(type)?.essence, let format = PresenceFormat.all.first(where: { $0.mediaType == essence }),
            let source = try? converter.read(document, format: format, options: options).value
        else { return nil }
        var parts: [String] = []
        // A notification of some categories may not say whether the user is available. PIDF has the same words whatever the document is.
        if source.basic != nil || source.availability != nil || source.legacy != nil,
            let pidf = try? converter.convert(document, from: format, to: .pidf, options: options),
            let presence = try? converter.read(pidf.bytes, format: .pidf, options: options).value
        {
            parts.append(presence.basic == .open ? "open" : "closed")
            parts += presence.activities.map { $0.text ?? $0.name }
        }
        parts += source.notes.map { "\"\($0.text)\"" }
        if parts.isEmpty { return nil }
        // A text of another user must not control the terminal.
        let line = "\(now.timeOfDay.prefix(8)) \(source.entity) \(parts.joined(separator: ", "))"
        text = String(line.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
    }
}
