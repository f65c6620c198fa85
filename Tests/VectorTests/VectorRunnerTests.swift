import Foundation
import GoldenVectors
import PresenceMapping
import Testing

@Suite("Vector loader and runner") struct VectorRunnerTests {
    /// A directory of vectors for one test.
    struct Fixture: ~Copyable {
        let root: URL

        init() throws {
            root = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-vectors-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: root.appendingPathComponent("mapping"), withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: root) }

        func write(_ path: String, _ text: String) throws {
            try Data(text.utf8).write(to: root.appendingPathComponent(path))
        }

        /// The case `mapping/a`: a busy legacyInterop to msrtc.pidf.
        func writeCase(_ extra: String = "", result: String = "valid", availability: String = "6500") throws {
            try write(
                "mapping/a.json",
                """
                {"id":"mapping/a","comment":"busy","spec":["MS-PRES 3.7.5.5"],"source":"handwritten","from":"legacy-interop","to":"msrtc",
                "entity":"sip:bob@contoso.com","input":"a.in.xml","expected":"a.out.xml","result":"\(result)"\(extra)}
                """)
            try write(
                "mapping/a.in.xml",
                "<legacyInterop xmlns=\"http://schemas.microsoft.com/2006/09/sip/categories\" availability=\"\(availability)\"/>")
            try write(
                "mapping/a.out.xml",
                """
                <p:presentity xmlns:p="http://schemas.microsoft.com/2002/09/sip/presence" uri="bob@contoso.com">
                  <p:availability aggregate="300"/><p:activity aggregate="600"/>
                  <p:displayName displayName="{{any}}"/><p:email email="{{any}}"/><p:phoneNumber number="{{any}}"/>
                  <p:aggregate><p:states>
                    <p:state xmlns:x="http://www.w3.org/2001/XMLSchema-instance" x:type="p:userState" avail="6500">busy</p:state>
                  </p:states></p:aggregate>
                </p:presentity>
                """)
        }

        func run() -> VectorReport { VectorRunner.run(root.path) }
        var fault: String? {
            if case .failed(let message)? = run().results.first?.outcome { message } else { nil }
        }
    }

    @Test("a case passes whatever the prefixes, and its rows are hit")
    func passes() throws {
        let fixture = try Fixture()
        try fixture.writeCase()
        let report = fixture.run()
        #expect(report.text == "1 passed, 0 failed, 0 skipped")
        #expect(report.hitRows.contains("A2M-05"))
    }

    @Test("a different document fails with the first difference")
    func differs() throws {
        let fixture = try Fixture()
        try fixture.writeCase(availability: "9500")
        #expect(fixture.fault?.contains("600") == false)
        #expect(fixture.fault?.contains("6500") == true)
    }

    @Test("a loss that is not listed, and one that does not happen, both fail")
    func losses() throws {
        let fixture = try Fixture()
        try fixture.writeCase(availability: "6600")
        #expect(fixture.fault?.contains("FLD-number") == true)
        try fixture.writeCase(#","loss":["A2M-01"]"#)
        #expect(fixture.fault?.contains("A2M-01") == true)
    }

    @Test("a refused input passes only as invalid with the fragment of its error")
    func invalid() throws {
        let fixture = try Fixture()
        try fixture.writeCase(availability: "-1")
        #expect(fixture.fault?.hasPrefix("refused") == true)
        try fixture.writeCase(#","error":"availability"}"#.replacing("}", with: ""), result: "invalid", availability: "-1")
        #expect(fixture.run().isGood)
        try fixture.writeCase(#","error":"something else""#, result: "invalid", availability: "-1")
        #expect(fixture.fault?.contains("something else") == true)
        try fixture.writeCase(result: "invalid", availability: "-1")
        #expect(fixture.fault == "\"error\" is missing: an invalid case needs a part of the error text")
    }

    @Test("an unknown member, a wrong id and a missing file are faults of the vector")
    func brokenVector() throws {
        let fixture = try Fixture()
        try fixture.writeCase(#","colour":"red""#)
        #expect(fixture.fault?.contains("colour") == true)
        try fixture.write("mapping/a.json", #"{"id":"mapping/b"}"#)
        #expect(fixture.fault?.contains("mapping/a") == true)
    }

    @Test("a known gap is skipped while it fails, and fails the run when it passes or fits nothing")
    func gaps() throws {
        let fixture = try Fixture()
        try fixture.writeCase(availability: "9500")
        try fixture.write("known-gaps.json", #"{"mapping/a":"not yet"}"#)
        #expect(fixture.run().summary == "0 passed, 0 failed, 1 skipped")
        try fixture.writeCase()
        #expect(fixture.run().summary == "0 passed, 1 failed, 0 skipped")
        try fixture.write("known-gaps.json", #"{"mapping/zzz*":"not yet"}"#)
        #expect(fixture.run().summary == "1 passed, 1 failed, 0 skipped")
    }

    @Test(
        "a known gap is the id of a case, or a pattern with *, and hides no other case",
        arguments: [
            ("mapping/a", 1), ("mapping/a*", 0), ("map*a", 1), ("*a-2", 1), ("mapping", 3), ("a", 3), ("*/a*2", 1), ("*", 0),
            ("mapping/a*a", 3),
        ])
    func gapPatterns(pattern: String, failed: Int) throws {
        let fixture = try Fixture()
        try fixture.writeCase(availability: "9500")
        try fixture.write("mapping/a-2.json", #"{"id":"mapping/a-2"}"#)
        try fixture.write("known-gaps.json", #"{"\#(pattern)":"not yet"}"#)
        let skipped = max(0, 2 - failed)
        #expect(fixture.run().summary == "0 passed, \(failed) failed, \(skipped) skipped")
    }

    @Test("RFC 8259 7: an escape has four hexadecimal digits and no sign", arguments: [#"\u+12F"#, #"\u-001"#, #"\u 041"#, #"\u12"#])
    func escapes(escape: String) throws {
        let fixture = try Fixture()
        try fixture.write("mapping/a.json", #"{"id":"mapping/a","comment":"\#(escape)"}"#)
        #expect(fixture.fault?.contains("four hexadecimal digits are missing") == true, "\(fixture.fault ?? "none")")
        try fixture.write("mapping/a.json", #"{"id":"mapping/\u0061","comment":"\u00Ae\uD83D\uDE00"}"#)
        #expect(fixture.fault == "\"spec\" is missing")
    }

    @Test("an empty directory is a failure, not a success")
    func empty() throws {
        let fixture = try Fixture()
        #expect(!fixture.run().isGood)
    }

    @Test("blessing writes what the case gives now")
    func bless() throws {
        let fixture = try Fixture()
        try fixture.writeCase(availability: "9500")
        #expect(try VectorRunner.bless("mapping/a", in: fixture.root.path).contains("wrote a.out.xml"))
        #expect(fixture.fault?.contains("losses") != false)
    }
}
