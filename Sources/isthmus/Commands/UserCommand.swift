import ArgumentParser
import GatewayService
import SIPCore
import SIPSecurity
import UserDirectory

struct UserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Work on a file of users.",
        subcommands: [UserAddCommand.self, UserListCommand.self, UserRemoveCommand.self])
}

/// `URI --file FILE`, the same in every command about one user.
struct UserFileOption: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The file of users (YAML); one that is not there yet is made.", valueName: "file"))
    var file: String

    static func user(_ uri: String) throws -> DirectoryUser {
        do {
            return try DirectoryUser(uri)
        } catch {
            throw CommandFailure(.inputRefused, "\(uri): \(error.rule)")
        }
    }
}

struct UserAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a user, or replace one.",
        discussion: """
            Asks for the password twice, or takes it from the first line of standard input; it is not written anywhere, only
            what NTLM and Digest verify it with. The file is replaced at once or not at all, and readable by its owner only.
            A running gateway reads it anew on SIGHUP.

            EXAMPLES
              isthmus user add sip:bob@contoso.com --file users.yaml --display-name "Bob Baker"
              isthmus user add sip:bob@contoso.com --file users.yaml --replace --password-stdin < secret
              isthmus user add sip:lobby@contoso.com --file users.yaml --no-password --set office=Lobby
            """)

    @Argument(help: "A SIP URI: sip:user@domain.")
    var uri: String
    @OptionGroup var option: UserFileOption
    @Option(help: ArgumentHelp("The name that others see.", valueName: "name"))
    var displayName: String?
    @Option(help: ArgumentHelp("The mail address that others see.", valueName: "address"))
    var email: String?
    @Option(
        help: ArgumentHelp(
            "Another field: \(DirectoryField.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "field=value"))
    var set: [String] = []
    @Flag(help: "Take the password from the first line of standard input.")
    var passwordStdin = false
    @Flag(help: "A user who cannot sign in by password.")
    var noPassword = false
    @Flag(help: "Replace the entry of the same user.")
    var replace = false

    func validate() throws {
        if passwordStdin, noPassword { throw ValidationError("--password-stdin and --no-password exclude each other") }
    }

    func run() throws {
        var user = try UserFileOption.user(uri)
        if let displayName { try put(displayName, .displayName, into: &user) }
        if let email { try put(email, .email, into: &user) }
        for pair in set {
            guard let equals = pair.firstIndex(of: "="), let field = DirectoryField(rawValue: String(pair[..<equals])) else {
                throw CommandFailure(.usage, "--set \(pair): not field=value with a known field (see isthmus help user add)")
            }
            try put(String(pair[pair.index(after: equals)...]), field, into: &user)
        }
        let editor = DirectoryFileEditor(path: option.file)
        if !noPassword {
            let password = passwordStdin ? try PasswordInput.fromStandardInput() : try PasswordInput.fromTerminal(for: uri)
            do {
                user.verifiers = try CredentialVerifiers(user: user.account, realm: user.domain, password: password)
            } catch {
                throw CommandFailure(.inputRefused, "\(uri): \(error)")
            }
        }
        try editor.put(user, replaces: replace, hint: "; --replace replaces it")
        Terminal.write("\(option.file): \(user.uri) \(replace ? "written" : "added")\n")
    }

    private func put(_ text: String, _ field: DirectoryField, into user: inout DirectoryUser) throws {
        do { try user.set(field, text) } catch { throw CommandFailure(.inputRefused, "\(error)") }
    }
}

struct UserListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the users of a file: URI, display name, mail address, and what is special.",
        discussion: """
            EXAMPLES
              isthmus user list --file users.yaml
            """)

    @OptionGroup var option: UserFileOption

    func run() throws {
        for user in try DirectoryFile.read(option.file).users.sorted(by: { $0.key < $1.key }) {
            var columns = [user.uri.description, user.displayName, user.email ?? "-"]
            if !user.isEnabled { columns.append("disabled") }
            if user.isHidden { columns.append("hidden") }
            if user.verifiers == nil { columns.append("no password") }
            Terminal.write(columns.joined(separator: "\t") + "\n")
        }
    }
}

struct UserRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a user from a file.",
        discussion: """
            EXAMPLES
              isthmus user remove sip:bob@contoso.com --file users.yaml
            """)

    @Argument(help: "A SIP URI: sip:user@domain.")
    var uri: String
    @OptionGroup var option: UserFileOption

    func run() throws {
        let user = try UserFileOption.user(uri)
        try DirectoryFileEditor(path: option.file).remove(user.key)
        Terminal.write("\(option.file): \(user.uri) removed\n")
    }
}
