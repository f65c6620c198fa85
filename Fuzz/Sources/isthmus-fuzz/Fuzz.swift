import Foundation

/// Entry point for arbitrary octets.
struct FuzzTarget: Sendable {
    let name: String
    /// Files and folders below the project's root with the initial corpus.
    let seeds: [String]
    /// Processes any octets. A trap or a report of AddressSanitizer is a finding.
    let run: @Sendable ([UInt8]) -> Void

    init(_ name: String, seeds: [String], _ run: @escaping @Sendable ([UInt8]) -> Void) {
        self.name = name
        self.seeds = seeds
        self.run = run
    }

    static let all = messages + headers + xml + documents + rules + conversions + signIns + xcap + filters + patches

    /// Target named by `ISTHMUS_FUZZ_TARGET`.
    static let chosen: FuzzTarget = {
        let name = ProcessInfo.processInfo.environment["ISTHMUS_FUZZ_TARGET"] ?? ""
        guard let target = all.first(where: { $0.name == name }) else {
            fatalError("ISTHMUS_FUZZ_TARGET is \"\(name)\", which is no target; --list prints them")
        }
        return target
    }()
}

/// Traps with a message, so that libFuzzer keeps the input.
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fatalError(message()) }
}

@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ count: UnsafeMutablePointer<Int32>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ input: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

@main
struct Fuzz {
    /// `--list` prints each target with its seeds; `--seeds DIRECTORY` writes seeds from a sign-in; other arguments are for libFuzzer.
    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments.dropFirst().first == "--list" {
            for target in FuzzTarget.all { print(([target.name] + target.seeds).joined(separator: " ")) }
            return
        }
        if arguments.dropFirst().first == "--seeds", let directory = arguments.last {
            return try SignIns.writeSeeds(to: directory)
        }
        _ = FuzzTarget.chosen
        var count = CommandLine.argc
        var vector = CommandLine.unsafeArgv
        exit(
            runDriver(&count, &vector) { bytes, count in
                FuzzTarget.chosen.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
                return 0
            })
    }
}
