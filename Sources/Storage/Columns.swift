import Foundation
import GRDB
import PresenceGateway
import SIPCore

/// Reads columns of a row by name. A value of the wrong type throws `StoreFailure`: the store is damaged.
struct Columns {
    let table: String
    let row: Row

    func damaged(_ name: String) -> StoreFailure { StoreFailure("the store is damaged: \(table).\(name) cannot be read") }

    /// The value of a column; NULL if the row has no such column.
    private func value(_ name: String) -> DatabaseValue {
        let value: DatabaseValue? = row[name]
        return value ?? .null
    }

    func text(_ name: String) throws -> String {
        guard let value = String.fromDatabaseValue(value(name)) else { throw damaged(name) }
        return value
    }

    func optionalText(_ name: String) -> String? { String.fromDatabaseValue(value(name)) }

    func integer<Value: FixedWidthInteger>(_ name: String) throws -> Value {
        guard let value = optionalInteger(name, as: Value.self) else { throw damaged(name) }
        return value
    }

    func optionalInteger<Value: FixedWidthInteger>(_ name: String, as: Value.Type = Value.self) -> Value? {
        Int64.fromDatabaseValue(value(name)).flatMap { Value(exactly: $0) }
    }

    func flag(_ name: String) throws -> Bool { try integer(name) as Int != 0 }

    func instant(_ name: String) throws -> Instant { Instant(nanosecondsSince1970: try integer(name)) }

    func optionalInstant(_ name: String) -> Instant? { optionalInteger(name).map { Instant(nanosecondsSince1970: $0) } }

    func address(_ name: String) throws -> TransportAddress {
        guard let value = TransportAddress(stored: try text(name)) else { throw damaged(name) }
        return value
    }

    /// A document as bytes, read from text (the normal case) or, for documents that are not UTF-8, from a blob.
    func document(_ name: String) throws -> [UInt8] {
        let value = value(name)
        if let text = String.fromDatabaseValue(value) { return Array(text.utf8) }
        guard let data = Data.fromDatabaseValue(value) else { throw damaged(name) }
        return Array(data)
    }

    func list(_ name: String) throws -> [String] { StoredList.items(of: try text(name)) }

    func pairs(_ name: String) throws -> [String: String] {
        var result: [String: String] = [:]
        for item in try text(name).split(separator: " ") {
            let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2 else { throw damaged(name) }
            result[StoredList.unescaped(halves[0])] = StoredList.unescaped(halves[1])
        }
        return result
    }
}

/// Lists and dictionaries of strings in one text column: items separated by spaces, `name=value` pairs sorted by name, with `%20`, `%25`
/// and `%3D` for space, `%` and `=`, and `%` for an empty item. ``StatementValues`` writes them.
enum StoredList {
    static func items(of text: String) -> [String] { text.split(separator: " ").map(unescaped) }

    static func unescaped(_ item: Substring) -> String {
        if item == "%" { return "" }
        guard item.utf8.contains(0x25) else { return String(item) }
        return String(item.replacing("%20", with: " ").replacing("%3D", with: "=").replacing("%25", with: "%"))
    }
}

extension TransportAddress {
    /// Parses the form that ``StatementValues`` writes; nil if the text has another form.
    init?(stored text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        let text = parts[0]
        guard let first = text.firstIndex(of: ":"), let last = text.lastIndex(of: ":"), first < last,
            let transport = TransportProtocol(rawValue: String(text[..<first])), let port = Int(text[text.index(after: last)...])
        else { return nil }
        var host = text[text.index(after: first)..<last]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        self.init(transport, String(host), port, proving: parts.count == 2 ? String(parts[1]) : nil)
    }
}
