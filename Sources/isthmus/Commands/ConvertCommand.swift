import ArgumentParser
import GatewayService
import PresenceDocuments
import PresenceMapping

struct ConvertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Turn a presence document into another kind of presence document.",
        discussion: """
            The document goes to standard output; what was lost, and by which row of the tables, to standard error.
            Several files, or a directory (its *.xml files), go to --out DIR under their own names; a bad one is named and
            the rest goes on. A flawed optional part of a document is left out and named on standard error, as the gateway does
            with what partners notify; with --strict it refuses the document, as the gateway does with what users publish. A
            refused document is reported as FILE:LINE:COLUMN with the rule it breaks, and nothing is written for it.

            EXAMPLES
              isthmus convert --to categories alice.xml
              isthmus convert --from categories --to pidf --profile rpid-draft bob.xml
              isthmus convert --from legacy-interop --to msrtc \\
                --entity sip:bob@contoso.com --report json - < bob.xml
              isthmus convert --from pidf --to xpidf --out converted documents/
            """)

    enum Report: String, CaseIterable, ExpressibleByArgument { case none, text, json }

    @Option(
        help: "What the documents are: \(PresenceFormat.all.map(\.name).joined(separator: ", ")); by their root element when not given.")
    var from: PresenceFormat?
    @Option(help: "What they are to become.")
    var to: PresenceFormat
    @Option(help: ArgumentHelp("Whose presence it is; needed where the document does not say.", valueName: "uri"))
    var entity: String?
    @Option(help: "How PIDF is written: \(PIDFProfile.all.map(\.name).joined(separator: ", ")).")
    var profile = PIDFProfile.rpid
    @Option(help: ArgumentHelp("The clock, as in 2026-03-02T09:15:00Z; now when not given.", valueName: "time"))
    var at: DateTime?
    @Flag(help: "Keep exact enterprise values in PIDF in an extension element.")
    var lossless = false
    @Flag(help: "Refuse a document with any flaw, instead of leaving the flawed part out.")
    var strict = false
    @Option(help: ArgumentHelp("A directory of tables that replace those compiled in.", valueName: "dir"))
    var mappings: String?
    @Option(help: "The form of the report on standard error: none, text, json.")
    var report = Report.text
    @Flag(inversion: .prefixedNo, help: "Indent the result for people; on a terminal unless told otherwise.")
    var pretty: Bool?
    @Option(help: ArgumentHelp("Where the results go; needed for several files.", valueName: "dir"))
    var out: String?
    @Argument(help: "Files, a directory, or - for standard input.")
    var files: [String] = ["-"]

    func run() throws {
        let converter = Converter(mapper: PresenceMapper(tables: try MappingsDirectory.tables(mappings)))
        var options = ConversionOptions(entity: entity, profile: profile, at: at ?? .wallClock(), lossless: lossless)
        options.reading = strict ? .strict : .liberal
        if let out {
            try BatchConversion(command: self, converter: converter, options: options, out: out).run()
            return
        }
        guard files.count == 1, !BatchConversion.isDirectory(files[0]) else {
            throw CommandFailure(.usage, "several files or a directory need --out DIR")
        }
        let conversion = try convert(files[0], converter, options)
        Terminal.write(document: conversion.bytes, isPretty: pretty)
        switch report {
        case .none: break
        case .text: Terminal.complainVerbatim(conversion.report.text + "\n")
        case .json: Terminal.complainVerbatim(conversion.report.json + "\n")
        }
    }

    /// Reads and converts one file.
    /// - Throws: `CommandFailure` naming the file, the position and the rule.
    func convert(_ file: String, _ converter: Converter, _ options: ConversionOptions) throws(CommandFailure) -> Conversion {
        let bytes = try CommandInput.read(file)
        do {
            let source = if let from { from } else { try converter.format(of: bytes) }
            return try converter.convert(bytes, from: source, to: to, options: options)
        } catch {
            let name = file == "-" ? "<stdin>" : file
            let isOption = error.code == "missing-option"
            throw CommandFailure(
                isOption ? .usage : .inputRefused, "\(name):\(error.line > 0 ? "" : " ")\(error)" + (isOption ? " (--entity URI)" : ""))
        }
    }
}

extension PresenceFormat: ExpressibleByArgument {
    /// Reads the name of a format; nil when it is unknown.
    public init?(argument: String) { self.init(named: argument) }
    /// Names of all values, for the help text.
    public static var allValueStrings: [String] { all.map(\.name) }
}

extension PIDFProfile: ExpressibleByArgument {
    /// Reads the name of a profile; nil when it is unknown.
    public init?(argument: String) { self.init(named: argument) }
    /// Name of the profile.
    public var defaultValueDescription: String { name }
    /// Names of all values, for the help text.
    public static var allValueStrings: [String] { all.map(\.name) }
}

extension DateTime: ExpressibleByArgument {
    /// Reads a date and time (RFC 3339); nil for any other text.
    public init?(argument: String) { self.init(argument) }
}
