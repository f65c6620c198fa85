import ByteCoding
import EnhancedPresence
import Foundation
import PresenceDocuments
import PresenceMapping
import SIPCore
import XMLCore

/// Runs single cases and reports the first failure of each; collects the mapping rows used. Not thread-safe.
package final class VectorVerifier {
    private let converter: Converter
    /// Ids of the mapping rows used by all cases run so far.
    package private(set) var hitRows: Set<String> = []

    /// Creates a verifier that converts with these mapping tables.
    package init(tables: MappingTables = .embedded) {
        converter = Converter(mapper: PresenceMapper(tables: tables))
    }

    /// The output of a case, or its error message.
    enum Outcome {
        case document([UInt8], losses: [MappingLoss], rows: [String])
        case refused(String)
    }

    /// Runs a case and describes its first failure; nil if it passes.
    package func fault(of vector: VectorCase) -> String? {
        guard let input = try? Data(contentsOf: vector.inputURL) else { return "\(vector.input) cannot be read" }
        let bytes = [UInt8](input)
        let outcome = run(vector, bytes)
        switch (outcome, vector.result) {
        case (.refused(let message), .invalid):
            guard let error = vector.error else { return nil }
            return message.contains(error) ? nil : "refused with \"\(message)\", expected \"\(error)\""
        case (.refused(let message), _): return "refused: \(message)"
        case (.document, .invalid): return "not refused"
        case (.document(let document, let losses, let rows), _):
            return check(vector, input: bytes, document: document, losses: losses, rows: rows)
        }
    }

    /// The output of a case for `--bless`; nil if the input is refused or cannot be read.
    package func output(of vector: VectorCase) -> [UInt8]? {
        guard let input = try? Data(contentsOf: vector.inputURL), case .document(let document, _, _) = run(vector, [UInt8](input)) else {
            return nil
        }
        return document
    }

    private func run(_ vector: VectorCase, _ bytes: [UInt8]) -> Outcome {
        switch vector.suite {
        case "mapping", "conversion":
            guard let from = vector.from, let to = vector.to else { return .refused("from or to is missing") }
            do throws(ConversionError) {
                let conversion = try converter.convert(bytes, from: from, to: to, options: vector.options)
                hitRows.formUnion(conversion.report.rowIDs)
                return .document(conversion.bytes, losses: conversion.report.losses, rows: conversion.report.rowIDs)
            } catch {
                return .refused(error.description)
            }
        case "aggregation":
            guard let moment = vector.options.at else { return .refused("at is missing") }
            do throws(DocumentError) {
                return .document(
                    try EnhancedPresentity.computedCategories(of: bytes, at: moment).encoded(), losses: [], rows: [])
            } catch {
                return .refused(error.description)
            }
        case "resolution":
            do throws(DocumentError) {
                return .document(try resolve(vector, bytes), losses: [], rows: [])
            } catch {
                return .refused(error.description)
            }
        case "documents":
            guard let codec = vector.format.flatMap({ DocumentFormats.codecs[$0] }) else {
                return .refused("no document format \(vector.format ?? "")")
            }
            do {
                return .document(try codec(bytes), losses: [], rows: [])
            } catch let error as DocumentError {
                return .refused(error.description)
            } catch {
                return .refused("\(error)")
            }
        default:
            switch SIPParser.parse(bytes, framing: vector.isStream ? .stream : .datagram) {
            case .success(let message): return .document(SIPSerializer.serialize(message), losses: [], rows: [])
            case .failure(let error): return .refused(error.description)
            }
        }
    }

    /// The decision as text, resolved from a roamingData document with containers, members and categories.
    private func resolve(_ vector: VectorCase, _ bytes: [UInt8]) throws(DocumentError) -> [UInt8] {
        let data = try RoamingDataDocument(parsing: bytes)
        var memberships: [ContainerID: ContainerMembership] = [:]
        for container in data.containers?.containers ?? [] {
            memberships[container.id] = ContainerMembership(version: container.version, members: container.members)
        }
        let category = CategoryName(rawValue: vector.resolution?.category ?? "")
        let holders = (data.categories?.categories ?? []).filter { $0.name == category && !$0.isEmptyMarker }
        let candidates = Set(holders.map { $0.container ?? .default }).sorted(by: >)
        let network = SourceNetwork(rawValue: vector.resolution?.network ?? "")
        let resolution = ContainerResolver(memberships: memberships)
            .resolve(category, heldBy: candidates, for: WatcherIdentity(uri: vector.resolution?.watcher ?? "", network: network))
        if let container = resolution.container {
            let row = converter.mapper.tables.row(of: "container-policy", where: "container", is: Int(container.rawValue))
            if let row { hitRows.insert(row.id) }
        }
        return Array(resolution.description.utf8)
    }

    private func check(_ vector: VectorCase, input: [UInt8], document: [UInt8], losses: [MappingLoss], rows: [String]) -> String? {
        if let decision = vector.resolution?.decision {
            let found = String(decoding: document, as: UTF8.self)
            return found == decision ? nil : "expected \(decision), found \(found)"
        }
        if let url = vector.expectedURL {
            guard let data = try? Data(contentsOf: url) else { return "\(url.lastPathComponent) cannot be read" }
            if let difference = difference(vector, expected: [UInt8](data), actual: document) { return difference }
        } else if vector.suite == "documents" {
            if let difference = difference(vector, expected: input, actual: document) { return difference }
        } else if vector.suite == "sip" {
            // Without an expected file, parsing the output must return an equal message.
            guard case .success(let first) = SIPParser.parse(input), case .success(let second) = SIPParser.parse(document),
                SIPSerializer.serialize(first) == SIPSerializer.serialize(second)
            else { return "the serialised message reads differently" }
        } else if !vector.roundtrip {
            return "neither an expected file nor a round trip"
        }
        let reported = Set(losses.map(\.rowID))
        let expected = vector.loss.map { Set($0) } ?? (vector.suite == "mapping" ? [] : nil)
        if let expected, reported != expected {
            let missing = expected.subtracting(reported).sorted()
            let surplus = reported.subtracting(expected).sorted()
            return "losses: not reported \(missing), not expected \(surplus)"
        }
        let unused = Set(vector.rows).subtracting(rows)
        if !unused.isEmpty { return "rows not used: \(unused.sorted())" }
        return vector.roundtrip ? roundtripFault(vector, input: input, document: document) : nil
    }

    private func roundtripFault(_ vector: VectorCase, input: [UInt8], document: [UInt8]) -> String? {
        if vector.suite == "mapping" || vector.suite == "conversion", let from = vector.from, let to = vector.to {
            var options = vector.options
            if to != .legacyInterop { options.entity = nil }
            do throws(ConversionError) {
                let back = try converter.convert(document, from: to, to: from, options: options)
                hitRows.formUnion(back.report.rowIDs)
                return difference(vector, expected: input, actual: back.bytes).map { "round trip: " + $0 }
            } catch {
                return "round trip refused: \(error)"
            }
        }
        guard case .document(let again, _, _) = run(vector, document) else { return "round trip refused" }
        return difference(vector, expected: document, actual: again).map { "round trip: " + $0 }
    }

    private func difference(_ vector: VectorCase, expected: [UInt8], actual: [UInt8]) -> String? {
        guard vector.suite == "sip" else { return XMLCanonical().difference(expected: expected, actual: actual) }
        guard expected != actual else { return nil }
        let wanted = String(decoding: expected, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let found = String(decoding: actual, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        for (index, pair) in zip(wanted, found).enumerated() where pair.0 != pair.1 {
            return "line \(index + 1): expected \(JSONString.quoted(pair.0)), found \(JSONString.quoted(pair.1))"
        }
        return "\(found.count) lines, expected \(wanted.count)"
    }
}
