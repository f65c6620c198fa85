import GatewayService
import PresenceDocuments
import PresenceMapping

/// One line about a presence document for people: time, presentity, open or closed, activities and note.
struct PresenceLine {
    /// The line, without a line end.
    let text: String

    private static let formats: [String: PresenceFormat] = {
        var formats: [String: PresenceFormat] = [:]
        for format in [PresenceFormat.pidf, .categories, .msrtc, .xpidf] { formats[format.mediaType] = format }
        return formats
    }()

    /// Creates the line; nil: the document is of another type, cannot be read, or does not say whether its user is available.
    init?(_ document: [UInt8], type: String, at now: DateTime, _ converter: Converter) {
        let options = ConversionOptions(at: now)
        // PIDF has the same words whatever the document is.
        guard let format = Self.formats[type.prefix { $0 != ";" }.lowercased()],
            let pidf = try? converter.convert(document, from: format, to: .pidf, options: options),
            let presence = try? converter.read(pidf.bytes, format: .pidf, options: options).value, let basic = presence.basic
        else { return nil }
        var parts = [basic == .open ? "open" : "closed"]
        parts += presence.activities.map { $0.text ?? $0.name }
        parts += presence.notes.map { "\"\($0.text)\"" }
        // A text of another user must not control the terminal.
        let line = "\(now.timeOfDay.prefix(8)) \(presence.entity) \(parts.joined(separator: ", "))"
        text = String(line.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
    }
}
