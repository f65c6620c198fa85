import Glibc
import PresenceGateway
import Synchronization

/// Keeps other processes out of a store as long as this lives; the kernel lets go with the process.
///
/// Two locks, both of `flock`, which SQLite's own locks of POSIX do not touch. That of the database itself is the same whatever name,
/// symbolic link or hard link it is opened by. That of `PATH.lock`, beside the file that symbolic links lead to, guards the names of
/// SQLite's log files when the database is replaced while it is in use.
final class FileLock: Sendable {
    /// The database, without symbolic links.
    let path: String
    /// Whether the database was made just now.
    private let wasMade: Bool
    private let identity: FileIdentity
    private let descriptors: [CInt]

    /// Which file it is, whatever its name.
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

    /// Databases of this process. To open and close one of them a second time would end SQLite's locks of it (fcntl(2)).
    private static let held = Mutex<Set<FileIdentity>>([])

    /// Makes the database if there is none, locks it, and makes it and the files beside it readable by their owner alone.
    /// - Throws: naming the file: it cannot be made, is in use, has no octets, or belongs to another user.
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
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw inUse }
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw StoreFailure("\(name): \(Self.problem)") }
            guard wasMade || status.st_size > 0 else { throw Self.noOctets(name) }
            guard let real = realpath(name, nil) else { throw StoreFailure("\(name): \(Self.problem)") }
            defer { free(real) }
            let path = String(cString: real)
            let lock = open(path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
            guard lock >= 0 else { throw StoreFailure("\(path).lock: cannot be made: \(Self.problem)") }
            descriptors.append(lock)
            guard flock(lock, LOCK_EX | LOCK_NB) == 0 else { throw inUse }
            // It may have been replaced meanwhile.
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

    /// Takes a database away that was made for a store which could not be made: one without octets would be refused from now on.
    func removeIfMade() {
        var status = stat()
        if wasMade, stat(path, &status) == 0, status.st_size == 0 { unlink(path) }
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

    // MARK: looking without a lock

    /// Whether a store could be there: false if it is yet to be made.
    static func check(_ path: String) throws(StoreFailure) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        guard status.st_size > 0 else { throw noOctets(path) }
        return true
    }

    static func checkWritable(_ path: String) throws(StoreFailure) {
        if access(path, R_OK | W_OK) != 0 { throw StoreFailure("\(path): \(problem)") }
    }

    /// Whether a file can be made beside the path: makes one, and takes it away.
    static func checkDirectory(of path: String) throws(StoreFailure) {
        let probe = path + ".check"
        let descriptor = open(probe, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreFailure("\(path): cannot be made: \(problem)") }
        close(descriptor)
        unlink(probe)
    }
}
