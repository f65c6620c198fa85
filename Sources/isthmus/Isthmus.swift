import ArgumentParser
import GatewayService

/// The program: server, offline tools and client tools.
@main struct Isthmus {
    static let version = BuildIdentity.current.description

    static func main() async {
        // A closed pipe fails one write, and does not end the process.
        Terminal.ignoreBrokenPipes()
        await Terminal.exit(run(Array(CommandLine.arguments.dropFirst())))
    }

    /// Parses and runs one command line; exit codes: 0 success, 1 input refused, 2 usage, 3 unreachable.
    static func run(_ arguments: [String]) async -> Int32 {
        do {
            var command = try IsthmusCommand.parseAsRoot(arguments)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            return 0
        } catch let failure as CommandFailure {
            for line in failure.lines { Terminal.complain(line) }
            return failure.code.rawValue
        } catch let failure as ServiceFailure {
            for line in failure.lines { Terminal.complain(line) }
            return CommandFailure.Code.inputRefused.rawValue
        } catch let failure as ExitCode {
            return failure.rawValue
        } catch {
            let text = IsthmusCommand.fullMessage(for: error)
            guard IsthmusCommand.exitCode(for: error) != .success else {
                // --help and --version.
                Terminal.write(text + "\n")
                return 0
            }
            Terminal.complainVerbatim(text.hasSuffix("\n") ? text : text + "\n")
            return CommandFailure.Code.usage.rawValue
        }
    }
}

/// Root of the command line; commands are listed in the order in which a new user needs them.
struct IsthmusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "isthmus",
        abstract: "SIP presence interoperability gateway between Microsoft enhanced presence (MS-PRES) and SIMPLE (PIDF/RPID).",
        discussion: """
            Exit codes: 0 done, 1 input refused, 2 usage, 3 could not reach the other side.

            EXAMPLES
              isthmus demo
              isthmus convert --from pidf --to categories presence.xml
              isthmus check --config isthmus.yaml
              isthmus serve --config isthmus.yaml
              isthmus watch sip:alice@example.org --via tcp:127.0.0.1:5060 --format categories
            """,
        version: Isthmus.version,
        subcommands: [
            DemoCommand.self, ServeCommand.self, CheckCommand.self, RouteCommand.self, WatchCommand.self, PublishCommand.self,
            SubscriptionsCommand.self, PresentitiesCommand.self, PartnersCommand.self, ExplainCommand.self,
            ConvertCommand.self, AggregateCommand.self, ResolveCommand.self, DecideCommand.self,
            UserCommand.self, VerifyCommand.self, MappingsCommand.self,
        ])
}
