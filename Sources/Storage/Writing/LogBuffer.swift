import GRDBSQLite

/// Joins the writes of a commit to the log (`PATH-wal`) into one system call.
///
/// SQLite writes each page of a transaction by two calls: a header of 24 octets, whose octets 4 to 7 are not zero in the last one, and the
/// page. For the time of one COMMIT the methods of the log file (`sqlite3_io_methods`) are replaced by those of this object:
///
///     attach --write--> buffered --page with the last header, read, sync, 120 KiB--> written at once --> detach
///
/// The last page is written before SQLite shows the transaction to other connections, and an error of the write is that of the COMMIT.
/// Nothing is buffered outside a COMMIT, so that pages which SQLite writes early, for want of memory, never wait.
final class LogBuffer {
    private struct Attachment {
        /// First member: `pMethods` of the file points to it, from which the methods find the other members.
        var methods: sqlite3_io_methods
        var own: UnsafePointer<sqlite3_io_methods>
        var file: UnsafeMutablePointer<sqlite3_file>
        var buffer: UnsafeMutableRawBufferPointer
        var count = 0
        /// Place in the file of the first buffered octet.
        var offset: sqlite3_int64 = 0
        /// Whether the page that follows ends the transaction.
        var isLast = false
    }

    /// Below 128 KiB, the most that the file system of SQLite writes by one call.
    private static let capacity = 120 << 10
    private static let frameHeader = 24

    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 8)
    private let attachment = UnsafeMutablePointer<Attachment>.allocate(capacity: 1)
    private var isAttached = false

    deinit {
        buffer.deallocate()
        attachment.deallocate()
    }

    /// Begins to buffer writes to the log of a connection; does nothing if it has none.
    func attach(to connection: OpaquePointer) {
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &pointer) == SQLITE_OK,
            let file = pointer
        else { return }
        attach(to: file)
    }

    /// Begins to buffer writes to an open file.
    func attach(to file: UnsafeMutablePointer<sqlite3_file>) {
        guard let own = file.pointee.pMethods else { return }
        var methods = own.pointee
        // Without the methods of shared memory, which are those of the database alone.
        methods.iVersion = 1
        methods.xWrite = { file, data, amount, offset in LogBuffer.write(file, data, Int(amount), offset) }
        methods.xRead = { file, data, amount, offset in
            LogBuffer.flushed(file) { $0.xRead(file, data, amount, offset) }
        }
        methods.xSync = { file, flags in LogBuffer.flushed(file) { $0.xSync(file, flags) } }
        methods.xTruncate = { file, size in LogBuffer.flushed(file) { $0.xTruncate(file, size) } }
        methods.xFileSize = { file, size in LogBuffer.flushed(file) { $0.xFileSize(file, size) } }
        attachment.initialize(to: Attachment(methods: methods, own: own, file: file, buffer: buffer))
        file.pointee.pMethods = table
        isAttached = true
    }

    /// Ends the buffering.
    /// - Parameter keepingBytes: whether what is still buffered is written, not dropped.
    /// - Returns: result code of that write.
    @discardableResult
    func detach(keepingBytes: Bool) -> Int32 {
        guard isAttached else { return SQLITE_OK }
        isAttached = false
        defer { attachment.deinitialize(count: 1) }
        // A file that was closed meanwhile has no methods, and takes nothing.
        guard attachment.pointee.file.pointee.pMethods == table else { return SQLITE_OK }
        attachment.pointee.file.pointee.pMethods = attachment.pointee.own
        return keepingBytes ? Self.flush(attachment) : SQLITE_OK
    }

    /// The methods in ``attachment``, which are its first member.
    private var table: UnsafePointer<sqlite3_io_methods> {
        UnsafePointer(UnsafeMutableRawPointer(attachment).assumingMemoryBound(to: sqlite3_io_methods.self))
    }

    // MARK: methods of the file

    private static func attachment(of file: UnsafeMutablePointer<sqlite3_file>?) -> UnsafeMutablePointer<Attachment>? {
        UnsafeMutableRawPointer(mutating: file?.pointee.pMethods)?.assumingMemoryBound(to: Attachment.self)
    }

    private static func flush(_ log: UnsafeMutablePointer<Attachment>) -> Int32 {
        let count = log.pointee.count
        guard count > 0 else { return SQLITE_OK }
        log.pointee.count = 0
        return log.pointee.own.pointee.xWrite(log.pointee.file, log.pointee.buffer.baseAddress, Int32(count), log.pointee.offset)
    }

    /// Calls a method of the file after what is buffered was written.
    private static func flushed(_ file: UnsafeMutablePointer<sqlite3_file>?, _ call: (sqlite3_io_methods) -> Int32) -> Int32 {
        guard let log = attachment(of: file) else { return SQLITE_MISUSE }
        let code = flush(log)
        return code == SQLITE_OK ? call(log.pointee.own.pointee) : code
    }

    private static func write(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ data: UnsafeRawPointer?, _ amount: Int, _ offset: sqlite3_int64
    ) -> Int32 {
        guard let log = attachment(of: file), let data else { return SQLITE_MISUSE }
        if offset != log.pointee.offset + sqlite3_int64(log.pointee.count) || log.pointee.count + amount > log.pointee.buffer.count {
            let code = flush(log)
            guard code == SQLITE_OK else { return code }
            log.pointee.offset = offset
        }
        guard amount <= log.pointee.buffer.count else {
            return log.pointee.own.pointee.xWrite(file, data, Int32(amount), offset)
        }
        log.pointee.buffer.baseAddress?.advanced(by: log.pointee.count).copyMemory(from: data, byteCount: amount)
        log.pointee.count += amount
        if amount == frameHeader {
            log.pointee.isLast = data.loadUnaligned(fromByteOffset: 4, as: UInt32.self) != 0
            return SQLITE_OK
        }
        return log.pointee.isLast ? flush(log) : SQLITE_OK
    }
}
