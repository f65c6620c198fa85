import ArgumentParser
import GatewayService
import Logging
import NIOCore
import PresenceGateway
import SIPCore
import SIPSecurity
import SIPTransport

/// Presentity, identity and route of a request: the same in `watch` and `publish`.
struct PeerOptions: ParsableArguments {
    @Argument(help: "The presentity, as in sip:alice@example.org.")
    var uri: String
    @Option(help: ArgumentHelp("Where requests go: udp:HOST:PORT, tcp:HOST:PORT or tls:HOST:PORT.", valueName: "address"))
    var via: String
    @Option(name: .customLong("as"), help: ArgumentHelp("Who asks; the presentity itself when not given.", valueName: "uri"))
    var identity: String?
    @Option(help: ArgumentHelp("The name to sign in with; the user part of --as when not given.", valueName: "name"))
    var user: String?
    @Option(help: ArgumentHelp("Sign in when asked (Digest or NTLM), with the password in the first line of this file.", valueName: "file"))
    var passwordFile: String?

    @Option(
        help: ArgumentHelp(
            "For --via tls: a configuration whose certificates are shown, and whose roots are believed.", valueName: "file"))
    var config: String?

    func validate() throws {
        guard let parsed = SIPURI(uri), !parsed.host.isEmpty else { throw ValidationError("\(uri) is not a SIP URI with a domain") }
        if let identity, SIPURI(identity)?.host.isEmpty ?? true { throw ValidationError("\(identity) is not a SIP URI with a domain") }
        do {
            let address = try TransportAddress.parse(via)
            guard (address.transport == .tls) == (config != nil) else {
                throw ValidationError("--via \(via): TLS needs --config, whose `tls` says who we are; nothing else does")
            }
            if address.port == 0 { throw ValidationError("--via \(via): the port must not be 0") }
        } catch let error as AddressTextError {
            throw ValidationError("--via \(via): \(error.rule)")
        }
    }

    var from: String { identity ?? uri }

    /// Credentials from the password file; nil without one.
    func signIn() throws -> ClientSignIn? {
        guard let passwordFile, let party = SIPURI(from) else { return nil }
        guard let password = PasswordFile.password(in: try CommandInput.read(passwordFile)) else {
            throw CommandFailure(.inputRefused, "\(passwordFile): has no password in its first line")
        }
        var random = SystemRandomNumberGenerator()
        return ClientSignIn(
            user: user ?? party.decodedUser ?? "", domain: party.domainKey, password: password,
            secret: (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }

    /// Starts a client on a free local port.
    func start(_ makeEndpoint: @escaping @Sendable (TransportAddress, [TransportAddress]) -> any SansIOEndpoint) async throws -> SIPServer {
        var address: TransportAddress
        do { address = try TransportAddress.parse(via) } catch { throw CommandFailure(.usage, "--via \(via): \(error.rule)") }
        let listener = TransportAddress(address.transport, LocalAddress.toward(address), 0)
        let logger = Logger(label: "client") { _ in SwiftLogNoOpLogHandler() }
        let tls = try secure(&address, logger)
        let target = address
        do {
            return try await SIPServer.start(listening: [listener], logger: logger, tls: tls) { makeEndpoint(target, $0.listeners) }
        } catch let error as TransportError {
            throw CommandFailure(.unreachable, error.description)
        }
    }

    /// Returns the TLS settings of the configuration and sets the name that the server must prove: the one configured for the presentity's
    /// domain, or its host name.
    private func secure(_ address: inout TransportAddress, _ logger: Logger) throws -> TLSService? {
        guard let config else { return nil }
        let configuration = try ConfigurationReader.read(file: config)
        guard let files = configuration.tls else { throw CommandFailure(.inputRefused, "\(config): `tls` is missing") }
        let settings = try files.load(at: HostClock().now())
        if let domain = SIPURI(uri)?.domainKey, let name = configuration.domains[domain]?.certificate?.names.first {
            address.provenName = name
        }
        do { return try TLSService(settings, logger: logger) } catch { throw CommandFailure(.inputRefused, "\(config): tls: \(error)") }
    }
}

extension ShardHost {
    /// Calls `stop` with the endpoint when this process is told to stop; cancel the task when that no longer matters.
    func whenInterrupted(_ stop: @escaping @Sendable (any SansIOEndpoint, Instant) -> Void) -> Task<Void, Never> {
        Task {
            for await signal in ProcessSignals.stream() where signal == .stop {
                try? await self.perform(stop).get()
                break
            }
        }
    }
}
