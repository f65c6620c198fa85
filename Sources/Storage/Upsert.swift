/// Statement that adds a row, or changes the row with its key.
///
/// OR REPLACE would remove the old row first, together with the rows of other tables that belong to it, and write every index again.
enum Upsert {
    /// The columns in the order of the arguments: key, other columns, `part`, which may also be a column of the key. The partition of a row
    /// that exists is kept.
    static func sql(_ table: String, key: [String], _ columns: [String]) -> SQLStatement {
        let names = key + columns + (key.contains("part") ? [] : ["part"])
        return SQLStatement(
            "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(names.map { _ in "?" }.joined(separator: ", "))) "
                + "ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET "
                + columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
    }
}
