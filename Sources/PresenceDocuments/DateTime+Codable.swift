/// Coding as RFC 3339 text in UTC.
extension DateTime: Codable {
    /// Decodes an RFC 3339 date-time; throws `DecodingError` for other text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = DateTime(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "RFC 3339 5.6: \(text) is no date-time")
        }
        self = value
    }

    /// Encodes the shortest RFC 3339 form in UTC, not ``original``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rfc3339())
    }
}
