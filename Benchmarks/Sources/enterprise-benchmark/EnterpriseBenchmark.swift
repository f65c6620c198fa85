import Glibc
import Measurement

/// `enterprise-benchmark ISTHMUS [--quick] [--users N] [--contacts N] [--ramp SECONDS] [--model SECONDS] [--store] [--no-list]`,
/// or with `--shards LIST [--rounds N]` in place of `--ramp` and `--model`: see ``ShardComparison``.
///
/// Users of one hosted enterprise domain sign in one after the other, each over its own connection (REGISTER, contact list, own data,
/// members, first publication, one batch subscription to all contacts in four categories), then follow Microsoft's user model: per user and
/// hour 4 state changes, 60 polls and 6 short subscriptions. The gateway is `isthmus serve` in its own process; its processor time and
/// memory are read from outside.
@main
struct EnterpriseBenchmark {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        func value(_ name: String, _ standard: Int) -> Int {
            guard let place = arguments.firstIndex(of: name), place + 1 < arguments.count else { return standard }
            return Int(arguments[place + 1]) ?? standard
        }
        if arguments.first == "--slices" {
            ShardLoad(arguments.dropFirst())?.serve()
            return
        }
        let isQuick = arguments.contains("--quick")
        guard let program = arguments.first(where: { !$0.hasPrefix("-") }) else {
            print(
                "usage: enterprise-benchmark ISTHMUS [--quick] [--users N] [--contacts N] [--ramp SECONDS] [--model SECONDS] [--store] [--no-list]"
            )
            print(
                "       enterprise-benchmark ISTHMUS --shards LIST [--rounds N] [--quick] [--users N] [--contacts N] [--store] [--no-list]"
            )
            exit(2)
        }
        let users = value("--users", isQuick ? 500 : 10_000)
        let contacts = value("--contacts", 40)
        let ramp = value("--ramp", isQuick ? 10 : 240)
        let model = value("--model", isQuick ? 10 : 120)
        let isStoring = arguments.contains("--store")
        if let place = arguments.firstIndex(of: "--shards") {
            let shards = place + 1 < arguments.count ? arguments[place + 1].split(separator: ",").map { Int($0) ?? 0 } : []
            guard shards.count > 1, shards.allSatisfy({ $0 > 0 }) else {
                print("enterprise-benchmark: --shards needs two or more numbers of shards, such as 1,2")
                exit(2)
            }
            let comparison = ShardComparison(
                users: users, contacts: contacts, rounds: max(1, value("--rounds", isQuick ? 3 : 9)), isStoring: isStoring,
                isStoringContacts: !arguments.contains("--no-list"))
            exit(comparison.run(program, shards) ? 0 : 1)
        }
        let started = IsthmusProgram(program) { directory in
            settings(isStoring: isStoring, in: directory)
        }
        guard let gateway = started else {
            print("enterprise-benchmark: \(program) does not start")
            exit(1)
        }
        let load = EnterpriseLoad(
            gateway: gateway.port, users: users, contacts: contacts, isStoringContacts: !arguments.contains("--no-list"))
        load.isWatchingAtSignIn = false
        var table = Table("phase", "seconds", "gateway CPU s", "cores", "answers", "notifications", "MiB received", "gateway MiB")
        var failures = 0

        func phase(_ name: String, _ body: () -> Void) -> Int {
            let (start, spent, answers) = (clockNow(), processorTime(of: gateway.process) ?? 0, load.answers)
            let (notifications, octets) = (load.notifications, load.octets)
            body()
            let seconds = Double(clockNow() - start) / 1e9
            let cpu = Double((processorTime(of: gateway.process) ?? spent) - spent) / 1e9
            let size = memory(of: gateway.process)
            table.add(
                name, text(seconds, 0), text(cpu), text(cpu / seconds), String(load.answers - answers),
                String(load.notifications - notifications), text(Double(load.octets - octets) / 1_048_576, 0),
                text(Double(size) / 1_048_576, 0))
            return size
        }

        let empty = memory(of: gateway.process)
        let present = phase("sign in") {
            spread(users, over: ramp, load) {
                load.signIn($0)
            } until: {
                load.signedIn >= users
            }
        }
        let watched = phase("watch all contacts") {
            spread(users, over: ramp, load) {
                load.watch($0)
            } until: {
                load.watching >= users
            }
        }
        var random = UInt64(20_261_122)
        _ = phase("user model") { run(model, users, load, &random) }
        let dialogs = load.durations(.short).count

        table.show(title: "\(users) users of a hosted domain, \(contacts) contacts each")
        let perUser = Double(present - empty) / Double(max(1, load.signedIn))
        let subscriptions = max(1, load.watching * min(contacts, users - 1) * 4)
        print(
            "memory: \(text(perUser / 1_024, 1)) KiB a user signed in; \(text(Double(watched - present) / Double(subscriptions), 0)) octets a category subscription (\(subscriptions))"
        )
        print(
            "sign-in: \(load.signedIn) of \(users), median \(text(load.signIn.milliseconds(0.5), 1)) ms, 99 % \(text(load.signIn.milliseconds(0.99), 1)) ms"
        )
        for purpose in Client.Purpose.allCases where load.durations(purpose).count > 0 {
            let durations = load.durations(purpose)
            print(
                "  \(purpose): \(durations.count), median \(text(durations.milliseconds(0.5), 1)) ms, 99 % \(text(durations.milliseconds(0.99), 1)) ms"
            )
        }
        print("short subscriptions left open: \(dialogs)")
        for (what, count) in load.errors.sorted(by: { $0.key < $1.key }) {
            print("error: \(what): \(count)")
            failures += count
        }
        if load.outstanding > 0 { print("error: \(load.outstanding) requests have no answer") }
        gateway.stop()
        exit(failures > 0 || load.signedIn < users || load.watching < users || load.outstanding > 0 ? 1 : 0)
    }

    /// Configuration of a home server of one domain.
    /// - Parameter refusesWhenLate: Whether new work is refused while the event loop is late.
    static func settings(isStoring: Bool, refusesWhenLate: Bool = true, in directory: String) -> String {
        """
        timing: { notify-spacing-ms: 0\(refusesWhenLate ? "" : ", overload-late-ms: 0") }
        transport: { connections-per-address: 0 }
        domains:
          contoso.com: { side: enterprise, hosted: true }
        \(isStoring ? "store: { sqlite: \(directory)/isthmus.db }" : "")
        """
    }

    /// Starts one action per user, evenly over the time, and waits for the rest for at most 60 s.
    static func spread(_ users: Int, over seconds: Int, _ load: EnterpriseLoad, _ begin: (Int) -> Void, until isDone: () -> Bool) {
        let start = clockNow()
        var begun = 0
        while begun < users {
            let due = min(users, Int(Double(clockNow() - start) / 1e9 * Double(users) / Double(seconds)) + 1)
            while begun < due {
                begin(begun)
                begun += 1
            }
            load.work(milliseconds: 5)
        }
        let end = clockNow() + 60_000_000_000
        while !isDone() || load.outstanding > 0, clockNow() < end { load.work(milliseconds: 20) }
    }

    /// Runs the user model at random times with a fixed seed.
    static func run(_ seconds: Int, _ users: Int, _ load: EnterpriseLoad, _ random: inout UInt64) {
        let start = clockNow()
        let rates: [(Client.Purpose, Double)] = [(.publish, 4.0 / 3_600), (.poll, 60.0 / 3_600), (.short, 6.0 / 3_600)]
        var done = [Int](repeating: 0, count: rates.count)
        func next(_ bound: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((random >> 33) % UInt64(bound))
        }
        while true {
            let elapsed = Double(clockNow() - start) / 1e9
            guard elapsed < Double(seconds) else { break }
            for (place, rate) in rates.enumerated() {
                let due = Int(elapsed * rate.1 * Double(users))
                while done[place] < due {
                    load.act(rate.0, next(users), next(1 << 20))
                    done[place] += 1
                }
            }
            load.work(milliseconds: 5)
        }
        let end = clockNow() + 20_000_000_000
        while load.outstanding > 0, clockNow() < end { load.work(milliseconds: 20) }
    }
}
