import GRDBSQLite
import PresenceGateway
import SIPCore

/// Values of a statement, bound in the order of its parameters.
///
/// Texts and documents are written one after the other into a buffer that is used again, from which SQLite reads them while the statement
/// runs, so that it copies none of them.
final class StatementValues {
    private struct Text {
        let parameter: Int32
        let start: Int
        let length: Int
        let isBlob: Bool
    }

    private var statement: OpaquePointer?
    private var parameter: Int32 = 0
    private var texts: [Text] = []
    private var buffer: UnsafeMutableRawBufferPointer
    private var count = 0

    init() { buffer = .allocate(byteCount: 4_096, alignment: 1) }

    deinit { buffer.deallocate() }

    /// Begins with the first parameter of a statement.
    func begin(_ statement: OpaquePointer) {
        self.statement = statement
        parameter = 0
        count = 0
        texts.removeAll(keepingCapacity: true)
    }

    /// Binds the texts, after which the buffer must not change until the statement was reset.
    /// - Returns: result code of SQLite.
    func finish() -> Int32 {
        // A parameter without a value would keep that of the run before, which points into this buffer.
        precondition(parameter == sqlite3_bind_parameter_count(statement), "values do not match the parameters")
        guard let start = buffer.baseAddress else { return SQLITE_NOMEM }
        for text in texts {
            let pointer = start + text.start
            let code =
                text.isBlob
                ? sqlite3_bind_blob(statement, text.parameter, pointer, Int32(clamping: text.length), nil)
                : sqlite3_bind_text(
                    statement, text.parameter, pointer.assumingMemoryBound(to: CChar.self), Int32(clamping: text.length), nil)
            guard code == SQLITE_OK else { return code }
        }
        return SQLITE_OK
    }

    // MARK: values

    func add(_ text: String) {
        let start = count
        append(text)
        note(from: start)
    }

    func add(_ text: String?) {
        if let text { add(text) } else { addNull() }
    }

    func add(_ integer: some FixedWidthInteger) {
        parameter += 1
        sqlite3_bind_int64(statement, parameter, Int64(clamping: integer))
    }

    func add(_ integer: (some FixedWidthInteger)?) {
        if let integer { add(integer) } else { addNull() }
    }

    func add(_ flag: Bool) { add(flag ? 1 : 0) }

    func add(_ flag: Bool?) {
        if let flag { add(flag) } else { addNull() }
    }

    func add(_ instant: Instant) { add(instant.nanosecondsSince1970) }

    func add(_ instant: Instant?) { add(instant?.nanosecondsSince1970) }

    /// `tcp:127.0.0.1:5060`, `udp:[::1]:5060`, or `tls:192.0.2.7:5061 example.com` with the name that the certificate must prove.
    func add(_ address: TransportAddress) {
        let start = count
        append(address.transport.rawValue)
        append(0x3A)
        let isBracketed = address.host.utf8.contains(0x3A)
        if isBracketed { append(0x5B) }
        append(address.host)
        if isBracketed { append(0x5D) }
        append(0x3A)
        append(number: UInt64(clamping: address.port), radix: 10)
        if let name = address.provenName {
            append(0x20)
            append(name)
        }
        note(from: start)
    }

    /// A document: text if it is UTF-8 without NUL, else a blob.
    func add(document: [UInt8]) {
        let start = count
        document.withUnsafeBytes { append($0) }
        let isText = !document.contains(0) && (document.allSatisfy { $0 < 0x80 } || String(validating: document, as: UTF8.self) != nil)
        note(from: start, isBlob: !isText)
    }

    /// A list, in the form of ``StoredList``.
    func add(list: [String]) {
        let start = count
        append(list: list)
        note(from: start)
    }

    /// A dictionary, in the form of ``StoredList``.
    func add(pairs: [String: String]) {
        let start = count
        append(pairs: pairs) { append(escaped: $0) }
        note(from: start)
    }

    /// A dictionary of digests, in the form of ``StoredList`` with hexadecimal values.
    func add(digests: [String: UInt64]) {
        let start = count
        append(pairs: digests) { append(number: $0, radix: 16) }
        note(from: start)
    }

    func addNull() {
        parameter += 1
        sqlite3_bind_null(statement, parameter)
    }

    private func note(from start: Int, isBlob: Bool = false) {
        parameter += 1
        texts.append(Text(parameter: parameter, start: start, length: count - start, isBlob: isBlob))
    }

    // MARK: buffer

    private func append(list: [String]) {
        for (index, item) in list.enumerated() {
            if index > 0 { append(0x20) }
            append(escaped: item)
        }
    }

    private func append<Value>(pairs: [String: Value], value append: (Value) -> Void) {
        guard !pairs.isEmpty else { return }
        for (index, pair) in pairs.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { self.append(0x20) }
            self.append(escaped: pair.key)
            self.append(0x3D)
            append(pair.value)
        }
    }

    /// Escapes space, `%` and `=`; an empty item becomes `%`.
    private func append(escaped item: String) {
        guard !item.isEmpty else { return append(0x25) }
        guard item.utf8.contains(where: { $0 == 0x20 || $0 == 0x25 || $0 == 0x3D }) else { return append(item) }
        for byte in item.utf8 {
            switch byte {
            case 0x20: append("%20")
            case 0x25: append("%25")
            case 0x3D: append("%3D")
            default: append(byte)
            }
        }
    }

    /// Appends a number in digits `0` to `9` and `a` to `z`.
    private func append(number: UInt64, radix: UInt64) {
        let start = count
        var rest = number
        repeat {
            let digit = UInt8(rest % radix)
            append(digit < 10 ? 0x30 + digit : 0x57 + digit)
            rest /= radix
        } while rest > 0
        buffer[start..<count].reverse()
    }

    private func append(_ byte: UInt8) {
        reserve(1)
        buffer[count] = byte
        count += 1
    }

    private func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    private func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        reserve(bytes.count)
        buffer.baseAddress?.advanced(by: count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    private func reserve(_ bytes: Int) {
        guard count + bytes > buffer.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(2 * buffer.count, count + bytes), alignment: 1)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        buffer.deallocate()
        buffer = larger
    }
}
