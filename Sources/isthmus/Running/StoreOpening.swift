import PresenceGateway
import SIPTransport
import Storage
import Synchronization

/// The store of a configuration file, opened and read once for all shards.
struct OpenedStore: Sendable {
    let store: SQLiteStore
    let records: [StoreRecord]

    /// - Throws: `CommandFailure` (input refused) naming the file.
    init?(_ configuration: ProgramConfiguration.Store?) throws(CommandFailure) {
        guard let configuration else { return nil }
        do {
            store = try SQLiteStore(path: configuration.path, options: configuration.options)
            records = try store.load(at: HostClock().now())
        } catch {
            throw CommandFailure(.inputRefused, "store.sqlite: \(error.description)")
        }
    }
}

/// What all shards took back, added up.
final class RestoredTotal: Sendable {
    private let sum = Mutex(RestoredState())

    var value: RestoredState { sum.withLock { $0 } }

    func add(_ part: RestoredState) { sum.withLock { $0 = $0 + part } }
}
