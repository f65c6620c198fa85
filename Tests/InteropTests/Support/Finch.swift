import Foundation

/// finch with pidgin-sipe, an enhanced presence client that shares nothing with the gateway, on a terminal and a message bus of its own.
///
/// Every value is a fresh installation: what it knows of its user's contacts, it has from the server.
final class Finch: Sendable {
    enum Authentication: String {
        /// Whatever the server asks for, even nothing.
        case automatic = "auto"
        case ntlm
        case tlsDSK = "tls-dsk"
    }

    /// A contact as the client shows it.
    struct Contact: Equatable {
        var group: String
        /// The client's word for it, such as `available`, `busy`, `do-not-disturb`, `away`, `offline`.
        var status: String
        /// The text beside the status; empty when there is none.
        var message: String
    }

    let uri: String
    private let name: String
    private let process: ChildProcess
    private let terminal: PseudoTerminal
    private let bus: PurpleBus

    /// - Parameters:
    ///   - user: the address without scheme.
    ///   - login: the name to authenticate with; nil is the address.
    ///   - peers: certificates of HTTPS servers that the client takes without asking its user, by host.
    ///   - name: unique among the clients of the scratch directory.
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

    /// The repair without which Debian's pidgin-sipe reads no XML (see the file), compiled once in a scratch directory.
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

    /// The end of what the client says about itself and every message it sends and receives.
    var account: String { "\(uri), its last lines:\n\(process.errorText.suffix(8000))" }

    /// Waits until the condition holds; a client that does not answer yet, or no more, is one for which it does not.
    func eventually(within seconds: Double = 30, _ condition: () async throws -> Bool) async -> Bool {
        let end = ContinuousClock.now + .milliseconds(Int(seconds * 1000))
        while true {
            if (try? await condition()) == true { return true }
            if ContinuousClock.now >= end || !process.isRunning { return false }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    // MARK: The session

    /// Waits until the server has accepted the client, which signs in as soon as it runs.
    func signsIn() async -> Bool {
        await eventually { try await bus.number("PurpleAccountIsConnected", .number(sipAccount())) == 1 }
    }

    /// Waits until the client has given up to sign in, and keeps why.
    func isRefused() async -> Bool {
        await eventually {
            let account = try await sipAccount()
            guard try await bus.number("PurpleAccountGetCurrentError", .number(account)) != 0 else { return false }
            return try await bus.number("PurpleAccountIsDisconnected", .number(account)) == 1
        }
    }

    /// Signs out and waits until the client has done so.
    func signOut() async throws -> Bool {
        let account = try await sipAccount()
        try await bus.text("PurpleAccountDisconnect", .number(account))
        return await eventually { try await bus.number("PurpleAccountIsDisconnected", .number(account)) == 1 }
    }

    /// Quits as a user does, with Alt-q; returns the exit code, nil when it had to be killed.
    func quit() async -> Int32? {
        terminal.type("\u{1B}q")
        return await process.exit(within: 15)
    }

    private func sipAccount() async throws -> Int {
        try await bus.number("PurpleAccountsFind", .text(name), "prpl-sipe")
    }

    // MARK: The user's own presence and policy

    /// Chooses a status by its identifier, such as `busy`, with a message.
    func show(_ status: String, _ message: String = "") async throws {
        let account = try await sipAccount()
        let type = try await bus.number("PurpleAccountGetStatusType", .number(account), .text(status))
        // 2 is PURPLE_STATUS_AVAILABLE, for other protocols; the substatus is the one of this account.
        let saved = try await bus.number("PurpleSavedstatusNew", "", 2)
        try await bus.text("PurpleSavedstatusSetSubstatus", .number(saved), .number(account), .number(type), .text(message))
        try await bus.text("PurpleSavedstatusActivate", .number(saved))
    }

    /// Blocks a watcher.
    func block(_ watcher: String) async throws { try await setBlocked("ServAddDeny", watcher) }

    /// Takes a block back.
    func unblock(_ watcher: String) async throws { try await setBlocked("ServRemDeny", watcher) }

    private func setBlocked(_ function: String, _ watcher: String) async throws {
        let connection = try await bus.number("PurpleAccountGetConnection", .number(sipAccount()))
        try await bus.text(function, .number(connection), .text(watcher))
    }

    // MARK: Contacts

    /// Adds a contact to a group, which is made when there is none of the name.
    func add(_ contact: String, to group: String) async throws {
        let account = try await sipAccount()
        let node = try await bus.number("PurpleGroupNew", .text(group))
        try await bus.text("PurpleBlistAddGroup", .number(node), 0)
        let buddy = try await bus.number("PurpleBuddyNew", .number(account), .text(contact), "")
        try await bus.text("PurpleBlistAddBuddy", .number(buddy), 0, .number(node), 0)
        try await bus.text("PurpleAccountAddBuddy", .number(account), .number(buddy))
    }

    /// The contact as it is shown now; nil when it is not in the list.
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

    /// Waits until a contact is shown with this status, and with this in the text beside it where it is given.
    func sees(_ uri: String, _ status: String, _ message: String? = nil) async -> Bool {
        await eventually {
            guard let contact = try await contact(uri) else { return false }
            return contact.status == status && (message.map { contact.message.contains($0) } ?? true)
        }
    }
}
