/// Table `contact`: addresses, links and the parts of a contact card.
struct ContactTable: Sendable {
    let rows: [ContactOutcome]
    /// Schemes of `rows` in lower case, with their colon.
    private let addressSchemes: [[UInt8]]

    init(_ tableRows: [MappingRow]) {
        rows = tableRows.map {
            ContactOutcome(
                row: RowNote($0), kind: $0.text("kind") ?? "", type: $0.text("type") ?? "", label: $0.text("class"),
                relationship: $0.text("relationship"), scheme: $0.text("scheme"), element: $0.text("element"))
        }
        addressSchemes = Set(rows.compactMap { $0.scheme?.lowercased() }).sorted().map { Array($0.utf8) + [UInt8(ascii: ":")] }
    }

    /// Whether a URI has a scheme of the table, such as `tel:`.
    func isAddress(_ uri: String) -> Bool {
        var uri = uri
        return uri.withUTF8 { bytes in
            addressSchemes.contains { scheme in
                guard bytes.count >= scheme.count else { return false }
                for (index, byte) in scheme.enumerated() where bytes[index] | 0x20 != byte | 0x20 { return false }
                return true
            }
        }
    }
}
