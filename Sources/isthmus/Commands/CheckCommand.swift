import ArgumentParser
import GatewayService
import PresenceGateway
import SIPCore
import SIPSecurity
import SIPTransport
import Storage
import UserDirectory

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Read a configuration file and name the line and key of every mistake.",
        discussion: """
            Exit code 0 when `serve` would accept the file, 1 when not. Nothing is started; of the store it is only looked whether it
            can be opened. Private keys and files of users or passwords that others can read are warned of on standard error.

            With --probe every partner's servers are located as the gateway would, and asked by OPTIONS over connections of their own, with
            the certificates of the file: one line each, in the order in which a request tries them. Any answer but 408 and 503 shows
            that a server is up; the time is that of connection, handshake and answer together. Exit code 1 when a partner has no server
            that is up. Domains that only "*" covers are not known, and not probed.

            EXAMPLES
              isthmus check --config isthmus.yaml
              isthmus check --config isthmus.yaml --probe --timeout 2
            """)

    @OptionGroup var file: ConfigurationOption
    @Flag(help: "Ask the servers of every partner whether they are up.")
    var probe = false
    @Option(help: ArgumentHelp("How long each server is given, 1 to 60; with --probe.", valueName: "seconds"))
    var timeout = 5

    func validate() throws {
        guard (1...60).contains(timeout) else { throw ValidationError("--timeout must be from 1 to 60 seconds") }
    }

    func run() async throws {
        let configuration = try file.read()
        if let store = configuration.store {
            do throws(StoreFailure) {
                try SQLiteStore.check(path: store.path)
            } catch {
                throw CommandFailure(.inputRefused, "\(file.config): store.sqlite: \(error.description)")
            }
        }
        var users = ""
        let state = try configuration.loadDirectory()
        if case .known(let directory) = state { users = ", \(directory.count) users" }
        _ = try configuration.loadDocuments(of: state)
        _ = try configuration.signIn.tlsDSK?.load()
        _ = try configuration.withPasswords()
        let settings = try configuration.tls?.load(at: HostClock().now())
        let listeners = configuration.listeners.map(\.description).joined(separator: " ")
        var documents = ""
        if let root = configuration.xcapRoot {
            documents = ", documents at \(root): \(Gateway.documentUsages.joined(separator: " "))"
        }
        for warning in ExposedSecrets.warnings(of: configuration) { Terminal.complain(warning) }
        Terminal.write("\(file.config): ok: \(configuration.domains.count) domains\(users), listening on \(listeners)\(documents)\n")
        for note in ConfigurationNotes.all(of: configuration) { Terminal.complain(note) }
        if probe { try await self.probe(configuration, settings) }
    }

    private func probe(_ configuration: ProgramConfiguration, _ settings: TLSSettings?) async throws {
        let now = HostClock().now()
        let probe = PartnerProbe(configuration: configuration, settings: settings, timeout: .seconds(timeout))
        if probe.skipsOthers { Terminal.write("* not probed: it covers domains that nobody knows before they are asked for\n") }
        for warning in settings.map({ Self.warnings(of: $0, at: now) }) ?? [] { Terminal.complain(warning) }
        var down: [String] = []
        try await probe.run { report in
            Terminal.write(report.text)
            if !report.isUp { down.append(report.name) }
            for warning in report.warnings(within: settings?.warningTime ?? .zero, at: now) { Terminal.complain(warning) }
        }
        if !down.isEmpty {
            throw CommandFailure(.inputRefused, "no server is up of \(down.joined(separator: ", "))")
        }
    }

    /// Own certificates that expire soon, one line each.
    static func warnings(of settings: TLSSettings, at now: Instant) -> [String] {
        let own = [("tls", settings.identity)] + settings.names.sorted { $0.key < $1.key }.map { ("tls.names.\($0.key)", $0.value) }
        return own.flatMap { key, identity in
            identity.chain.filter { $0.notAfter <= (now + settings.warningTime).secondsSince1970 }
                .map { "\(key).certificate: \($0.ending(at: now))" }
        }
    }
}
