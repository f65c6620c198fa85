import Foundation

/// Seeds of a long run over random histories, chosen by the environment; without it there are few.
enum LongHistories {
    /// Number of seeds.
    static let count = number("ISTHMUS_HISTORIES") ?? 10
    /// Seeds beyond those of every test run.
    static var seeds: Range<UInt64> {
        let first = UInt64(number("ISTHMUS_HISTORY") ?? 1_000)
        return first..<first + UInt64(count)
    }

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
