import Glibc
import Measurement
import PresenceLoad

/// Rows that share their processes.
enum RowGroup: String, CaseIterable {
    case fanout, connections, requests, bridged, large, memory, counts

    /// Groups with these rows, and with the rows that they refer to.
    static func measuring(_ rows: Set<String>) -> [RowGroup] {
        var groups: Set<RowGroup> = []
        for row in rows {
            switch row.split(separator: "-").first {
            case "notify": groups.insert(row == "notify-8" ? .fanout : .connections)
            case "publish", "subscribe": groups.insert(.requests)
            case "bridged": groups.insert(.bridged)
            case "change": groups.formUnion([.fanout, .large])
            case "restart": groups.formUnion([.requests, .large])
            case "memory": groups.insert(row.hasPrefix("memory-bridged") ? .memory : .large)
            default: groups.insert(.counts)
            }
        }
        return allCases.filter(groups.contains)
    }
}

/// All rows of the comparison.
struct RowSuite {
    let comparison: Comparison
    let isQuick: Bool

    /// Measures the rows of the groups and prints them.
    func run(_ groups: [RowGroup]) -> [Row] {
        var rows: [Row] = []
        for group in RowGroup.allCases where groups.contains(group) && group != .counts {
            switch group {
            case .fanout: rows.append(fanOut(connections: 8))
            case .connections: rows.append(fanOut(connections: 1_000))
            case .requests: rows += requests()
            case .bridged: rows += bridged()
            case .large: rows += large()
            case .memory: rows.append(bridgedMemory())
            case .counts: break
            }
        }
        if !rows.isEmpty {
            refer(&rows)
            Table.show(
                rows,
                title: """
                    Beside Kamailio, TCP: us of processor time of the side's processes, medians of \(comparison.rounds) rounds; ratios to \
                    Kamailio within a round; *: to Kamailio's time for a NOTIFY to 1,000 watchers, or a first SUBSCRIBE, in this run
                    """)
        }
        if groups.contains(.counts) { rows += OperationCounts(comparison: comparison, isQuick: isQuick).run() }
        return rows
    }

    private func refer(_ rows: inout [Row]) {
        let notify = rows.first { $0.name == "notify-8" }
        let subscribe = rows.first { $0.name == "subscribe-32" }
        for index in rows.indices {
            if rows[index].name.hasPrefix("change-") { rows[index].refer(to: notify) }
            if rows[index].name.hasPrefix("restart-time-") { rows[index].refer(to: subscribe) }
        }
    }

    private func fanOut(connections: Int) -> Row {
        let contenders = comparison.contenders(Side.allCases, LoadShape(presentities: 1, connections: connections))
        for contender in contenders {
            contender.load.subscribe(1_000, window: 32)
            contender.load.quiet(200)
        }
        let changes = isQuick ? 5 : 20
        defer { contenders.forEach { $0.stop() } }
        return comparison.times(
            "notify-\(connections)",
            "NOTIFY of a change to 1,000 watchers, \(connections == 1_000 ? "a connection each" : "\(connections) connections")",
            contenders, operations: changes * 1_000
        ) { load in
            for _ in 0..<changes {
                load.change(0..<1, window: 1)
                // The responses to the last NOTIFYs belong to this change, not to the next.
                load.quiet(10)
            }
        }
    }

    private func requests() -> [Row] {
        let presentities = 200
        let contenders = comparison.contenders(Side.allCases, LoadShape(presentities: presentities))
        defer { contenders.forEach { $0.stop() } }
        for contender in contenders {
            contender.load.subscribe(presentities, window: 32)
            contender.load.quiet(200)
        }
        var rows: [Row] = []
        for (window, title) in [(32, "32 in flight"), (1, "one at a time")] {
            let passes = (isQuick ? 1 : 5) * (window > 1 ? 2 : 1)
            rows.append(
                comparison.times(
                    "publish-\(window)", "PUBLISH and its NOTIFY, \(title)", contenders, operations: passes * presentities
                ) { load in for _ in 0..<passes { load.change(0..<presentities, window: window) } })
        }
        for (window, title) in [(32, "32 in flight"), (1, "one at a time")] {
            let count = (isQuick ? 200 : 1_000) * (window > 1 ? 2 : 1)
            rows.append(
                comparison.times(
                    "subscribe-\(window)", "first SUBSCRIBE and its NOTIFY, \(title)", contenders, operations: count,
                    after: { $0.unsubscribe(count) }
                ) { $0.subscribe(count, window: window) })
        }
        return rows
    }

    private func bridged() -> [Row] {
        let (presentities, watchers) = (10, 100)
        let shape = LoadShape(presentities: presentities, isBridged: true)
        let sides: [Side] = [.memory, .sqlite, .kamailio]
        let contenders = comparison.contenders(sides, shape)
        var mapped = shape
        mapped.isCategories = true
        let ours = comparison.contenders(Side.ours, mapped)
        defer { (contenders + ours).forEach { $0.stop() } }
        for contender in contenders + ours {
            contender.load.subscribe(presentities * watchers, window: 32)
            contender.load.quiet(500)
        }
        func times(_ name: String, _ title: String, _ contenders: [Contender]) -> Row {
            comparison.times(name, title, contenders, operations: presentities * watchers) {
                $0.change(0..<presentities, window: 1)
            }
        }
        // Kamailio relays the document as it is in both rows.
        let categories = ours + contenders.filter { $0.side == .kamailio }
        var delay = Row(name: "bridged-delay", title: "delay of a bridged NOTIFY, median, wall clock", unit: "us")
        let count = isQuick ? 200 : 1_000
        let delays = comparison.inTurn(contenders) { contender in
            contender.load.quiet(50)
            return median(contender.load.delays(count).map { Double($0) / 1_000 })
        }
        delay.add(sides, delays)
        return [
            times("bridged-pidf", "NOTIFY carried across, PIDF to PIDF (Kamailio: relayed)", contenders),
            times("bridged-categories", "the same, PIDF to categories (Kamailio: PIDF)", categories), delay,
        ]
    }

    // MARK: large states

    /// Memory of a hosted subscription, a change among many of them, and a restart with all of them.
    private func large() -> [Row] {
        let (count, presentities) = (isQuick ? 10_000 : 100_000, isQuick ? 100 : 1_000)
        let size = "\(count / 1_000),000"
        let contenders = comparison.contenders(Side.allCases, LoadShape(presentities: presentities))
        defer { contenders.forEach { $0.stop() } }
        var memory = Row(name: "memory-hosted-\(count)", title: "memory of an idle hosted subscription, of \(size)", unit: "octets")
        addMemory(of: contenders, count, to: &memory)
        let ours = contenders.filter { $0.side != .kamailio }
        let changes = 20
        let change = comparison.times(
            "change-\(count)", "a change at \(size) subscriptions, per NOTIFY", ours, operations: changes * count / presentities
        ) { $0.change(0..<changes, window: 1) }
        return [change, memory] + restart(ours, count, size)
    }

    /// Adds octets of one idle subscription. Subscriptions come in five steps; the first does not count, so that memory which a side keeps
    /// for the transactions of a step does not count either.
    private func addMemory(of contenders: [Contender], _ count: Int, to row: inout Row) {
        var before: [Int] = []
        for step in 0..<5 {
            for contender in contenders { contender.load.subscribe(count / 5, window: 32) }
            // Kamailio keeps transactions for 5 s.
            contenders.first?.load.quiet(6_000)
            if step == 0 { before = contenders.map(\.peer.memory) }
        }
        for (contender, before) in zip(contenders, before) {
            row.add(contender.side, value: Double(contender.peer.memory - before) / Double(count / 5 * 4))
        }
    }

    /// Kills the process with its store, starts it again, and checks that a change reaches every watcher of a presentity.
    private func restart(_ contenders: [Contender], _ count: Int, _ size: String) -> [Row] {
        guard let contender = contenders.first(where: { $0.side == .sqlite }), let peer = contender.peer as? IsthmusPeer else { return [] }
        contender.load.quiet(2_000)
        let before = peer.memory
        guard contender.load.restart({ peer.killAndRestart() ? peer.port : nil }) else {
            print("kamailio-benchmark: isthmus does not start again")
            exit(1)
        }
        contender.load.quiet(2_000)
        let (time, after) = (peer.spent, peer.memory)
        contender.load.change(0..<1, window: 1)
        var memory = Row(
            name: "restart-memory-\(count)", title: "memory after kill -9 and restart with \(size) dialogs, to before", unit: "ratio")
        memory.add(.sqlite, value: Double(after) / Double(before))
        var duration = Row(name: "restart-time-\(count)", title: "restart with \(size) dialogs, per dialog", unit: "us")
        duration.values[.sqlite] = Double(time) / Double(count) / 1_000
        return [memory, duration]
    }

    private func bridgedMemory() -> Row {
        let count = isQuick ? 3_000 : 30_000
        let contenders = comparison.contenders(Side.ours, LoadShape(presentities: 1_000, isBridged: true))
        defer { contenders.forEach { $0.stop() } }
        var row = Row(
            name: "memory-bridged-\(count)", title: "memory of an idle bridged subscription, of \(count / 1_000),000", unit: "octets")
        addMemory(of: contenders, count, to: &row)
        return row
    }
}

/// Cost and memory of a message as subscriptions grow in number.
struct Growth {
    let isthmus: String
    let isQuick: Bool

    func run() {
        let steps = isQuick ? [3_000, 10_000] : [10_000, 30_000, 100_000, 300_000]
        for isBridged in [false, true] {
            let shape = LoadShape(presentities: 1_000, isBridged: isBridged)
            let comparison = Comparison(isthmus: isthmus, rounds: 1)
            let contender = comparison.contenders([.memory], shape)[0]
            contender.load.subscribe(1_000, window: 32)
            contender.load.quiet(500)
            let (start, base) = (contender.peer.memory, contender.load.subscriptionCount)
            var table = Table("subscriptions", "us a SUBSCRIBE", "us a NOTIFY", "octets each")
            for step in steps where !isBridged || step <= 100_000 {
                let added = step - contender.load.subscriptionCount
                let subscribe = contender.time(added) { $0.subscribe(added, window: 32) }
                contender.load.quiet(500)
                let change = contender.time(step) { $0.change(0..<1_000, window: 32) }
                // Buffers are freed meanwhile.
                contender.load.quiet(isQuick ? 1_000 : 5_000)
                let octets = (contender.peer.memory - start) / (contender.load.subscriptionCount - base)
                table.add(String(step), text(subscribe.side, 1), text(change.side, 1), String(octets))
            }
            contender.stop()
            table.show(title: "Growth: \(isBridged ? "bridged PIDF to PIDF" : "hosted, PIDF"), 1,000 presentities")
        }
    }
}
