import ArgumentParser
import PresenceGateway
import SIPCore
import SIPTransport
import Storage
import UserDirectory

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Read a configuration file and name the line and key of every mistake.",
        discussion: """
            Exit code 0 when `serve` would accept the file, 1 when not. Nothing is started; of the store it is only looked whether it
            can be opened.

            EXAMPLES
              isthmus check --config isthmus.yaml
            """)

    @OptionGroup var file: ConfigurationOption

    func run() throws {
        let configuration = try file.read()
        if let store = configuration.store {
            do throws(StoreFailure) {
                try SQLiteStore.check(path: store.path)
            } catch {
                throw CommandFailure(.inputRefused, "\(file.config): store.sqlite: \(error.description)")
            }
        }
        var users = ""
        if case .known(let directory) = try configuration.loadDirectory() { users = ", \(directory.count) users" }
        _ = try configuration.tlsDSK?.load()
        _ = try configuration.tls?.load(at: HostClock().now())
        let listeners = configuration.listeners.map(\.description).joined(separator: " ")
        Terminal.write("\(file.config): ok: \(configuration.domains.count) domains\(users), listening on \(listeners)\n")
    }
}
