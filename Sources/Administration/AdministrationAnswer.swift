/// The answer of a page of the administration listener.
package struct AdministrationAnswer: Sendable {
    /// The HTTP status code.
    package var status: Int
    /// Media type of the content.
    package var type: String
    /// The content.
    package var body: String
    /// Header fields besides those of every answer.
    package var fields: [(name: String, value: String)] = []
    /// Pieces of content without end, in place of ``body``; each is written when the one before was taken by the client.
    package var stream: AsyncStream<String>?

    /// Creates an answer with one JSON value; the default status is 200.
    package init(status: Int = 200, json: String) { self.init(status: status, type: "application/json", body: json + "\n") }

    /// Creates an answer of another type; the default status is 200.
    package init(status: Int = 200, type: String, body: String) {
        self.status = status
        self.type = type
        self.body = body
    }

    /// Creates an answer whose content has no end.
    package init(type: String, stream: AsyncStream<String>) {
        self.init(type: type, body: "")
        self.stream = stream
    }

    /// An error answer `{"error": TEXT}` with an HTTP status.
    package static func problem(_ status: Int, _ text: String) -> AdministrationAnswer {
        AdministrationAnswer(status: status, json: JSONText.object([("error", JSONText.string(text))]))
    }
}

/// Path and query parameters of a request (RFC 3986 3.3, 3.4).
package struct AdministrationRequest: Hashable, Sendable {
    /// The path, percent-decoded, with its leading slash.
    package var path: String
    /// The parameters in the order of the URI, percent-decoded. A plus sign is kept, because telephone numbers contain it.
    package var parameters: [Parameter]
    /// Whether the request changes state (POST over a Unix socket); false for GET and HEAD.
    package var isAction = false
    /// Content of a POST; nil for GET and HEAD.
    package var body: [UInt8]?

    /// One query parameter, percent-decoded.
    package struct Parameter: Hashable, Sendable {
        /// The part before the first equals sign.
        package var name: String
        /// The part after the first equals sign; empty if there is none.
        package var value: String

        /// Creates a parameter from decoded texts.
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Creates a request from decoded texts; ``target`` escapes them.
    package init(path: String, parameters: [Parameter] = [], isAction: Bool = false) {
        self.path = path
        self.parameters = parameters
        self.isAction = isAction
    }

    /// Parses a request target; nil if a percent escape is malformed or the decoded bytes are not UTF-8.
    package init?(target: String) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = Self.decoded(parts.first ?? "") else { return nil }
        self.path = path
        guard let parameters = Self.parameters(parts.count > 1 ? parts[1] : "") else { return nil }
        self.parameters = parameters
    }

    /// Parses the content of a form (`application/x-www-form-urlencoded`), where a plus sign is a space; nil as of ``init(target:)``.
    package static func form(_ body: [UInt8]) -> [Parameter]? {
        String(validating: body, as: UTF8.self).flatMap { parameters(Substring($0.replacing("+", with: "%20"))) }
    }

    private static func parameters(_ query: Substring) -> [Parameter]? {
        var parameters: [Parameter] = []
        for field in query.split(separator: "&") {
            let sides = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(sides[0]), let value = decoded(sides.count > 1 ? sides[1] : "") else { return nil }
            parameters.append(Parameter(name, value))
        }
        return parameters
    }

    /// The request target. Every byte of names and values that is not unreserved is escaped (RFC 3986 2.3); ``path`` is
    /// copied as it is.
    package var target: String {
        guard !parameters.isEmpty else { return path }
        return path + "?" + parameters.map { Self.encoded($0.name) + "=" + Self.encoded($0.value) }.joined(separator: "&")
    }

    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.utf8.count < 2 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }
}
