import SIPCore

/// Reason why a list of `external-list` cannot be read.
package enum ListFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The URI does not name a list of a resource-lists document.
    case unsupportedURI
    /// The URI is below another XCAP root.
    case otherRoot
    /// There is no such document.
    case noDocument
    /// The selector selects no element, or several.
    case notOneElement
    /// The list has more entries and inner lists than the limit, those of references included.
    case tooManyEntries(Int)
    /// The lists of the ruleset follow more references than the limit.
    case tooManyReferences(Int)
    /// The ruleset names more lists than the limit.
    case tooManyLists(Int)

    package var description: String {
        switch self {
        case .unsupportedURI: "the URI names no list of a resource-lists document"
        case .otherRoot: "the URI is below another XCAP root"
        case .noDocument: "there is no such document"
        case .notOneElement: "the URI does not select exactly one element"
        case .tooManyEntries(let limit): "more than \(limit) entries and inner lists with those of its references"
        case .tooManyReferences(let limit): "more than \(limit) references in the lists of the ruleset"
        case .tooManyLists(let limit): "more than \(limit) lists in the ruleset"
        }
    }
}

/// Name of an element of a resource-lists document (RFC 4825 6): a document path and the steps of a node selector.
struct ListAnchor: Hashable {
    /// Step of a node selector.
    struct Step: Hashable {
        var name: String
        var position: Int?
        var attribute: String?
        var value: String?
    }

    /// Path of the document in canonical form, such as `resource-lists/users/sip:alice@example.com/index`.
    var document: String
    /// Steps from the document element, which is the first.
    var steps: [Step]

    /// Parses an absolute URI, or a path relative to the XCAP root.
    /// - Parameter root: XCAP root that an absolute URI must be below; nil: any.
    init(_ text: String, root: String?) throws(ListFailure) {
        let address = text.prefix { $0 != "?" }
        let (authority, path) = Self.parts(address)
        var segments = path.split(separator: "/", omittingEmptySubsequences: true)[...]
        if let root, authority != nil {
            let (rootAuthority, rootPath) = Self.parts(root[...])
            let rootSegments = rootPath.split(separator: "/", omittingEmptySubsequences: true)
            guard authority == rootAuthority, segments.starts(with: rootSegments) else { throw .otherRoot }
            segments = segments.dropFirst(rootSegments.count)
        } else if authority != nil {
            segments = segments.drop { $0 != "resource-lists" }
        }
        guard let end = segments.firstIndex(where: { Self.decoded($0) == "~~" }) else { throw .unsupportedURI }
        guard let document = Self.documentPath(segments[..<end]) else { throw .unsupportedURI }
        self.document = document
        steps = []
        for segment in segments[(end + 1)...] {
            guard steps.count < 64, let text = Self.decoded(segment), let step = Step(text) else { throw .unsupportedURI }
            steps.append(step)
        }
        guard steps.count > 1, steps[0] == Step(name: "resource-lists") else { throw .unsupportedURI }
    }

    /// Scheme and authority in lower case, nil for a relative path; and the path.
    private static func parts(_ text: Substring) -> (authority: String?, path: Substring) {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return (nil, text) }
        let start = text.index(colon, offsetBy: 3)
        let end = text[start...].firstIndex(of: "/") ?? text.endIndex
        return (text[..<end].lowercased(), text[end...])
    }

    /// Path of a document with its user in canonical form; nil if it is no document of `resource-lists`.
    static func documentPath(_ segments: some Sequence<Substring>) -> String? {
        var parts: [String] = []
        for segment in segments {
            guard let text = decoded(segment), !text.isEmpty, text != ".", text != "..", !text.contains("/") else { return nil }
            parts.append(text)
        }
        guard parts.count >= 3, parts[0] == "resource-lists" else { return nil }
        if parts[1] == "users" {
            guard parts.count >= 4, let user = SIPURI(parts[2]) ?? SIPURI("sip:" + parts[2]) else { return nil }
            parts[2] = user.aorKey
        } else if parts[1] != "global" {
            return nil
        }
        return parts.joined(separator: "/")
    }

    /// Resolves percent escapes; nil for text that is no UTF-8 afterwards.
    static func decoded(_ text: Substring) -> String? {
        guard text.utf8.contains(0x25) else { return String(text) }
        func digit(_ byte: UInt8) -> UInt8? {
            switch byte {
            case 0x30...0x39: byte - 0x30
            case 0x41...0x46: byte - 0x37
            case 0x61...0x66: byte - 0x57
            default: nil
            }
        }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0x25 {
                guard index + 2 < bytes.count, let high = digit(bytes[index + 1]), let low = digit(bytes[index + 2]) else { return nil }
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(validating: result, as: UTF8.self)
    }
}

extension ListAnchor.Step {
    init(name: String) { self.init(name: name, position: nil, attribute: nil, value: nil) }

    /// Parses `name`, `name[n]`, `name[@attribute="value"]` and `name[n][@attribute="value"]`; a prefix of the name is ignored.
    init?(_ text: String) {
        let full = text.prefix { $0 != "[" }
        let local = full.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).last ?? full
        guard !local.isEmpty, local != "*", local != "@", !local.contains("@") else { return nil }
        self.init(name: String(local))
        var rest = text[full.endIndex...]
        if rest.hasPrefix("["), !rest.hasPrefix("[@") {
            guard let close = rest.firstIndex(of: "]"), let number = Int(rest[rest.index(after: rest.startIndex)..<close]), number >= 1
            else {
                return nil
            }
            position = number
            rest = rest[rest.index(after: close)...]
        }
        guard !rest.isEmpty else { return }
        guard rest.hasPrefix("[@"), rest.hasSuffix("]"), let equals = rest.firstIndex(of: "=") else { return nil }
        let quoted = rest[rest.index(after: equals)...].dropLast()
        guard quoted.count >= 2, let quote = quoted.first, quote == "\"" || quote == "'", quoted.last == quote else { return nil }
        attribute = String(rest[rest.index(rest.startIndex, offsetBy: 2)..<equals])
        value = Self.withoutReferences(quoted.dropFirst().dropLast())
    }

    /// Resolves the five predefined entity references (XML 1.0 4.6).
    private static func withoutReferences(_ text: Substring) -> String {
        guard text.contains("&") else { return String(text) }
        let references: [(name: String, character: Character)] = [
            ("&quot;", "\""), ("&apos;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"),
        ]
        var result = ""
        var rest = text
        while let character = rest.first {
            if character == "&", let reference = references.first(where: { rest.hasPrefix($0.name) }) {
                result.append(reference.character)
                rest = rest.dropFirst(reference.name.count)
            } else {
                result.append(character)
                rest = rest.dropFirst()
            }
        }
        return result
    }
}
