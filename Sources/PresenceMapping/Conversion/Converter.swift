import PresenceDocuments
import XMLCore

/// Converts a presence document into another format, bytes to bytes.
///
/// Not thread-safe, because it reuses its parsers: create one per event loop or command.
public final class Converter {
    /// The mapper with the tables in use.
    public let mapper: PresenceMapper
    private let parser: XMLParser
    private let xpidfParser: XMLParser

    /// Creates a converter.
    /// - Parameter limits: limits of the XML parser.
    public init(mapper: PresenceMapper = PresenceMapper(), limits: XMLLimits = .standard) {
        self.mapper = mapper
        parser = XMLParser(limits: limits)
        var skipping = limits
        skipping.doctype = .skip
        xpidfParser = XMLParser(limits: skipping)
    }

    /// The format of a document, by its root element.
    ///
    /// - Throws: ``ConversionError`` if it is not well-formed, or its root is that of no format.
    public func format(of bytes: [UInt8]) throws(ConversionError) -> PresenceFormat {
        let root: XMLElement
        do throws(XMLError) { root = try xpidfParser.parse(bytes).root } catch { throw ConversionError(DocumentError(error)) }
        switch (root.localName, root.namespace) {
        case ("categories", _): return .categories
        case ("legacyInterop", _): return .legacyInterop
        case ("presentity", _): return .msrtc
        case ("presence", "urn:ietf:params:xml:ns:pidf"): return .pidf
        case ("presence", ""): return .xpidf
        default:
            throw ConversionError(
                code: "wrong-root",
                message: "the root element \(root.localName) is that of no format: categories, legacyInterop, presentity, presence")
        }
    }

    /// Converts one document.
    ///
    /// - Throws: ``ConversionError`` if the document is refused, with line, column and rule.
    public func convert(
        _ bytes: [UInt8], from source: PresenceFormat, to target: PresenceFormat, options: ConversionOptions = ConversionOptions()
    ) throws(ConversionError) -> Conversion {
        var reader = DocumentReader(options.reading)
        var read = try read(bytes, format: source, options: options, reader: &reader)
        if let entity = options.entity, entity != read.value.entity { rename(&read.value, entity) }
        let written = write(read.value, format: target, options: options)
        var report = ConversionReport(from: source, to: target, losses: written.losses, rowIDs: written.rowIDs)
        report.flaws = reader.flaws
        if !isCopy(read.value, target, options) {
            report.losses = read.losses + written.losses
            report.rowIDs = read.rowIDs
            for row in written.rowIDs where !report.rowIDs.contains(row) { report.rowIDs.append(row) }
        }
        return Conversion(bytes: written.value, report: report)
    }

    /// Parses a document into the canonical model.
    /// - Throws: ``ConversionError`` if the document is refused, or legacyInterop is read without ``ConversionOptions/entity``.
    public func read(
        _ bytes: [UInt8], format: PresenceFormat, options: ConversionOptions = ConversionOptions()
    ) throws(ConversionError) -> MappingResult<CanonicalPresence> {
        var reader = DocumentReader(options.reading)
        return try read(bytes, format: format, options: options, reader: &reader)
    }

    private func read(
        _ bytes: [UInt8], format: PresenceFormat, options: ConversionOptions, reader: inout DocumentReader
    ) throws(ConversionError) -> MappingResult<CanonicalPresence> {
        do throws(DocumentError) {
            switch format {
            case .categories:
                let document = try reader.read(bytes, using: parser) { root throws(DocumentError) in
                    try CategoriesDocument(reading: root)
                }
                return mapper.canonical(from: document, at: options.at)
            case .legacyInterop:
                let document = try reader.read(bytes, using: parser) { root throws(DocumentError) in
                    try LegacyInteropDocument(reading: root)
                }
                guard let entity = options.entity else {
                    throw DocumentError(
                        code: DocumentError.Code("missing-option"),
                        message: "MS-PRES 2.2.2.7.6: legacyInterop has no entity; the option entity is missing")
                }
                guard document.availability != nil else {
                    throw DocumentError(
                        code: .missing, message: "MS-PRES 2.2.2.7.6: legacyInterop without availability",
                        position: XMLPosition(line: 1, column: 1, offset: 0))
                }
                return mapper.canonical(from: document, entity: entity)
            case .msrtc:
                let document = try reader.read(bytes, using: parser) { root throws(DocumentError) in
                    try MSRTCPIDFDocument(reading: root)
                }
                return mapper.canonical(from: document)
            case .xpidf:
                let document: XPIDFDocument = try reader.read(bytes, using: xpidfParser)
                return mapper.canonical(from: document, at: options.at)
            default:
                return mapper.canonical(from: try reader.readPIDF(bytes, using: parser), at: options.at)
            }
        } catch {
            throw ConversionError(error)
        }
    }

    /// Encodes the canonical model as a document; losses are returned, not thrown.
    public func write(
        _ presence: CanonicalPresence, format: PresenceFormat, options: ConversionOptions = ConversionOptions()
    ) -> MappingResult<[UInt8]> {
        func encoded<Document>(_ result: MappingResult<Document>, _ encode: (Document) -> [UInt8]) -> MappingResult<[UInt8]> {
            MappingResult(encode(result.value), losses: result.losses, rowIDs: result.rowIDs)
        }
        switch format {
        case .categories:
            return encoded(mapper.categories(from: presence, at: options.at)) { $0.encoded(declaration: true) }
        case .legacyInterop: return encoded(mapper.legacyInterop(from: presence)) { $0.encoded(declaration: true) }
        case .msrtc: return encoded(mapper.msrtcPIDF(from: presence)) { $0.encoded(declaration: true) }
        case .xpidf: return encoded(mapper.xpidf(from: presence)) { $0.encode() }
        default:
            let result = mapper.pidf(from: presence, profile: options.profile, lossless: options.lossless, at: options.at)
            return encoded(result) { $0.encode() }
        }
    }

    /// Whether the target is written from the source document itself, so that losses of the canonical model do not apply.
    private func isCopy(_ presence: CanonicalPresence, _ target: PresenceFormat, _ options: ConversionOptions) -> Bool {
        switch (presence.residue, target) {
        case (.categories, .categories), (.legacyInterop, .legacyInterop), (.msrtc, .msrtc), (.xpidf, .xpidf): true
        case (.pidf(let document), .pidf): (document.form == .draft) == (options.profile == .rpidDraft)
        default: false
        }
    }

    private func rename(_ presence: inout CanonicalPresence, _ entity: String) {
        presence.entity = entity
        switch presence.residue {
        case .categories(var document):
            document.uri = entity
            presence.residue = .categories(document)
        case .msrtc(var document):
            document.uri = entity.withoutScheme
            presence.residue = .msrtc(document)
        case .pidf(var document):
            document.entity = entity
            presence.residue = .pidf(document)
        case .xpidf(var document):
            document.presentity = entity + String(document.presentity.drop { $0 != ";" })
            presence.residue = .xpidf(document)
        case .legacyInterop, .none: break
        }
    }
}
