import Glibc

/// Returns the proportional set size of a process in octets; 0 when it cannot be read.
public func memory(of process: pid_t) -> Int {
    guard let file = fopen("/proc/\(process)/smaps_rollup", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard text.hasPrefix("Pss:") else { continue }
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1_024
    }
    return 0
}
