import GatewayService

/// Error of a command; each line is printed as `isthmus: LINE`.
struct CommandFailure: Error, Hashable {
    enum Code: Int32, Hashable {
        case inputRefused = 1
        case usage = 2
        case unreachable = 3
    }

    var code: Code
    var lines: [String]

    init(_ code: Code, _ lines: [String]) {
        self.code = code
        self.lines = lines
    }

    init(_ code: Code, _ line: String) {
        self.init(code, [line])
    }

    /// Input that the gateway refused.
    init(_ failure: ServiceFailure) {
        self.init(.inputRefused, failure.lines)
    }
}
