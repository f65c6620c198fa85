/// The answer of an inspection page of the administration listener.
package struct AdministrationAnswer: Hashable, Sendable {
    /// The HTTP status code.
    package var status: Int
    /// The body: JSON without a final line end.
    package var json: String

    /// Creates an answer; the default status is 200.
    package init(status: Int = 200, json: String) {
        self.status = status
        self.json = json
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
    /// Whether the request changes state (POST); false for GET and HEAD.
    package var isAction = false

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
        parameters = []
        for field in (parts.count > 1 ? parts[1] : "").split(separator: "&") {
            let sides = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(sides[0]), let value = Self.decoded(sides.count > 1 ? sides[1] : "") else { return nil }
            parameters.append(Parameter(name, value))
        }
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
