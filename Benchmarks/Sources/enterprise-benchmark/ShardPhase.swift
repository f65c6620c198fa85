import Measurement

/// Phase of a comparison of shards: operations of one kind on a gateway.
struct ShardPhase {
    var name: String
    var operations: Int
    /// Operations in flight.
    var window = ShardPhase.window
    /// Whether the operations notify watchers.
    var notifies = false
    /// Starts an operation by its number, from 0.
    var begin: (EnterpriseLoad, Int) -> Void
    /// Number of finished operations, of this and earlier phases.
    var finished: (EnterpriseLoad) -> Int

    /// Operations in flight while processor time is compared.
    static let window = 16
    /// Operations in flight while throughput is measured.
    static let saturatingWindow = 512
    /// Polls for each publication.
    private static let pollFactor = 4

    /// The phases in order, for a number of users.
    static func all(users: Int) -> [ShardPhase] {
        /// User of an operation: each user once in `users` operations, without neighbors in sequence.
        func user(_ number: Int) -> Int { (number % users) * 7_919 % users }
        func publish(_ name: String, window: Int = Self.window, notifies: Bool = true) -> ShardPhase {
            ShardPhase(name: name, operations: users, window: window, notifies: notifies) {
                $0.publishChange(user($1))
            } finished: {
                $0.durations(.publish).count
            }
        }
        return [
            ShardPhase(name: "sign-in", operations: users) {
                $0.signIn($1)
            } finished: {
                $0.signedIn
            },
            publish("publication, without watchers", notifies: false),
            ShardPhase(name: "batch subscription", operations: users) {
                $0.watch($1)
            } finished: {
                $0.watching
            },
            publish("publication with its notifications"),
            ShardPhase(name: "poll", operations: users * pollFactor) {
                $0.act(.poll, user($1), $1)
            } finished: {
                $0.durations(.poll).count
            },
            publish("publication, saturated", window: saturatingWindow),
        ]
    }
}
