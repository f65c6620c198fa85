/// Error of a command; each line is printed as `isthmus: LINE`.
package struct CommandFailure: Error, Hashable {
    package enum Code: Int32, Hashable {
        case inputRefused = 1
        case usage = 2
        case unreachable = 3
    }

    package var code: Code
    package var lines: [String]

    package init(_ code: Code, _ lines: [String]) {
        self.code = code
        self.lines = lines
    }

    package init(_ code: Code, _ line: String) {
        self.init(code, [line])
    }
}
