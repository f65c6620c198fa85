import ArgumentParser
import GatewayService
import Logging
import SIPCore

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the gateway.",
        discussion: """
            Prints one line `ready ADDRESS...` on standard output when it accepts traffic; logs go to standard error.
            SIGTERM and SIGINT end every dialog (or leave them in the store, see on-stop), then the process. SIGHUP reads domains, limits, timing,
            users, mapping tables and certificates anew, and says what waits for a restart.

            Under a service manager (NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID in the environment) it also sends READY, RELOADING, STOPPING,
            STATUS and WATCHDOG notifications by the protocol of sd_notify(3). Without NOTIFY_SOCKET nothing is sent.

            EXAMPLES
              isthmus serve --config isthmus.yaml
              isthmus serve --config isthmus.yaml --log-format json --log-level debug
            """)

    @OptionGroup var file: ConfigurationOption
    @Option(help: "The form of the log lines: \(LogFormat.allCases.map(\.rawValue).joined(separator: " or ")).")
    var logFormat = LogFormat.logfmt
    @Option(help: "The least level that is logged; identities of people appear at debug only.")
    var logLevel = Logger.Level.info
    @Option(help: ArgumentHelp("How long SIGTERM waits at most for dialogs to end; not for peers that are silent.", valueName: "seconds"))
    var drain = 5

    func validate() throws {
        guard (0...3_600).contains(drain) else { throw ValidationError("--drain must be from 0 to 3600 seconds") }
    }

    func run() async throws {
        let format = logFormat
        let level = logLevel
        let logger = Logger(label: "isthmus") { _ in StructuredLogHandler(logLevel: level, format: format) }
        let manager = ServiceManagerEnvironment.ofProcess()
        try await RunningGateway.run(logger: logger, drain: .seconds(drain), manager: manager, reading: file.read) { addresses in
            Terminal.write("ready \(addresses.joined(separator: " "))\n")
        }
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
