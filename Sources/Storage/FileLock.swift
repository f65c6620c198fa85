import Glibc
import PresenceGateway
import Synchronization

/// Exclusive lock of a store against other processes, held until this object is deallocated or the process ends.
///
/// Two `flock` locks, which do not interfere with SQLite's POSIX locks. The lock of the database file holds for every name,
/// symbolic link or hard link it is opened by. The lock of `PATH.lock`, beside the target of symbolic links, guards the
/// names of SQLite's log files if the database is replaced while it is in use.
final class FileLock: Sendable {
    /// The path of the database with symbolic links resolved.
    let path: String
    /// Whether ``init(_:)`` created the database.
    private let wasMade: Bool
    private let identity: FileIdentity
    private let descriptors: [CInt]

    /// The identity of a file independent of its name.
    private struct FileIdentity: Hashable {
        var device: UInt64
        var inode: UInt64

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            self.init(status)
        }

        init(_ status: stat) { (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino)) }
    }

    /// Databases that this process has open. Opening and closing one of them a second time would release SQLite's POSIX
    /// locks (fcntl(2)).
    private static let held = Mutex<Set<FileIdentity>>([])

    /// Creates the database if it is missing, locks it, and sets the mode of the database and the files beside it to 0600.
    /// - Throws: `StoreFailure` with the file name if the file cannot be created, is in use, is empty, or belongs to
    ///   another user.
    init(_ name: String) throws(StoreFailure) {
        let inUse = StoreFailure("\(name): another process has this store")
        if let identity = FileIdentity(name), Self.held.withLock({ $0.contains(identity) }) { throw inUse }
        var (descriptor, wasMade) = (open(name, O_RDWR | O_CLOEXEC), false)
        if descriptor < 0, errno == ENOENT {
            (descriptor, wasMade) = (open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0o600), true)
            guard descriptor >= 0 else { throw StoreFailure("\(name): cannot be made: \(Self.problem)") }
        }
        guard descriptor >= 0 else { throw StoreFailure("\(name): cannot be opened: \(Self.problem)") }
        var descriptors = [descriptor]
        do throws(StoreFailure) {
            guard Self.lock(descriptor) else { throw inUse }
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw StoreFailure("\(name): \(Self.problem)") }
            guard wasMade || status.st_size > 0 else { throw Self.noOctets(name) }
            guard let real = realpath(name, nil) else { throw StoreFailure("\(name): \(Self.problem)") }
            defer { free(real) }
            let path = String(cString: real)
            let lock = open(path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
            guard lock >= 0 else { throw StoreFailure("\(path).lock: cannot be made: \(Self.problem)") }
            descriptors.append(lock)
            guard Self.lock(lock) else { throw inUse }
            // The file may have been replaced between open and lock.
            guard FileIdentity(path) == FileIdentity(status) else { throw inUse }
            for file in [path, path + "-wal", path + "-shm", path + ".lock"] { try Self.makePrivate(file) }
            self.path = path
            self.wasMade = wasMade
            self.descriptors = descriptors
            identity = FileIdentity(status)
        } catch {
            descriptors.forEach { close($0) }
            throw error
        }
        _ = Self.held.withLock { $0.insert(identity) }
    }

    deinit {
        _ = Self.held.withLock { $0.remove(identity) }
        for descriptor in descriptors { close(descriptor) }
    }

    /// Removes an empty database that ``init(_:)`` created, because the next start would refuse an empty file.
    func removeIfMade() {
        var status = stat()
        if wasMade, stat(path, &status) == 0, status.st_size == 0 { unlink(path) }
    }

    /// Takes the lock of a file, trying for 0.2 s: a process that ends, or a child between fork and exec, may hold it for a moment.
    private static func lock(_ descriptor: Int32) -> Bool {
        for _ in 0..<10 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            usleep(20_000)
        }
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    private static var problem: String { String(cString: strerror(errno)) }

    private static func noOctets(_ path: String) -> StoreFailure {
        StoreFailure("\(path): has no octets, so that what was in it is lost; put a backup in its place, or remove it to begin anew")
    }

    private static func makePrivate(_ path: String) throws(StoreFailure) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return }
        guard chmod(path, 0o600) == 0 else {
            throw StoreFailure("\(path): others can read it, and its mode cannot be changed to 0600: \(problem)")
        }
    }

    // MARK: Checks without a lock

    /// Returns whether the database exists. Throws if it is empty.
    static func check(_ path: String) throws(StoreFailure) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        guard status.st_size > 0 else { throw noOctets(path) }
        return true
    }

    static func checkWritable(_ path: String) throws(StoreFailure) {
        if access(path, R_OK | W_OK) != 0 { throw StoreFailure("\(path): \(problem)") }
    }

    /// Checks that a file can be created beside the path: creates one and removes it.
    static func checkDirectory(of path: String) throws(StoreFailure) {
        let probe = path + ".check"
        let descriptor = open(probe, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreFailure("\(path): cannot be made: \(problem)") }
        close(descriptor)
        unlink(probe)
    }
}
