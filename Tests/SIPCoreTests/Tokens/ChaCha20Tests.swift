import Testing

@_spi(TokenSource) @testable import SIPCore

@Suite struct ChaCha20Tests {
    private let counting = TokenKey(0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908, 0x1716_1514_1312_1110, 0x1F1E_1D1C_1B1A_1918)
    private let zero = TokenKey(0, 0, 0, 0)

    @Test("RFC 8439 2.3.2: the block function, with a counter and a nonce") func block() {
        #expect(
            ChaCha20.block(counting, (1, 0x0900_0000, 0x4A00_0000, 0)) == [
                0x1559_3BD1_E4E7_F110, 0xC471_20A3_1FDD_0F50, 0x0368_C033_C7F4_D1C7, 0x4E6C_D4C3_9AAA_2204,
                0x09AA_9F07_4664_82D2, 0xA202_8BD9_05D7_C214, 0xB94E_16DE_D19C_12B5, 0x4E3C_50A2_E883_D0CB,
            ])
    }

    @Test("RFC 8439 A.1: the block function with a key of zeros") func zeros() {
        #expect(
            ChaCha20.block(zero, (0, 0, 0, 0)) == [
                0x903D_F1A0_ADE0_B876, 0x28BD_8653_E56A_5D40, 0x1AED_8DA0_B819_D2BD, 0xC70D_778B_CCEF_36A8,
                0x8D48_5751_7C59_41DA, 0x374A_D8B8_3FE0_2477, 0x1CA1_1815_F4B8_436A, 0x8665_EEB2_69B6_87C3,
            ])
    }

    @Test("draft-irtf-cfrg-xchacha 2.2.1: HChaCha20") func derived() {
        let words = ChaCha20.derive(counting, (0x0900_0000, 0x4A00_0000, 0, 0x2759_4131)).words
        #expect(
            [words.0, words.1, words.2, words.3] == [
                0xFE7B_B227_423B_4182, 0x737D_878A_5042_0ED3, 0x53A8_748A_D5E4_F9A0, 0xDCEC_D326_13C4_2EC1,
            ])
    }

    @Test("keys for different uses, and of inputs that begin alike or end in zeros, differ") func uses() {
        let inputs: [[UInt8]] =
            (0...33).map { Array(repeating: 7, count: $0) } + (1...33).map { Array(repeating: 0, count: $0) } + [[7, 0], [0, 7]]
        var seen: Set<[UInt64]> = []
        for input in inputs {
            let words = counting.mixed(with: input).words
            #expect(seen.insert([words.0, words.1, words.2, words.3]).inserted, "\(input)")
        }
        #expect("\(counting)" == "TokenKey" && Mirror(reflecting: counting).children.isEmpty)
    }
}
