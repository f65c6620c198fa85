import Administration

/// A piece of a page; text that is put into one is escaped, other pieces are not.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    private(set) var text: String

    init(stringLiteral value: String) { text = value }

    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity + interpolationCount * 16) }

        mutating func appendLiteral(_ literal: String) { text += literal }
        mutating func appendInterpolation(_ value: String) { text += HTML.escaped(value) }
        mutating func appendInterpolation(_ value: some BinaryInteger) { text += String(value) }
        mutating func appendInterpolation(_ value: HTML?) { text += value?.text ?? "" }
        mutating func appendInterpolation(_ values: [HTML]) { for value in values { text += value.text } }
    }

    /// Escapes the five characters that have a meaning in content and attribute values; control characters become U+FFFD.
    private static func escaped(_ text: String) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\t", "\n", "\r": result.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0x7f: result.unicodeScalars.append("\u{FFFD}")
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    // MARK: elements

    /// A table with a caption for screen readers; the first cell of a row is its heading.
    static func table(_ caption: String, _ columns: [String], _ rows: [[HTML]]) -> HTML {
        let heads = columns.map { "<th scope=\"col\">\($0)</th>" as HTML }
        let lines = rows.map { cells -> HTML in
            let first = cells.first.map { "<th scope=\"row\">\($0)</th>" as HTML }
            return "<tr>\(first)\(cells.dropFirst().map { "<td>\($0)</td>" as HTML })</tr>\n"
        }
        return """
            <div class="wide"><table><caption>\(caption)</caption><thead><tr>\(heads)</tr></thead>
            <tbody>
            \(lines)</tbody></table></div>

            """
    }

    /// A list of names with values.
    static func values(_ rows: [(name: String, value: HTML)]) -> HTML {
        "<dl>\(rows.map { "<dt>\($0.name)</dt><dd>\($0.value)</dd>\n" as HTML })</dl>\n"
    }

    /// A link with parameters.
    static func link(_ text: String, _ path: String, _ parameters: [(name: String, value: String)]) -> HTML {
        let request = AdministrationRequest(path: path, parameters: parameters.map { .init($0.name, $0.value) })
        return "<a href=\"\(request.target)\">\(text)</a>"
    }

    /// A field of a form with its label.
    static func field(_ label: String, _ name: String, _ value: String, hint: String = "") -> HTML {
        """
        <label>\(label) <input name="\(name)" value="\(value)" placeholder="\(hint)" autocomplete="off" spellcheck="false"></label>

        """
    }

    /// A choice of a form with its label; the first choice is none, if `none` is given.
    static func choice(_ label: String, _ name: String, _ value: String, of values: [String], none: String? = nil) -> HTML {
        let first = none.map { "<option value=\"\">\($0)</option>" as HTML }
        let options = values.map { option -> HTML in
            let mark: HTML? = option == value ? " selected" : nil
            return "<option\(mark)>\(option)</option>"
        }
        return "<label>\(label) <select name=\"\(name)\">\(first)\(options)</select></label>\n"
    }
}
