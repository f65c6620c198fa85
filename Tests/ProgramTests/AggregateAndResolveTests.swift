import ArgumentParser
import Foundation
import Testing

@testable import isthmus

@Suite struct AggregateAndResolveTests {
    static let examples = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("docs/examples").path
    static let states = "\(examples)/bob.states.xml"
    static let containers = "\(examples)/bob.containers.xml"

    static func aggregate(_ arguments: String...) throws -> String {
        let command = try #require(try IsthmusCommand.parseAsRoot(["aggregate"] + arguments) as? AggregateCommand)
        return String(decoding: try command.computed(), as: UTF8.self)
    }

    static func resolve(_ publications: String, _ watcher: String, _ more: String...) throws -> [String] {
        let arguments = ["resolve", "--containers", containers, "--publications", publications, "--watcher", watcher] + more
        return try #require(try IsthmusCommand.parseAsRoot(arguments) as? ResolveCommand).decisions()
    }

    /// Error line and exit code of the command; nil when it succeeds.
    static func refusal(_ body: () throws -> Void) -> (line: String, code: CommandFailure.Code)? {
        do {
            try body()
            return nil
        } catch let failure as CommandFailure {
            return (failure.lines.joined(separator: "\n"), failure.code)
        } catch {
            return nil
        }
    }

    @Test("aggregate writes what the server computes of the example: busy while idle, with the meeting and the service")
    func example() throws {
        let text = try Self.aggregate("--at", "2026-11-22T12:00:00Z", Self.states)
        #expect(text.hasPrefix("<?xml "))
        #expect(text.contains("uri=\"sip:bob@contoso.com\""))
        #expect(
            text.contains(
                "<category name=\"legacyInterop\" instance=\"1\" publishTime=\"2026-11-22T12:00:00.000\" container=\"200\" version=\"1\" expireType=\"user\">"
            ))
        #expect(text.contains("availability=\"8000\" token=\"in-a-meeting\""))
        #expect(text.contains("lastActive=\"2026-11-22T11:45:00\"><availability>8000</availability><activity token=\"in-a-meeting\"/>"))
        #expect(text.contains("<meetingSubject>Budget</meetingSubject>"))
        #expect(text.contains("<voice render=\"true\" capture=\"true\" deviceAvailability=\"5000\"/>"))
        #expect(!text.contains("machineState\"><availability>5000</availability><endpointLocation>"))
    }

    @Test("aggregate of its own output and the inputs changes nothing") func again() throws {
        let scratch = try ConvertCommandTests.Scratch()
        let first = try Self.aggregate("--at", "2026-11-22T12:00:00Z", Self.states)
        let root = try #require(first.range(of: "<categories "))
        let start = try #require(first.range(of: ">", range: root.upperBound..<first.endIndex))
        let computed = first[start.upperBound...]
        let inputs = try String(contentsOfFile: Self.states, encoding: .utf8)
        try scratch.write(inputs.replacingOccurrences(of: "</categories>", with: String(computed)), "all.xml")
        #expect(try Self.aggregate("--at", "2026-11-22T13:00:00Z", "\(scratch.path)/all.xml") == first)
    }

    @Test("what aggregate cannot read is FILE:LINE:COLUMN with the rule, and ends with 1") func refused() async throws {
        let scratch = try ConvertCommandTests.Scratch()
        let state = "http://schemas.microsoft.com/2006/09/sip/state"
        let cases = [
            ("<categories", "a.xml:1:"), ("<nothing/>", "a.xml:1:1: MS-PRES 6.7: the root element is nothing"),
            (
                "<roamingData xmlns=\"http://schemas.microsoft.com/2006/09/sip/roaming-self\"/>",
                "a.xml: MS-PRES 6.7: the document has no categories"
            ),
            (
                "<categories xmlns=\"http://schemas.microsoft.com/2006/09/sip/categories\" uri=\"sip:a@contoso.com\">\n<category name=\"state\" container=\"2\"><state xmlns=\"\(state)\"><availability>much</availability></state></category></categories>",
                "a.xml:2:"
            ),
            (
                "<categories xmlns=\"http://schemas.microsoft.com/2006/09/sip/categories\" uri=\"sip:a@contoso.com\"><category name=\"state\" instance=\"1\"><state xmlns=\"\(state)\"/></category></categories>",
                "a.xml: MS-PRES 2.2.2.1: no category says its container"
            ),
        ]
        for (text, expected) in cases {
            try scratch.write(text, "a.xml")
            let found = Self.refusal { _ = try Self.aggregate("\(scratch.path)/a.xml") }
            #expect(found?.line.hasPrefix("\(scratch.path)/\(expected)") == true, "\(found?.line ?? "not refused")")
            #expect(found?.code == .inputRefused)
        }
        #expect(await Isthmus.run(["aggregate", "\(scratch.path)/none.xml"]) == 1)
        #expect(await Isthmus.run(["aggregate", "--at", "noon", Self.states]) == 2)
    }

    @Test("resolve names the container and the rule for each category, of what aggregate computed")
    func resolution() throws {
        let scratch = try ConvertCommandTests.Scratch()
        try scratch.write(try Self.aggregate("--at", "2026-11-22T12:00:00Z", Self.states), "computed.xml")
        let computed = "\(scratch.path)/computed.xml"
        #expect(try Self.resolve(computed, "sip:dana@fabrikam.com", "--category", "state") == ["container 400 (user)"])
        #expect(try Self.resolve(computed, "sip:ed@fabrikam.com", "--category", "services") == ["container 100 (federated)"])
        #expect(try Self.resolve(computed, "sip:carol@contoso.com", "--category", "state") == ["container 200 (sameEnterprise)"])
        #expect(
            try Self.resolve(computed, "sip:carol@contoso.com", "--network", "publicCloud", "--category", "state")
                == ["blocked (no member matches)"])
        #expect(try Self.resolve(computed, "sip:carol@contoso.com", "--category", "note") == ["blocked (not published)"])
        #expect(
            try Self.resolve(computed, "sip:carol@contoso.com") == [
                "dndState: blocked (private category)", "legacyInterop: blocked (private category)",
                "services: container 200 (sameEnterprise)",
                "state: container 200 (sameEnterprise)",
            ])
    }

    @Test("resolve refuses what it cannot read, and names it") func resolutionRefused() async throws {
        let twice = Self.refusal { _ = try Self.resolve(Self.containers, "sip:carol@contoso.com") }
        #expect(twice?.line == "\(Self.containers): no categories in the document (MS-PRES 6.2)")
        let nobody = Self.refusal { _ = try Self.resolve(Self.states, "carol") }
        #expect(nobody?.line == "--watcher carol: not a SIP URI with a domain (RFC 3261 19.1)")
        let files = ["--containers", Self.states, "--publications", Self.states]
        #expect(await Isthmus.run(["resolve", "--watcher", "sip:carol@contoso.com"] + files) == 1)
        #expect(await Isthmus.run(["resolve", "--watcher", "sip:carol@contoso.com", "--network", "elsewhere"] + files) == 2)
        #expect(await Isthmus.run(["resolve", "--watcher", "sip:c@contoso.com", "--containers", "-", "--publications", "-"]) == 2)
    }
}
