import Administration
import Foundation

/// JSON of the inspection pages: names in snake case, times in RFC 3339, nil values omitted.
package enum InspectionJSON {
    static func answer(_ value: some Encodable) throws(QuestionError) -> AdministrationAnswer {
        do {
            return AdministrationAnswer(json: try text(value))
        } catch {
            throw QuestionError(status: 500, text: "the answer cannot be written: \(error)")
        }
    }

    package static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    package static func read<Value: Decodable>(_ text: String, as type: Value.Type = Value.self) throws -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { path in Name(path.last?.stringValue ?? "") }
        return try decoder.decode(type, from: Data(text.utf8))
    }

    /// Converts a name in snake case to a property name; acronyms are in upper case unless they begin the name.
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ snake: String) {
            let words = snake.split(separator: "_")
            stringValue = words.enumerated().map { index, word in
                if index == 0 { return String(word) }
                return word == "id" || word == "uri" ? word.uppercased() : word.prefix(1).uppercased() + word.dropFirst()
            }.joined()
        }

        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
