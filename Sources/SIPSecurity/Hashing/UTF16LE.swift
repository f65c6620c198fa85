/// Text in NTLM messages: UTF-16, little-endian (MS-NLMP 2.2).
enum UTF16LE {
    static func bytes(_ text: String) -> [UInt8] {
        text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    }

    /// Decodes octets; nil for an odd number of octets or a lone surrogate.
    static func text(_ bytes: some Collection<UInt8>) -> String? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        let source = Array(bytes)
        let units = stride(from: 0, to: source.count, by: 2).map { UInt16(source[$0]) | UInt16(source[$0 + 1]) << 8 }
        return String(validating: units, as: UTF16.self)
    }
}
