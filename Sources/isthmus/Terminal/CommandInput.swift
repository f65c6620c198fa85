import GatewayService
import PresenceDocuments

/// Documents named on the command line; `-` is standard input.
enum CommandInput {
    /// - Throws: `CommandFailure` (input refused) naming the file and the reason.
    static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
        do {
            return try InputFile.read(path)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// `FILE:LINE:COLUMN: what is wrong`
    static func refusal(of path: String, _ error: DocumentError) -> CommandFailure {
        let name = path == "-" ? "<stdin>" : path
        return CommandFailure(.inputRefused, "\(name):\(error.position == nil ? " " : "")\(error)")
    }
}
