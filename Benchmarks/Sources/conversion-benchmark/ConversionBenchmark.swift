import Measurement
import Glibc
import PresenceDocuments
import PresenceMapping
import XMLCore

/// `conversion-benchmark VECTORS`: conversions per second, each direction against libxml2's bare SAX parse of the same document.
@main
struct ConversionBenchmark {
    static func main() {
        let arguments = Arguments()
        guard let vectors = arguments.rest.first else {
            print("usage: conversion-benchmark VECTORS [--quick] [--profile NAME COUNT]")
            exit(2)
        }
        let benchmark = ConversionBenchmark(vectors: vectors)
        if !arguments.profile(benchmark.directions.flatMap(benchmark.entries)) { benchmark.run(quick: arguments.isQuick) }
    }

    private struct Direction {
        var name: String
        var from: PresenceFormat
        var to: PresenceFormat
        var document: [UInt8]
        var options = ConversionOptions()
    }

    private let directions: [Direction]

    init(vectors: String) {
        func document(_ name: String) -> [UInt8] { Self.contents("\(vectors)/\(name).in.xml") }
        var moment = ConversionOptions()
        moment.at = DateTime("2026-05-04T09:00:00Z")
        var legacy = moment
        legacy.entity = "sip:bob@contoso.com"
        directions = [
            Direction(
                name: "pidf-rich-to-categories", from: .pidf, to: .categories, document: document("conversion/rich-pidf-to-categories"),
                options: moment),
            Direction(
                name: "pidf-minimal-to-categories", from: .pidf, to: .categories, document: document("mapping/r2a-none-open"),
                options: moment),
            Direction(
                name: "categories-to-pidf", from: .categories, to: .pidf, document: document("conversion/rich-categories-to-pidf"),
                options: moment),
            Direction(
                name: "legacy-interop-to-pidf", from: .legacyInterop, to: .pidf, document: document("mapping/a2p-on-the-phone"),
                options: legacy),
            Direction(
                name: "msrtc-to-pidf", from: .msrtc, to: .pidf, document: document("conversion/msrtc-to-pidf"), options: moment),
        ]
    }

    private func entries(_ direction: Direction) -> [Contest.Entry] {
        guard let referee = LibXML2(), referee.count(direction.document) != nil else {
            print("conversion-benchmark: libxml2 refuses the document of \(direction.name)")
            exit(1)
        }
        let parser = XMLParser()
        let converter = Converter()
        let document = direction.document
        return [
            Contest.Entry("\(direction.name)/libxml2") { count in
                for _ in 0..<count { keep(referee.count(document)) }
            },
            Contest.Entry("\(direction.name)/parse") { count in
                for _ in 0..<count { keep(try? parser.parse(document)) }
            },
            Contest.Entry("\(direction.name)/read") { count in
                for _ in 0..<count { keep(try? converter.read(document, format: direction.from, options: direction.options)) }
            },
            Contest.Entry("\(direction.name)/convert") { count in
                for _ in 0..<count {
                    keep(try? converter.convert(document, from: direction.from, to: direction.to, options: direction.options))
                }
            },
        ]
    }

    func run(quick: Bool) {
        var table = Table("conversion", "octets", "per CPU s", "MB/s", "us", "libxml2 us", "parse", "read", "convert", "(range)")
        for direction in directions {
            guard (try? Converter().convert(direction.document, from: direction.from, to: direction.to, options: direction.options)) != nil
            else {
                print("conversion-benchmark: \(direction.name) does not convert")
                exit(1)
            }
            let results = Contest(entries(direction)).run(quick: quick)
            let whole = results[3]
            table.add(
                direction.name, String(direction.document.count), perSecond(whole.nanoseconds),
                text(Double(direction.document.count) * 1_000 / whole.nanoseconds, 0), text(whole.nanoseconds / 1_000),
                text(results[0].nanoseconds / 1_000), text(results[1].ratio) + "x", text(results[2].ratio) + "x",
                text(whole.ratio) + "x", "\(text(whole.spread.lowerBound))-\(text(whole.spread.upperBound))")
        }
        table.show(
            title: "Conversions; parse, read (parse and canonical model) and convert (octets to octets) to libxml2's bare SAX parse = 1")
    }

    /// Octets of a file; ends the program when there is none.
    private static func contents(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else {
            print("conversion-benchmark: cannot read \(path)")
            exit(1)
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes[..<count])
    }
}
