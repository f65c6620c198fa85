import PresenceGateway
import Storage

/// `store`: the file that keeps state across restarts.
extension ConfigurationReader {
    mutating func readStore(_ store: ConfigurationNode) {
        guard let fields = store.fields(["memory", "sqlite", "synchronous", "megabytes", "on-stop", "postgresql"]) else { return }
        fields["postgresql"]?.refuse("storage in PostgreSQL \(Self.unsupported); use store: { sqlite: PATH }")
        if let memory = fields["memory"], memory.bool() == false { memory.refuse("leave it out, and give a path as sqlite") }
        guard let sqlite = fields["sqlite"] else {
            for name in ["synchronous", "megabytes", "on-stop"] { fields[name]?.refuse("goes with sqlite only") }
            return
        }
        fields["memory"]?.refuse("a store is in memory or in SQLite, not both")
        guard let path = sqlite.string() else { return }
        var chosen = ProgramConfiguration.Store(path: path)
        if let synchronous = fields["synchronous"]?.choice(SQLiteStore.Synchronous.self) { chosen.options.synchronous = synchronous }
        if let megabytes = fields["megabytes"]?.integer(1...1_048_576) { chosen.options.maximumBytes = megabytes << 20 }
        if let onStop = fields["on-stop"]?.choice(StopPolicy.self) { chosen.onStop = onStop }
        configuration.store = chosen
    }
}
