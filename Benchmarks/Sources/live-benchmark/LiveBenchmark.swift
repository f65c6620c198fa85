import Measurement
import LiveLoad
import Glibc
import PresenceGateway
import SIPCore
import Traffic

/// `live-benchmark [--quick]`: a gateway in its own process, watchers and publishers in this one, with loopback sockets between them.
///
/// Measures the processor time of the gateway's process only, including the kernel's.
@main
struct LiveBenchmark {
    static func main() async {
        let arguments = CommandLine.arguments
        if arguments.count == 3, arguments[1] == "serve", let remotePort = Int(arguments[2]) {
            await GatewayProcess.serve(remotePort: remotePort)
            return
        }
        let isQuick = arguments.contains("--quick")
        var table = Table("watchers", "connections", "NOTIFYs", "per CPU s", "us each", "(range)")
        let cases: [LoadCase] = [
            LoadCase(name: "hosted, PIDF, TCP", transport: .tcp, isCategories: false, isBridged: false),
            LoadCase(name: "hosted, categories, BENOTIFY, TCP", transport: .tcp, isCategories: true, isBridged: false),
            LoadCase(name: "bridged PIDF to categories, TCP", transport: .tcp, isCategories: true, isBridged: true),
            LoadCase(name: "hosted, PIDF, UDP", transport: .udp, isCategories: false, isBridged: false),
        ]
        let loads = cases.map { Load($0) { GatewayProcess.start(remotePort: $0) } }
        var times = [[Double]](repeating: [], count: loads.count)
        var counts = [Int](repeating: 0, count: loads.count)
        for slice in 0..<(isQuick ? 4 : 12) {
            for (index, load) in loads.enumerated() {
                let (notifications, spent) = load.run(rounds: isQuick ? 5 : 10)
                if slice == 0 { continue }
                counts[index] += notifications
                times[index].append(Double(spent) / Double(max(1, notifications)))
            }
        }
        for (index, load) in loads.enumerated() {
            let middle = median(times[index])
            table.add(
                load.setup.name, String(load.connectionCount), String(counts[index]), perSecond(middle), text(middle / 1_000),
                "\(text((times[index].min() ?? 0) / 1_000))-\(text((times[index].max() ?? 0) / 1_000))")
            load.stop()
        }
        table.show(
            title: "Notifications through live gateways, \(cases[0].presentities) presentities with \(cases[0].watchersEach) watchers each")
    }
}
