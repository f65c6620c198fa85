import Testing

@_spi(TokenSource) @testable import SIPCore

/// Attacks by a peer that collects the identifiers of this node.
@Suite struct TokenGeneratorTests {
    private static let uses: [(name: String, draw: @Sendable (inout TokenGenerator) -> String)] = [
        ("tag", { $0.tag() }), ("branch", { String($0.branch().dropFirst(7)) }), ("Call-ID", { $0.callID() }),
        ("entity-tag", { $0.entityTag() }), ("other", { $0.token() }),
    ]

    @Test("the search for a state finds that of xoshiro256** in its words, and with it every later token") func searchWorks() throws {
        var raw = RawWords(state: (1, 2, 3, 4))
        let tokens = (0..<1_000).map { _ in RawWords.token(raw.next(), raw.next()) }
        #expect(StateSearch.predicted(from: tokens).count == 998)
        var later = try #require(StateSearch.state(of: Array(tokens.prefix(2))))
        #expect((0..<998).map { _ in RawWords.token(later.next(), later.next()) } == Array(tokens.dropFirst(2)))
    }

    @Test("RFC 3261 19.3: the same search in 1,000 tokens of one use, or of all uses as they were drawn, predicts none of any use")
    func unpredictable() {
        var generator = TokenGenerator(seed: 5)
        var drawn = Self.uses.map { use in (0..<1_000).map { _ in use.draw(&generator) } }
        drawn.append((0..<1_000).map { Self.uses[$0 % Self.uses.count].draw(&generator) })
        let all = Set(drawn.joined())
        #expect(all.count == 6_000, "no two tokens are the same")
        for tokens in drawn { #expect(StateSearch.predicted(from: tokens).isDisjoint(with: all)) }
    }

    @Test("the tokens of each use, the numbers and the repeatable tags come of keys of their own") func separate() {
        // With one key stream for all uses, a draw of one use would shift those of the others.
        for (index, use) in Self.uses.enumerated() {
            var alone = TokenGenerator(seed: 5)
            var mixed = TokenGenerator(seed: 5)
            for (other, draw) in Self.uses.enumerated() where other != index { _ = (0..<9).map { _ in draw.draw(&mixed) } }
            _ = (0..<9).map { _ in mixed.next() }
            #expect((0..<20).map { _ in use.draw(&alone) } == (0..<20).map { _ in use.draw(&mixed) }, "\(use.name)")
        }
        var one = TokenGenerator(seed: 5)
        let words = Set((0..<1_000).map { _ in one.next() })
        var other = TokenGenerator(seed: 5)
        let shown = Self.uses.flatMap { use in (0..<200).flatMap { _ in RawWords.words(of: use.draw(&other)) ?? [] } }
        #expect(shown.count == 2_000 && words.isDisjoint(with: shown))
    }

    @Test("RFC 3261 8.2.7: an answer for which nothing is kept has the same To tag for each copy, and another for each other request")
    func repeatable() throws {
        let generator = TokenGenerator(seed: 5, prefix: "n1-")
        let request = try #require(SIPParser.parse(wire(requestText())).request)
        let tag = generator.repeatableTag(for: request)
        #expect(tag == generator.repeatableTag(for: request) && tag.hasPrefix("n1-") && tag.utf8.count == 29)
        #expect(tag != TokenGenerator(seed: 6, prefix: "n1-").repeatableTag(for: request))
        var seen: Set<String> = [tag]
        for change in ["z9hG4bKabc", "c1@", "tag=f1", "CSeq: 1"] {
            let other = try #require(SIPParser.parse(wire(requestText().replacing(change, with: change + "2"))).request)
            #expect(seen.insert(generator.repeatableTag(for: other)).inserted, "\(change)")
        }
    }
}

/// xoshiro256** with its output unchanged: a generator for simulations, with a state that can be computed from its output.
private struct RawWords {
    var state: (UInt64, UInt64, UInt64, UInt64)

    mutating func next() -> UInt64 {
        let result = Self.rotated(state.1 &* 5, 7) &* 9
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = Self.rotated(state.3, 45)
        return result
    }

    static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 { word << count | word >> (64 - count) }

    private static let digits = Array("0123456789abcdefghijklmnopqrstuv")

    static func token(_ first: UInt64, _ second: UInt64) -> String {
        String([first, second].flatMap { word in (0..<13).map { digits[Int(word >> (5 * UInt64($0)) & 31)] } })
    }

    /// Two words of a token; nil if it has another form.
    static func words(of token: String) -> [UInt64]? {
        let values = token.compactMap { digits.firstIndex(of: $0).map(UInt64.init) }
        guard values.count == 26, values[12] < 16, values[25] < 16 else { return nil }
        return [values[..<13], values[13...]].map { $0.reversed().reduce(0) { $0 << 5 | $1 } }
    }
}

/// Takes every two tokens in a row for four words of xoshiro256**, and predicts the next token from them.
private enum StateSearch {
    static func predicted(from tokens: [String]) -> Set<String> {
        var found: Set<String> = []
        for index in 0..<(tokens.count - 2) {
            guard var state = state(of: Array(tokens[index..<index + 2])) else { continue }
            found.insert(RawWords.token(state.next(), state.next()))
        }
        return found
    }

    /// State after these two tokens. Each word reveals one of the four words of state, and the step from one state to the next is
    /// linear.
    static func state(of tokens: [String]) -> RawWords? {
        let words = tokens.compactMap { RawWords.words(of: $0) }.joined()
        guard words.count == 4 else { return nil }
        // Inverses of 9 and 5 modulo 2^64.
        let second = words.map { RawWords.rotated($0 &* 0x8E38_E38E_38E3_8E39, 57) &* 0xCCCC_CCCC_CCCC_CCCD }
        let sums = [second[0] ^ second[1], second[1] ^ second[2], second[2] ^ second[3]]
        // Third and fourth word, before and after one step.
        let before = sums[1] ^ second[0] ^ (second[0] << 17)
        let after = sums[2] ^ second[1] ^ (second[1] << 17)
        let fourth = RawWords.rotated(after ^ sums[0] ^ (second[0] << 17), 19) ^ second[0]
        let third = before ^ fourth
        var state = RawWords(state: (sums[0] ^ third, second[0], third, fourth))
        for _ in 0..<4 { _ = state.next() }
        return state
    }
}
