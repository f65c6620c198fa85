import Glibc
import PresenceGateway

/// A lock file that is held as long as this lives; the kernel lets it go with the process.
final class FileLock: Sendable {
    private let descriptor: CInt

    init(_ path: String) throws(StoreFailure) {
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw StoreFailure("\(path): cannot be made: \(String(cString: strerror(errno)))") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw StoreFailure("\(path): another process has this store")
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func checkWritable(_ path: String) throws(StoreFailure) {
        if access(path, R_OK | W_OK) != 0 { throw StoreFailure("\(path): \(String(cString: strerror(errno)))") }
    }

    /// Whether a file can be made beside the path: makes one, and takes it away.
    static func checkDirectory(of path: String) throws(StoreFailure) {
        let probe = path + ".check"
        let descriptor = open(probe, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw StoreFailure("\(path): cannot be made: \(String(cString: strerror(errno)))") }
        close(descriptor)
        unlink(probe)
    }
}
