import PresenceDocuments
import Testing

@Suite struct MSRTCRobustnessTests {
    @Test("every sample is read", arguments: MSRTCSamples.readers.map(\.name))
    func sample(_ name: String) throws {
        for sample in MSRTCSamples.readers where sample.name == name { try sample.read(Array(sample.text.utf8)) }
    }

    @Test("every truncation is refused as not well-formed", arguments: MSRTCSamples.readers.map(\.name))
    func truncation(_ name: String) throws {
        for sample in MSRTCSamples.readers where sample.name == name {
            let bytes = Array(sample.text.utf8)
            for count in stride(from: 0, to: bytes.count, by: bytes.count > 1_500 ? 3 : 1) {
                var code: DocumentError.Code?
                do { try sample.read(Array(bytes[..<count])) } catch { code = error.code }
                #expect(code == .notWellFormed, "cut at \(count)")
            }
        }
    }

    @Test("every changed byte gives a value or a refusal with a place", arguments: MSRTCSamples.readers.map(\.name))
    func mutation(_ name: String) {
        let replacements = Array("<>&\"'-9xA ]\u{0}".utf8) + [0xFF, 0xC3]
        for sample in MSRTCSamples.readers where sample.name == name {
            var bytes = Array(sample.text.utf8)
            for index in stride(from: 0, to: bytes.count, by: bytes.count > 1_500 ? 2 : 1) {
                let kept = bytes[index]
                bytes[index] = replacements[index % replacements.count]
                var refusal: DocumentError?
                do { try sample.read(bytes) } catch { refusal = error }
                if let refusal { #expect(refusal.position != nil && !refusal.message.isEmpty, "byte \(index)") }
                bytes[index] = kept
            }
        }
    }

    @Test("a document of another kind is refused with both names")
    func wrongRoot() {
        let error = refusal(StateDocument.self, MSRTCSamples.note)
        #expect(error?.code == .wrongDocument)
        #expect(error?.message.contains("note") == true && error?.message.contains("state") == true)
    }
}
