/// Arguments of the benchmark programs: `[--quick] [--profile NAME COUNT] [rest]`.
public struct Arguments {
    /// Whether rounds are fewer and shorter.
    public var isQuick = false
    /// Single entry and number of runs, for a profiler or an instruction counter; nil measures all.
    public var profile: (name: String, count: Int)?
    public var rest: [String] = []

    public init(_ arguments: [String] = CommandLine.arguments) {
        var index = 1
        while index < arguments.count {
            if arguments[index] == "--quick" {
                isQuick = true
            } else if arguments[index] == "--profile", index + 2 < arguments.count, let count = Int(arguments[index + 2]) {
                profile = (arguments[index + 1], count)
                index += 2
            } else {
                rest.append(arguments[index])
            }
            index += 1
        }
    }

    /// Runs the entry to profile; returns false when none is selected.
    public func profile(_ entries: [Contest.Entry]) -> Bool {
        guard let profile else { return false }
        guard let entry = entries.first(where: { $0.name == profile.name }) else {
            print("names: " + entries.map(\.name).joined(separator: ", "))
            return true
        }
        entry.run(profile.count)
        return true
    }
}
