import Glibc
import Measurement
import PresenceLoad

/// Measured side: one or more processes that listen on loopback.
protocol MeasuredPeer: AnyObject, LoadedPeer {
    /// Proportional set size of its processes, in octets.
    var memory: Int { get }
    func stop()
}

/// Sides of the comparison.
enum Side: String, CaseIterable {
    case memory, sqlite, kamailio

    var title: String {
        switch self {
        case .memory: "isthmus"
        case .sqlite: "SQLite"
        case .kamailio: "Kamailio"
        }
    }

    static let ours: [Side] = [.memory, .sqlite]

    /// Starts the side.
    /// - Parameters:
    ///   - remotePort: Port of the remote domain.
    ///   - prefix: Program with its arguments that runs the side's program in its own place.
    func start(_ isthmus: String, remotePort: Int, prefix: [String] = []) -> (any MeasuredPeer)? {
        switch self {
        case .memory, .sqlite: IsthmusPeer(isthmus, isStoring: self == .sqlite, remotePort: remotePort, prefix: prefix)
        case .kamailio: KamailioPeer(remotePort: remotePort, prefix: prefix)
        }
    }
}

/// `isthmus serve` with one shard, in memory or with the SQLite store.
final class IsthmusPeer: MeasuredPeer {
    private let program: IsthmusProgram

    init?(_ path: String, isStoring: Bool, remotePort: Int, prefix: [String] = []) {
        let program = IsthmusProgram(path, arguments: ["--log-level", "error"], prefix: prefix) { directory in
            """
            \(isStoring ? "store: { sqlite: \(directory)/isthmus.db }" : "store: { memory: true }")
            timing: { notify-spacing-ms: 0, overload-late-ms: 0 }
            limits: { subscriptions: 1000000, subscriptions-per-presentity: 1000000, subscriptions-per-watcher: 1000000, transactions: 1000000 }
            domains:
              example.com: { side: simple, hosted: true, unruled: allow, peers: [ 127.0.0.1 ] }
              contoso.com: { side: enterprise, hosted: true, peers: [ 127.0.0.1 ] }
              watchers.example.net: { side: simple, route: "tcp:127.0.0.1:\(remotePort)" }
              example.org: { side: simple, route: "tcp:127.0.0.1:\(remotePort)" }
            """
        }
        guard let program else { return nil }
        self.program = program
    }

    var port: Int { program.port }
    var spent: UInt64 { processorTime(of: program.process) ?? 0 }
    var memory: Int { Measurement.memory(of: program.process) }

    func killAndRestart() -> Bool { program.killAndRestart() }
    /// Ends it with SIGKILL: the end of its dialogs is not part of any measurement.
    func stop() { program.stop(with: SIGKILL) }
}

/// Kamailio with two workers: presence server of example.com in memory, and stateful proxy toward example.org.
final class KamailioPeer: MeasuredPeer {
    private let child: ChildProgram
    private let directory: PeerDirectory
    let port: Int

    static let program = "/usr/sbin/kamailio"

    /// Name and version, as the program prints them.
    static var version: String {
        guard let output = popen("\(program) -v", "r") else { return "Kamailio" }
        defer { pclose(output) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, 256, output) != nil else { return "Kamailio" }
        let text = String(decoding: line.prefix { $0 != 0 && $0 != 0x0A }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let words = text.split(separator: " ")
        return words.count > 2 ? "Kamailio \(words[2])" : "Kamailio"
    }

    init?(remotePort: Int, prefix: [String] = []) {
        guard let directory = PeerDirectory(), let modules = Self.modules else { return nil }
        let port = LoopbackPort.unused()
        self.port = port
        for table in ["version", "presentity", "active_watchers", "watchers", "xcap"] {
            guard
                let copy = ChildProgram("/bin/cp", ["/usr/share/kamailio/dbtext/kamailio/\(table)", directory.path], awaitsGreeting: false)
            else { return nil }
            copy.wait()
        }
        guard let file = directory.write(Self.configuration(port, remotePort, modules, directory.path), to: "kamailio.cfg"),
            let child = ChildProgram(
                Self.program,
                [
                    "-DD", "-E", "-f", file, "-P", "\(directory.path)/pid", "-Y", directory.path, "-w", directory.path, "-m", "2048", "-M",
                    "32",
                ],
                prefix: prefix, awaitsGreeting: false)
        else { return nil }
        self.child = child
        self.directory = directory
        for _ in 0..<100 where !LoopbackPort.answers(port) { usleep(100_000) }
        // Workers start after the listener.
        usleep(500_000)
    }

    private static var modules: String? {
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"].map { "\($0)/kamailio/modules/" }
            .first { access($0 + "presence.so", R_OK) == 0 }
    }

    /// Processor time of all its processes, in nanoseconds.
    var spent: UInt64 { processes.reduce(0) { $0 + (processorTime(of: $1) ?? 0) } }

    var memory: Int { processes.reduce(0) { $0 + Measurement.memory(of: $1) } }

    private var processes: [pid_t] {
        guard let file = fopen("/proc/\(child.process)/task/\(child.process)/children", "r") else { return [child.process] }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 8_192)
        guard fgets(&line, 8_192, file) != nil else { return [child.process] }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return [child.process] + text.split(separator: " ").compactMap { pid_t($0) }
    }

    func stop() {
        child.stop()
        directory.remove()
    }

    private static func configuration(_ port: Int, _ remotePort: Int, _ modules: String, _ tables: String) -> String {
        """
        #!KAMAILIO
        debug=0
        log_stderror=yes
        children=2
        tcp_children=2
        auto_aliases=no
        alias="example.com"
        listen=tcp:127.0.0.1:\(port)
        dns=no
        rev_dns=no
        use_dns_cache=off
        tcp_connection_lifetime=3605
        tcp_max_connections=4096
        tcp_rd_buf_size=65535
        tcp_conn_wq_max=16777216
        tcp_wq_max=67108864
        mpath="\(modules)"
        loadmodule "tm.so"
        loadmodule "sl.so"
        loadmodule "pv.so"
        loadmodule "rr.so"
        loadmodule "maxfwd.so"
        loadmodule "textops.so"
        loadmodule "siputils.so"
        loadmodule "db_text.so"
        loadmodule "presence.so"
        loadmodule "presence_xml.so"
        modparam("presence|presence_xml", "db_url", "text://\(tables)")
        modparam("presence", "server_address", "sip:127.0.0.1:\(port);transport=tcp")
        modparam("presence", "subs_db_mode", 0)
        modparam("presence", "publ_cache", 2)
        modparam("presence", "notifier_processes", 0)
        modparam("presence", "pres_subs_mode", 0)
        modparam("presence", "send_fast_notify", 1)
        modparam("presence", "max_expires", 3600)
        modparam("presence", "clean_period", 600)
        modparam("presence", "db_update_period", 600)
        modparam("presence", "subs_htable_size", 14)
        modparam("presence", "pres_htable_size", 14)
        modparam("presence_xml", "force_active", 1)
        modparam("presence_xml", "disable_winfo", 1)
        modparam("presence_xml", "disable_bla", 1)
        modparam("presence_xml", "disable_xcapdiff", 1)
        modparam("tm", "fr_timer", 5000)
        request_route {
            if (!mf_process_maxfwd_header("10")) { sl_send_reply("483", "Too Many Hops"); exit; }
            if (is_method("ACK|CANCEL")) exit;
            if (has_totag() && loose_route()) { t_relay(); exit; }
            if ($rd == "example.org") {
                record_route();
                $du = "sip:127.0.0.1:\(remotePort);transport=tcp";
                t_relay();
                exit;
            }
            if (is_method("PUBLISH|SUBSCRIBE")) {
                if (!t_newtran()) { sl_reply_error(); exit; }
                if (is_method("PUBLISH")) { handle_publish(); } else { handle_subscribe(); }
                t_release();
                exit;
            }
            sl_send_reply("405", "Method Not Allowed");
        }

        """
    }
}
