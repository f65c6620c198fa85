import Administration
import Foundation
import GatewayService
import PresenceMapping

/// `convert --out DIR`: converts many files, each to a file of the same name; failures are reported and the others continue.
struct BatchConversion {
    let command: ConvertCommand
    let converter: Converter
    let options: ConversionOptions
    let out: String

    /// One file to convert, and the name of its result in the output directory.
    struct Job: Hashable {
        var file: String
        var name: String
    }

    /// Converts all files.
    /// - Throws: `CommandFailure` after the last file when any of them failed.
    func run() throws {
        let jobs = try Self.jobs(command.files, out: out)
        do {
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
        } catch {
            throw CommandFailure(.inputRefused, "\(out): \(InputFile.reason(error))")
        }
        let progress = ProgressLine(total: jobs.count)
        var failed = 0
        for (index, job) in jobs.enumerated() {
            progress.show(index, job.file)
            do {
                let conversion = try command.convert(job.file, converter, options)
                try write(conversion.bytes, to: "\(out)/\(job.name)")
                progress.clear()
                report(conversion.report, job.file)
            } catch {
                failed += 1
                progress.clear()
                for line in error.lines { Terminal.complain(line) }
            }
        }
        progress.clear()
        Terminal.complainVerbatim("\(jobs.count - failed) converted, \(failed) failed\n")
        if failed > 0 { throw CommandFailure(.inputRefused, []) }
    }

    /// Determines the output name of each input file.
    /// - Throws: `CommandFailure` when a name cannot be read, two results have the same name, or a result would replace its source.
    static func jobs(_ inputs: [String], out: String) throws(CommandFailure) -> [Job] {
        var jobs: [Job] = []
        for input in inputs {
            if input == "-" { throw CommandFailure(.usage, "standard input cannot go to --out; give files") }
            guard isDirectory(input) else {
                jobs.append(Job(file: input, name: URL(fileURLWithPath: input).lastPathComponent))
                continue
            }
            let names: [String]
            do {
                names = try FileManager.default.contentsOfDirectory(atPath: input).filter { $0.hasSuffix(".xml") }.sorted()
            } catch {
                throw CommandFailure(.inputRefused, "\(input): \(InputFile.reason(error))")
            }
            if names.isEmpty { throw CommandFailure(.inputRefused, "\(input): no *.xml files") }
            let base = input.hasSuffix("/") ? String(input.dropLast()) : input
            jobs += names.map { Job(file: "\(base)/\($0)", name: $0) }
        }
        var seen: [String: String] = [:]
        let target = URL(fileURLWithPath: out).standardizedFileURL.resolvingSymlinksInPath().path
        for job in jobs {
            if let other = seen.updateValue(job.file, forKey: job.name) {
                throw CommandFailure(.usage, "\(other) and \(job.file) would both become \(out)/\(job.name)")
            }
            let source = URL(fileURLWithPath: job.file).standardizedFileURL.resolvingSymlinksInPath().deletingLastPathComponent().path
            if source == target { throw CommandFailure(.usage, "\(job.file) would be replaced: choose another --out") }
        }
        return jobs
    }

    static func isDirectory(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }

    private func write(_ bytes: [UInt8], to path: String) throws(CommandFailure) {
        do {
            try Data(bytes.last == 10 ? bytes : bytes + [10]).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw CommandFailure(.inputRefused, "\(path): \(InputFile.reason(error))")
        }
    }

    private func report(_ report: ConversionReport, _ file: String) {
        switch command.report {
        case .none: break
        case .text: for line in report.text.split(separator: "\n") { Terminal.complainVerbatim("\(file): \(line)\n") }
        case .json: Terminal.complainVerbatim(JSONText.object([("file", JSONText.string(file)), ("report", report.json)]) + "\n")
        }
    }
}

/// Progress as `[3/240] name` on the last line of a terminal; silent when standard error is not a terminal.
struct ProgressLine {
    let total: Int
    private let isShown = Terminal.errorIsTerminal

    init(total: Int) { self.total = total }

    func show(_ index: Int, _ name: String) {
        guard isShown else { return }
        Terminal.complainVerbatim("\r\u{1B}[K[\(index + 1)/\(total)] \(name.suffix(60))")
    }

    func clear() {
        if isShown { Terminal.complainVerbatim("\r\u{1B}[K") }
    }
}
