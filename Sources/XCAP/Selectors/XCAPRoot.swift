/// XCAP root: the `http` or `https` URI below which all documents are (RFC 4825 6.1).
public struct XCAPRoot: Hashable, Sendable, CustomStringConvertible {
    /// Absolute URI without a slash at its end; scheme and authority in lower case.
    public let description: String
    /// Scheme and authority, such as `https://xcap.example.com`.
    let origin: String
    /// Decoded segments of its path.
    let segments: [String]

    /// Parses a root; nil unless it is an `http` or `https` URI with a host and without query and fragment.
    public init?(_ text: String) {
        guard let (origin, path) = Self.split(text), !path.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") })
        else { return nil }
        var segments: [String] = []
        for part in path.split(separator: "/") {
            guard let segment = PercentCoding.decode(part.utf8), segment != "~~", segment != ".", segment != ".." else { return nil }
            segments.append(segment)
        }
        self.origin = origin
        self.segments = segments
        description = origin + segments.map { "/" + PercentCoding.encode($0) }.joined()
    }

    /// Splits an absolute `http` or `https` URI into its origin, in lower case, and the rest.
    static func split(_ text: String) -> (origin: String, rest: Substring)? {
        guard let colon = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<colon.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = text[colon.upperBound...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let authority = rest[..<end].lowercased()
        guard !authority.isEmpty, !authority.utf8.contains(where: { $0 <= 0x20 || $0 == UInt8(ascii: "@") }) else { return nil }
        return ("\(scheme)://\(authority)", rest[end...])
    }

    /// Raw path below the root of an absolute URI, with query; nil when the URI is elsewhere.
    func relativeReference(of uri: String) -> Substring? {
        guard let (origin, path) = Self.split(uri), origin == self.origin else { return nil }
        return below(path)
    }

    /// Rest of a raw path after the segments of the root and a slash; nil when the path is not below the root.
    func below(_ path: Substring) -> Substring? {
        var rest = path
        for segment in segments {
            guard rest.first == "/" else { return nil }
            rest = rest.dropFirst()
            let raw = rest.prefix { $0 != "/" && $0 != "?" }
            guard PercentCoding.decode(raw.utf8) == segment else { return nil }
            rest = rest[raw.endIndex...]
        }
        return rest.first == "/" ? rest.dropFirst() : nil
    }
}
