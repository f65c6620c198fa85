import Testing

@testable import GatewayService

/// Guesses for misspelt keys and enumeration values.
@Suite struct SpellingGuessTests {
    static let known = ["side", "hosted", "route", "routes", "users", "network", "certificate-names", "pool-fqdn"]

    @Test(arguments: [
        ("sdie", "side"), ("Side", "side"), ("route-s", "routes"), ("rout", "route"), ("netwrok", "network"),
        ("certificate_names", "certificate-names"), ("certificatename", "certificate-names"), ("poolfqdn", "pool-fqdn"),
    ])
    func nearestWordIsGuessed(_ written: String, _ expected: String) {
        #expect(SpellingGuess.nearest(to: written, among: Self.known) == expected)
    }

    @Test(arguments: ["colour", "", "to", "xyz", "sd-e-", String(repeating: "route", count: 20)])
    func distantWordsGetNoGuess(_ written: String) {
        #expect(SpellingGuess.nearest(to: written, among: Self.known) == nil)
    }

    @Test func everySingleEditIsWithinOneEditOfItsWord() {
        for word in Self.known.map({ Array($0.utf8) }) {
            for index in word.indices {
                var removed = word
                removed.remove(at: index)
                var replaced = word
                replaced[index] = UInt8(ascii: "!")
                var inserted = word
                inserted.insert(UInt8(ascii: "!"), at: index)
                for edited in [removed, replaced, inserted] {
                    #expect(SpellingGuess.edits(from: edited, to: word, limit: 3) == 1)
                    #expect(SpellingGuess.edits(from: word, to: edited, limit: 1) == 1)
                    #expect(SpellingGuess.edits(from: word, to: edited, limit: 0) == nil)
                }
                guard index > 0, word[index] != word[index - 1] else { continue }
                var exchanged = word
                exchanged.swapAt(index, index - 1)
                #expect(SpellingGuess.edits(from: exchanged, to: word, limit: 3) == 1)
            }
        }
    }

    @Test(arguments: [
        ("nmae: x", "2:9: node.nmae: unknown key; did you mean `name`? Known here: name, advertised, shards, list-server, epid"),
        ("colour: x", "2:9: node.colour: unknown key; known here: name, advertised, shards, list-server, epid"),
    ])
    func misspeltKeyIsReportedWithGuessAndKnownKeys(_ entry: String, _ expected: String) {
        let text = "listen: [ \"udp:127.0.0.1:5060\" ]\nnode: { \(entry) }\ndomains: { a: { refuse: 403 } }"
        #expect(Self.mistakes(text) == ["test:" + expected])
    }

    @Test func misspeltEnumerationValueIsReportedWithGuess() {
        let text = "listen: [ \"udp:127.0.0.1:5060\" ]\ndomains:\n  a: { side: simpel, route: \"udp:127.0.0.1:9\" }"
        #expect(Self.mistakes(text) == ["test:3:14: domains.a.side: \"simpel\" must be one of enterprise, simple; did you mean `simple`?"])
    }

    private static func mistakes(_ text: String) -> [String] {
        do {
            _ = try ConfigurationReader.read(text, file: "test")
            return []
        } catch {
            return error.lines
        }
    }
}
