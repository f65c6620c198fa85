import Foundation

/// Functions of libpurple on a message bus, called in turn by `dbus-send`. Its objects are numbers.
final class PurpleBus: Sendable {
    enum Argument: ExpressibleByIntegerLiteral, ExpressibleByStringInterpolation {
        case number(Int)
        case text(String)

        init(integerLiteral value: Int) { self = .number(value) }
        init(stringLiteral value: String) { self = .text(value) }

        fileprivate var word: String {
            switch self {
            case .number(let value): "int32:\(value)"
            case .text(let value): "string:\(value)"
            }
        }
    }

    private let program: URL
    private let address: String
    private let directory: URL

    init(address: String, in directory: URL) throws {
        program = try PeerPrograms.busCaller.required(package: "dbus-bin")
        (self.address, self.directory) = (address, directory)
    }

    /// Calls a function and returns what `dbus-send` prints of its answer, without white space around it.
    /// - Throws: `PeerError` when there is no such function, or no answer within 10 s.
    @discardableResult
    func text(_ function: String, _ arguments: Argument...) async throws -> String {
        try await call(function, arguments)
    }

    /// As above for a function that returns a number or an object; 0 is no object.
    @discardableResult
    func number(_ function: String, _ arguments: Argument...) async throws -> Int {
        let answer = try await call(function, arguments)
        guard let number = answer.split(separator: " ").last.flatMap({ Int($0) }) else {
            throw PeerError(description: "\(function) answers \"\(answer)\", not a number")
        }
        return number
    }

    private func call(_ function: String, _ arguments: [Argument]) async throws -> String {
        let call = try ChildProcess(
            program,
            [
                "--bus=\(address)", "--print-reply=literal", "--reply-timeout=10000", "--dest=im.pidgin.purple.PurpleService",
                "/im/pidgin/purple/PurpleObject", "im.pidgin.purple.PurpleInterface.\(function)",
            ] + arguments.map(\.word), in: directory, name: "call")
        guard await call.exit(within: 15) == 0 else { throw PeerError(description: "\(function): \(call.errorText)") }
        return call.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
