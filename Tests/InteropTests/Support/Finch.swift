import Foundation

/// finch with pidgin-sipe, an independent enhanced presence client, with its own terminal and message bus.
///
/// Every value is a fresh installation: its contacts come from the server only.
final class Finch: Sendable {
    enum Authentication: String {
        /// The scheme that the server requests, or none.
        case automatic = "auto"
        case ntlm
        case tlsDSK = "tls-dsk"
    }

    /// Contact in the client's list.
    struct Contact: Equatable {
        var group: String
        /// Status in the client's terms, such as `available`, `busy`, `do-not-disturb`, `away`, `offline`.
        var status: String
        /// Text beside the status; empty for none.
        var message: String
    }

    let uri: String
    private let name: String
    private let process: ChildProcess
    private let terminal: PseudoTerminal
    private let bus: PurpleBus

    /// - Parameters:
    ///   - user: Address without a scheme.
    ///   - login: Sign-in name; nil uses the address.
    ///   - peers: Certificates of HTTPS servers that the client accepts without asking, by host.
    ///   - name: Name, unique among the clients of the scratch directory.
    init(
        user: String, login: String? = nil, password: String = "secret", server port: Int, authentication: Authentication = .automatic,
        trusting peers: [String: URL] = [:], named name: String, in scratch: ScratchDirectory
    ) async throws {
        let program = try PeerPrograms.finch.required(package: "finch")
        let session = try PeerPrograms.busSession.required(package: "dbus-daemon")
        (uri, self.name) = ("sip:\(user)", "\(user),\(login ?? "")")
        let home = scratch.file(name)
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        let socket = home.appendingPathComponent("bus").path
        let values = [
            "SOCKET": socket, "NAME": self.name, "PASSWORD": password, "SERVER": "127.0.0.1:\(port)",
            "AUTHENTICATION": authentication.rawValue,
        ]
        for file in ["bus.conf", "accounts.xml", "prefs.xml"] {
            var text = try String(contentsOf: PeerPrograms.files.appendingPathComponent("finch/\(file)"), encoding: .utf8)
            for (key, value) in values { text = text.replacingOccurrences(of: "@\(key)@", with: value) }
            try Data(text.utf8).write(to: home.appendingPathComponent(file))
        }
        let trusted = home.appendingPathComponent("certificates/x509/tls_peers")
        try FileManager.default.createDirectory(at: trusted, withIntermediateDirectories: true)
        for (host, certificate) in peers { try FileManager.default.copyItem(at: certificate, to: trusted.appendingPathComponent(host)) }
        let shim = try await Self.shim(in: scratch)
        bus = try PurpleBus(address: "unix:path=\(socket)", in: home)
        terminal = try PseudoTerminal()
        process = try ChildProcess(
            session,
            [
                "--config-file=\(home.path)/bus.conf", "--", "env", "LD_PRELOAD=\(shim.path)", program.path, "--debug",
                "--config=\(home.path)",
            ], in: home, name: "finch",
            environment: ["HOME": home.path, "XDG_RUNTIME_DIR": home.path, "TERM": "vt100", "LANG": "C.UTF-8", "PURPLE_UNSAFE_DEBUG": "1"],
            terminal: terminal)
    }

    /// Library that fixes XML parsing in Debian's pidgin-sipe (see the file), compiled once in a scratch directory.
    private static func shim(in scratch: ScratchDirectory) async throws -> URL {
        let library = scratch.file("saxshim.so")
        if FileManager.default.fileExists(atPath: library.path) { return library }
        let compiler = try PeerPrograms.compiler.required(package: "gcc")
        let source = PeerPrograms.files.appendingPathComponent("finch/saxshim.c").path
        let run = try ChildProcess(
            compiler, ["-Wall", "-Werror", "-shared", "-fPIC", "-I/usr/include/libxml2", "-o", library.path, source, "-ldl"],
            in: scratch.url, name: "saxshim")
        guard await run.exit(within: 60) == 0 else { throw PeerError(description: "the shim does not compile: \(run.errorText)") }
        return library
    }

    /// End of the client's log, with every message that it sent and received.
    var account: String { "\(uri), its last lines:\n\(process.errorText.suffix(8000))" }

    /// Waits until the condition holds; it does not hold while the client gives no answer.
    func eventually(within seconds: Double = 30, _ condition: () async throws -> Bool) async -> Bool {
        let end = ContinuousClock.now + .milliseconds(Int(seconds * 1000))
        while true {
            if (try? await condition()) == true { return true }
            if ContinuousClock.now >= end || !process.isRunning { return false }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    // MARK: The session

    /// Waits until the server has accepted the sign-in, which starts with the client.
    func signsIn() async -> Bool {
        await eventually { try await bus.number("PurpleAccountIsConnected", .number(sipAccount())) == 1 }
    }

    /// Waits until the client has given up signing in, and records the reason.
    func isRefused() async -> Bool {
        await eventually {
            let account = try await sipAccount()
            guard try await bus.number("PurpleAccountGetCurrentError", .number(account)) != 0 else { return false }
            return try await bus.number("PurpleAccountIsDisconnected", .number(account)) == 1
        }
    }

    /// Signs out and waits for its end.
    func signOut() async throws -> Bool {
        let account = try await sipAccount()
        try await bus.text("PurpleAccountDisconnect", .number(account))
        return await eventually { try await bus.number("PurpleAccountIsDisconnected", .number(account)) == 1 }
    }

    /// Quits with Alt-q; returns the exit code, or nil when it had to be killed.
    func quit() async -> Int32? {
        terminal.type("\u{1B}q")
        return await process.exit(within: 15)
    }

    private func sipAccount() async throws -> Int {
        try await bus.number("PurpleAccountsFind", .text(name), "prpl-sipe")
    }

    // MARK: The user's own presence and policy

    /// Sets a status by its identifier, such as `busy`, with a message.
    func show(_ status: String, _ message: String = "") async throws {
        let account = try await sipAccount()
        let type = try await bus.number("PurpleAccountGetStatusType", .number(account), .text(status))
        // 2 is PURPLE_STATUS_AVAILABLE, for other protocols; the substatus applies to this account.
        let saved = try await bus.number("PurpleSavedstatusNew", "", 2)
        try await bus.text("PurpleSavedstatusSetSubstatus", .number(saved), .number(account), .number(type), .text(message))
        try await bus.text("PurpleSavedstatusActivate", .number(saved))
    }

    /// Blocks a watcher.
    func block(_ watcher: String) async throws { try await setBlocked("ServAddDeny", watcher) }

    /// Removes a block.
    func unblock(_ watcher: String) async throws { try await setBlocked("ServRemDeny", watcher) }

    private func setBlocked(_ function: String, _ watcher: String) async throws {
        let connection = try await bus.number("PurpleAccountGetConnection", .number(sipAccount()))
        try await bus.text(function, .number(connection), .text(watcher))
    }

    // MARK: Contacts

    /// Adds a contact to a group, which is created when necessary.
    func add(_ contact: String, to group: String) async throws {
        let account = try await sipAccount()
        let node = try await bus.number("PurpleGroupNew", .text(group))
        try await bus.text("PurpleBlistAddGroup", .number(node), 0)
        let buddy = try await bus.number("PurpleBuddyNew", .number(account), .text(contact), "")
        try await bus.text("PurpleBlistAddBuddy", .number(buddy), 0, .number(node), 0)
        try await bus.text("PurpleAccountAddBuddy", .number(account), .number(buddy))
    }

    /// Current entry of a contact; nil when it is not in the list.
    func contact(_ uri: String) async throws -> Contact? {
        let buddy = try await bus.number("PurpleFindBuddy", .number(sipAccount()), .text(uri))
        guard buddy != 0 else { return nil }
        let group = try await bus.number("PurpleBuddyGetGroup", .number(buddy))
        let presence = try await bus.number("PurpleBuddyGetPresence", .number(buddy))
        let status = try await bus.number("PurplePresenceGetActiveStatus", .number(presence))
        return Contact(
            group: try await bus.text("PurpleGroupGetName", .number(group)),
            status: try await bus.text("PurpleStatusGetId", .number(status)),
            message: try await bus.text("PurpleStatusGetAttrString", .number(status), "message"))
    }

    /// Waits until a contact has this status and, when given, this text.
    func sees(_ uri: String, _ status: String, _ message: String? = nil) async -> Bool {
        await eventually {
            guard let contact = try await contact(uri) else { return false }
            return contact.status == status && (message.map { contact.message.contains($0) } ?? true)
        }
    }
}
