import SIPCore
import Testing

/// Content codings of bodies (RFC 3261 20.12, RFC 9110 8.4.1).
@Suite struct ContentCodingTests {
    let text = Array(String(repeating: "<note>On the phone</note>", count: 400).utf8)

    func decode(_ bytes: [UInt8], _ codings: String..., limit: Int = 100_000) throws -> [UInt8] {
        try ContentCoding.decode(bytes, codings: codings, limit: limit)
    }

    @Test("RFC 1950, 1952: what was encoded decodes to itself, by any spelling of its coding, and in two steps")
    func roundTrip() throws {
        for coding in ContentCoding.allCases {
            let encoded = coding.encode(text)
            #expect(try decode(encoded, coding.rawValue.uppercased()) == text)
            #expect(coding == .identity || encoded.count < text.count / 10)
        }
        #expect(try decode(ContentCoding.gzip.encode(text), "x-gzip") == text)
        #expect(try decode(ContentCoding.gzip.encode(ContentCoding.deflate.encode(text)), "deflate, gzip") == text)
        #expect(try decode([], "gzip").isEmpty)
    }

    @Test("RFC 1951: bare deflate data under the name deflate are read; RFC 1952 2.2: so are several members in a row")
    func forms() throws {
        let zlib = ContentCoding.deflate.encode(text)
        #expect(try decode(Array(zlib.dropFirst(2).dropLast(4)), "deflate") == text)
        #expect(try decode(ContentCoding.gzip.encode(text) + ContentCoding.gzip.encode(Array("!".utf8)), "gzip") == text + Array("!".utf8))
    }

    @Test("a bomb is refused at the limit, in each form and each step")
    func bomb() throws {
        let zeros = [UInt8](repeating: 0, count: 8 << 20)
        for coding in [ContentCoding.gzip, .deflate] {
            let bomb = coding.encode(zeros)
            #expect(bomb.count < 16_384)
            #expect(throws: ContentCoding.Failure.tooLarge) { try decode(bomb, coding.rawValue) }
            #expect(throws: ContentCoding.Failure.tooLarge) { try decode(coding.encode(bomb), "\(coding), \(coding)") }
        }
        #expect(throws: ContentCoding.Failure.tooLarge) { try decode(Array(ContentCoding.deflate.encode(zeros).dropFirst(2)), "deflate") }
        #expect(try decode(ContentCoding.gzip.encode(text), "gzip", limit: text.count) == text)
        #expect(throws: ContentCoding.Failure.tooLarge) { try decode(ContentCoding.gzip.encode(text), "gzip", limit: text.count - 1) }
    }

    @Test("data that are cut, damaged or of another coding are malformed; other codings, and three at once, are unknown")
    func refusals() throws {
        for coding in [ContentCoding.gzip, .deflate] {
            let encoded = coding.encode(text)
            for bytes in [Array(encoded.dropLast(8)), Array(encoded.prefix(3)), Array("<presence/>".utf8)] {
                #expect {
                    try decode(bytes, coding.rawValue)
                } throws: {
                    if case .malformed? = $0 as? ContentCoding.Failure { true } else { false }
                }
            }
        }
        #expect(throws: ContentCoding.Failure.unknown("br")) { try decode(text, "br") }
        #expect(throws: ContentCoding.Failure.unknown("gzip, gzip, gzip")) { try decode(text, "gzip, gzip", "gzip") }
    }
}
