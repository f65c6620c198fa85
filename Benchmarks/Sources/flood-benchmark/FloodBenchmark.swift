import Glibc
import Measurement
import Traffic

/// `flood-benchmark ISTHMUS [--quick] [--users N] [--contacts N] [--compression N] [--seconds N] [--messages N] [--limit N] [--tcp | --udp]`
///
/// Measures the time of a change from a remote domain to a watcher of partner A: without other traffic, while partner B floods over TCP and
/// over UDP, and after B has disconnected; without and with a limit for B. The gateway is `isthmus serve` with one event loop, in its own
/// process.
@main
struct FloodBenchmark {
    static let floodingDomain = "fabrikam.com"
    static let hostedDomain = "hosted.example.net"

    /// State of partner B.
    private enum Phase {
        case silent, hungUp
        case flood(String)

        var name: String {
            switch self {
            case .silent: "silent"
            case .flood(let transport): "floods over \(transport.uppercased())"
            case .hungUp: "has hung up"
            }
        }
    }

    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.count == 6, arguments[0] == "flooder", let port = Int(arguments[2]), let seconds = Int(arguments[3]),
            let least = Int(arguments[4])
        {
            return Flooder.run(isOverTCP: arguments[1] == "tcp", to: port, seconds: seconds, atLeast: least, report: arguments[5])
        }
        guard let program = arguments.first(where: { !$0.hasPrefix("-") }) else {
            print(
                "usage: flood-benchmark ISTHMUS [--quick] [--users N] [--contacts N] [--compression N] [--seconds N] [--messages N] [--limit N] [--tcp | --udp]"
            )
            exit(2)
        }
        func value(_ name: String, _ standard: Int) -> Int {
            guard let place = arguments.firstIndex(of: name), place + 1 < arguments.count else { return standard }
            return Int(arguments[place + 1]) ?? standard
        }
        let isQuick = arguments.contains("--quick")
        let users = value("--users", isQuick ? 100 : 1_000)
        let contacts = value("--contacts", 8)
        let compression = value("--compression", isQuick ? 100 : 10)
        let seconds = value("--seconds", isQuick ? 5 : 60)
        let messages = value("--messages", isQuick ? 5_000 : 50_000)
        let limit = value("--limit", 20)
        let (isOverTCPOnly, isOverUDPOnly) = (arguments.contains("--tcp"), arguments.contains("--udp"))
        var table = Table("partner B", "changes", "50 %", "90 %", "99 %", "99.9 %", "greatest", "lost", "gateway cores")
        var notes: [String] = []
        var isSound = true
        for isLimited in [false, true] {
            // A new gateway for each transport, since a flood leaves thousands of dialogs.
            for phases in [[Phase.silent, .flood("tcp"), .hungUp], [.flood("udp")]] where phases.count > 1 || !isOverTCPOnly {
                if phases.count > 1, isOverUDPOnly { continue }
                let model = UserModel(users: users, contacts: contacts, compression: Double(compression))
                guard let gateway = start(program, model, limit: isLimited ? limit : nil) else {
                    print("flood-benchmark: \(program) does not start")
                    exit(1)
                }
                model.subscribe(to: gateway.port)
                for phase in phases {
                    let name = phase.name + (isLimited ? ", limit \(limit)" : "")
                    let (begin, spent) = (clockNow(), processorTime(of: gateway.process) ?? 0)
                    switch phase {
                    case .flood(let transport):
                        let port = transport == "tcp" ? gateway.port : gateway.datagramPort
                        notes.append("\(name): " + during(transport, port, seconds, messages, model))
                    case .silent, .hungUp:
                        let end = begin + UInt64(seconds) * 1_000_000_000
                        model.live { clockNow() < end }
                    }
                    let cores = Double((processorTime(of: gateway.process) ?? spent) - spent) / Double(clockNow() - begin)
                    if model.awaited > 0 { isSound = false }
                    table.add(
                        name, String(model.delays.count), text(model.delays.milliseconds(0.5)), text(model.delays.milliseconds(0.9)),
                        text(model.delays.milliseconds(0.99)), text(model.delays.milliseconds(0.999)), text(model.delays.milliseconds(1)),
                        String(model.awaited), text(cores))
                    if !model.refusals.isEmpty { notes.append("\(name): the far side's notifications were answered \(model.refusals)") }
                    model.giveUp()
                }
                gateway.stop()
            }
        }
        table.show(
            title: "milliseconds from the far side to a watcher of partner A: \(users) users with \(contacts) federated contacts each, "
                + "\(compression) times as fast as the user model")
        for note in notes { print("  B \(note)") }
        exit(isSound ? 0 : 1)
    }

    private static func start(_ program: String, _ model: UserModel, limit: Int?) -> IsthmusProgram? {
        IsthmusProgram(program, arguments: ["--log-level", "error"]) { _ in
            """
            timing: { notify-spacing-ms: 0 }
            domains:
              \(Traffic.enterpriseDomain): { side: enterprise, route: "tcp:127.0.0.2:9" }
              \(Traffic.remoteDomain): { side: simple, route: "\(model.route)" }
              \(floodingDomain): { side: simple, route: "tcp:127.0.0.3:9"\(limit.map { ", limits: { messages-per-second: \($0) }" } ?? "") }
              \(hostedDomain): { side: simple, hosted: true, unruled: allow }
            """
        }
    }

    /// Runs the user model while B floods.
    /// - Returns: Report of B.
    private static func during(_ transport: String, _ port: Int, _ seconds: Int, _ messages: Int, _ model: UserModel) -> String {
        guard let directory = PeerDirectory() else { return "no directory for its report" }
        defer { directory.remove() }
        let report = "\(directory.path)/report"
        let flooder = ChildProgram(
            "/proc/self/exe", ["flooder", transport, "\(port)", "\(seconds)", "\(messages)", report], awaitsGreeting: false)
        guard let flooder else { return "does not start" }
        var status: Int32 = 0
        model.live { waitpid(flooder.process, &status, WNOHANG) == 0 }
        guard let file = fopen(report, "r") else { return "says nothing" }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 1_024)
        guard fgets(&line, 1_024, file) != nil else { return "says nothing" }
        return String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
