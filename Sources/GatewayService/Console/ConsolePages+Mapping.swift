import Administration
import PresenceDocuments
import PresenceMapping
import Synchronization

/// The mapping tables in use.
final class CurrentTables: Sendable {
    private let mapper: Mutex<PresenceMapper>

    init(_ mapper: PresenceMapper) { self.mapper = Mutex(mapper) }

    func replace(by mapper: PresenceMapper) { self.mapper.withLock { $0 = mapper } }

    var current: PresenceMapper { mapper.withLock { $0 } }
}

/// Conversions of a document, as by `isthmus convert`.
extension ConsolePages {
    /// Octets of a document that is converted.
    private static let documentLimit = 256 << 10
    /// Octets of an address that keeps a document.
    private static let linkLimit = 16 << 10

    /// Document and options of a conversion, from parameters or a submitted form.
    private struct ConversionRequest {
        var document = ""
        var from = ""
        var options = ConversionOptions(at: .current())
        var isStrict = false

        init(_ parameters: [AdministrationRequest.Parameter]) throws(QuestionError) {
            options.reading = .liberal
            for parameter in parameters where !parameter.value.isEmpty {
                switch parameter.name {
                case "document": document = parameter.value
                case "from": from = parameter.value
                case "entity": options.entity = parameter.value
                case "profile":
                    guard let profile = PIDFProfile(named: parameter.value) else {
                        throw .bad("profile: must be one of \(PIDFProfile.all.map(\.name).joined(separator: ", "))")
                    }
                    options.profile = profile
                case "at":
                    guard let at = DateTime(parameter.value) else {
                        throw .bad("at: \"\(parameter.value)\" is no time, as in 2026-03-02T09:15:00Z (RFC 3339)")
                    }
                    options.at = at
                case "lossless": options.lossless = true
                case "strict":
                    isStrict = true
                    options.reading = .strict
                case "to": break
                default:
                    throw .bad(
                        "\(parameter.name): unknown parameter; known here: document, from, to, entity, profile, at, lossless, strict")
                }
            }
        }

        func source(_ bytes: [UInt8], _ converter: Converter) throws(QuestionError) -> PresenceFormat {
            guard !from.isEmpty else {
                do throws(ConversionError) { return try converter.format(of: bytes) } catch { throw .bad("document: \(error)") }
            }
            guard let format = PresenceFormat(named: from) else { throw unknown("from", from) }
            return format
        }

        func unknown(_ name: String, _ value: String) -> QuestionError {
            .bad("\(name): must be one of \(PresenceFormat.all.map(\.name).joined(separator: ", ")), not \"\(value)\"")
        }
    }

    /// Converts the content of a POST; the answer is JSON with the document and the report of `convert --report json`.
    func convert(_ request: AdministrationRequest) throws(QuestionError) -> AdministrationAnswer {
        guard let bytes = request.body else { throw QuestionError(status: 405, text: "/convert takes the document as content of a POST") }
        guard bytes.count <= Self.documentLimit else { throw .tooLong(Self.documentLimit) }
        let wanted = try ConversionRequest(request.parameters)
        let target = request.parameters.first { $0.name == "to" }?.value ?? ""
        guard let to = PresenceFormat(named: target) else { throw wanted.unknown("to", target) }
        let converter = Converter(mapper: tables.current)
        let from = try wanted.source(bytes, converter)
        do throws(ConversionError) {
            let conversion = try converter.convert(bytes, from: from, to: to, options: wanted.options)
            return AdministrationAnswer(
                json: JSONText.object([
                    ("document", JSONText.string(String(decoding: conversion.bytes, as: UTF8.self))), ("report", conversion.report.json),
                ]))
        } catch {
            throw .bad("document: \(error)")
        }
    }

    /// Shows a document in all other forms, with the rows that made them and what was lost.
    func mapping(_ request: AdministrationRequest) throws(QuestionError) -> AdministrationAnswer {
        var parameters = request.parameters
        if let body = request.body {
            guard let form = AdministrationRequest.form(body) else { throw .bad("the form cannot be read") }
            parameters = form
        }
        let wanted = try ConversionRequest(parameters)
        let form: HTML = """
            <form method="post" action="/console/mapping">
            <label for="document">Document</label>
            <textarea id="document" name="document" rows="14" spellcheck="false">\(wanted.document)</textarea>
            \(HTML.choice("Format", "from", wanted.from, of: PresenceFormat.all.map(\.name), none: "by its root element"))\
            \(HTML.choice("PIDF profile", "profile", wanted.options.profile.name, of: PIDFProfile.all.map(\.name)))\
            \(HTML.field("Entity", "entity", wanted.options.entity ?? "", hint: "if the document names none"))\
            \(HTML.field("Time", "at", wanted.options.at?.text ?? "", hint: "2026-03-02T09:15:00Z"))\
            <label><input type="checkbox" name="lossless" value="true"\(wanted.options.lossless ? " checked" : nil)> exact values in PIDF</label>
            <label><input type="checkbox" name="strict" value="true"\(wanted.isStrict ? " checked" : nil)> refuse flaws</label>
            <button>Convert</button></form>

            """
        guard !wanted.document.isEmpty else {
            return Self.page("Mapping", "\(form)<p>A presence document in all other forms, with the row of the tables for each value.</p>")
        }
        let bytes = Array(wanted.document.utf8)
        guard bytes.count <= Self.documentLimit else { throw .tooLong(Self.documentLimit) }
        let converter = Converter(mapper: tables.current)
        let from: PresenceFormat
        do throws(QuestionError) { from = try wanted.source(bytes, converter) } catch {
            return Self.page("Mapping", status: error.status, "\(form)<p class=\"bad\" role=\"alert\">\(error.text)</p>")
        }
        let results = PresenceFormat.all.filter { $0 != from }.map { to -> HTML in
            do throws(ConversionError) {
                return section(to, try converter.convert(bytes, from: from, to: to, options: wanted.options), converter.mapper.tables)
            } catch {
                return "<section><h2>\(to.name)</h2><p class=\"bad\" role=\"alert\">\(error.description)</p></section>\n"
            }
        }
        let link = AdministrationRequest(path: "/console/mapping", parameters: parameters.filter { !$0.value.isEmpty })
        let kept: HTML? =
            link.target.utf8.count <= Self.linkLimit ? "<p><a id=\"link\" href=\"\(link.target)\">Link to this conversion</a></p>" : nil
        return Self.page("Mapping", "\(form)\(kept)<p>Read as \(from.name) (\(from.mediaType)).</p>\n<div class=\"forms\">\(results)</div>")
    }

    private func section(_ to: PresenceFormat, _ conversion: Conversion, _ tables: MappingTables) -> HTML {
        let rows = conversion.report.rowIDs.map { id -> [HTML] in
            let found = tables.row(id)
            return ["\(id)", Self.text(found?.table), Self.text(found?.row.section)]
        }
        let losses = conversion.report.losses.map {
            "<li class=\"loss\">\($0.field) \"\($0.value)\": \($0.reason) [\($0.rowID)]</li>" as HTML
        }
        let flaws = conversion.report.flaws.map { "<li class=\"bad\">\($0.description)</li>" as HTML }
        let lost: HTML = losses.isEmpty && flaws.isEmpty ? "<p>Nothing is lost.</p>" : "<ul>\(flaws)\(losses)</ul>"
        return """
            <section id="\(to.name)"><h2>\(to.name)</h2><pre>\(Self.indented(String(decoding: conversion.bytes, as: UTF8.self)))</pre>
            \(lost)
            <details><summary>\(rows.count) rows</summary>\(HTML.table("Rows of the tables", ["Row", "Table", "Section"], rows))</details></section>

            """
    }
}

extension QuestionError {
    fileprivate static func tooLong(_ limit: Int) -> QuestionError {
        QuestionError(status: 413, text: "document: is longer than \(limit) octets")
    }
}
