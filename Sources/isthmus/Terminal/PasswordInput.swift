import Glibc

/// Reads a password without echo; a password is never an argument, since arguments are visible to all users of the machine.
enum PasswordInput {
    /// First line of standard input, without its line end.
    static func fromStandardInput() throws(CommandFailure) -> String {
        guard let line = readLine(strippingNewline: true), !line.isEmpty else {
            throw CommandFailure(.inputRefused, "standard input has no password in its first line")
        }
        return line
    }

    /// Asks for the password twice on the terminal.
    static func fromTerminal(for uri: String) throws(CommandFailure) -> String {
        guard isatty(0) == 1 else {
            throw CommandFailure(.usage, "standard input is no terminal: give the password with --password-stdin, or --no-password")
        }
        let password = ask("Password of \(uri): ")
        guard let password, !password.isEmpty else { throw CommandFailure(.inputRefused, "no password given") }
        guard ask("Once more: ") == password else { throw CommandFailure(.inputRefused, "the two passwords differ") }
        return password
    }

    private static func ask(_ question: String) -> String? {
        var settings = termios()
        guard tcgetattr(0, &settings) == 0 else { return nil }
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        Terminal.complainVerbatim(question)
        tcsetattr(0, TCSAFLUSH, &silent)
        defer {
            tcsetattr(0, TCSAFLUSH, &settings)
            Terminal.complainVerbatim("\n")
        }
        return readLine(strippingNewline: true)
    }
}
