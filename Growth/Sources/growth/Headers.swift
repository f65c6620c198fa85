import SIPCore
import XMLCore

private let top = "Via: SIP/2.0/UDP 192.0.2.9:5060;branch=z9hG4bK1\r\n"

/// Returns a SUBSCRIBE with additional header lines.
func subscribe(_ lines: String, from: String = "<sip:ann@example.org>;tag=a", uri: String = "sip:bob@example.com") -> [UInt8] {
    Array(
        ("SUBSCRIBE \(uri) SIP/2.0\r\n\(top)Max-Forwards: 70\r\nFrom: \(from)\r\nTo: <sip:bob@example.com>\r\nCall-ID: c\r\n"
            + "CSeq: 1 SUBSCRIBE\r\nContact: <sip:192.0.2.9>\r\nEvent: presence\r\nExpires: 600\r\n" + lines + "Content-Length: 0\r\n\r\n")
            .utf8)
}

/// Reads all headers of a request as a server does, and writes a response, a dialog and the message.
private func read(_ bytes: [UInt8]) -> Bool {
    guard case .success(let message) = SIPParser.parse(bytes), case .request(let request) = message else { return false }
    let headers = request.headers
    _ = (headers.vias, headers.accept, headers.supported, headers.require, headers.allow, headers.warnings, headers.reasons)
    _ = (headers.from, headers.to, headers.contact, headers.contacts, headers.event, headers.recordRoutes, headers.routes)
    _ = (headers.hasToken(.supported, "none"), headers.offers("none"), headers.first("x-none"), request.uri.aorKey)
    var copy = request
    copy.headers.removeFirstValue(.via)
    copy.headers.removeFirstValue(.route)
    copy.headers.remove("x-line")
    copy.headers.vias = headers.vias
    let answer = SIPResponse(to: request, status: .ok, toTag: "t")
    return Dialog(accepting: request, localTag: "t") != nil && !SIPSerializer.serialize(answer).isEmpty
        && !SIPSerializer.serialize(copy).isEmpty
}

private func repeated(_ size: Int, _ entry: (Int) -> String) -> String {
    var text = ""
    for number in 0..<size { text += entry(number) }
    return text
}

private func commas(_ size: Int, _ entry: (Int) -> String) -> String { (0..<size).map(entry).joined(separator: ", ") }

extension Construct {
    private static func header(_ name: String, from smallest: Int, _ make: @escaping (Int) -> [UInt8]) -> Construct {
        Construct("header: \(name)", from: smallest) { size in
            let bytes = make(size)
            return { read(bytes) }
        }
    }

    static let headers: [Construct] = [
        header("Via lines", from: 25) { subscribe(repeated($0) { "Via: SIP/2.0/TCP h\($0).example.org;branch=z9hG4bKx\($0)\r\n" }) },
        header("Via values in a line", from: 100) {
            subscribe("Via: \(commas($0) { "SIP/2.0/TCP h\($0).example.org;branch=z9hG4bKx\($0)" })\r\n")
        },
        header("Via parameters", from: 500) {
            subscribe("Via: SIP/2.0/TCP h.example.org;branch=z9hG4bKx\(repeated($0) { ";p\($0)=1" })\r\n")
        },
        header("Route lines", from: 25) { subscribe(repeated($0) { "Route: <sip:h\($0).example.org;lr>\r\n" }) },
        header("Route values in a line", from: 200) { subscribe("Route: \(commas($0) { "<sip:h\($0).example.org;lr>" })\r\n") },
        header("Record-Route lines", from: 25) { subscribe(repeated($0) { "Record-Route: <sip:h\($0).example.org;lr>\r\n" }) },
        header("Record-Route values in a line", from: 200) {
            subscribe("Record-Route: \(commas($0) { "<sip:h\($0).example.org;lr>" })\r\n")
        },
        header("Contact values", from: 200) { subscribe("Contact: \(commas($0) { "<sip:u\($0)@192.0.2.9>" })\r\n") },
        header("Accept values", from: 200) { subscribe("Accept: \(commas($0) { "application/x\($0)" })\r\n") },
        header("Accept lines", from: 25) { subscribe(repeated($0) { "Accept: application/x\($0)\r\n" }) },
        header("Supported values", from: 500) { subscribe("Supported: \(commas($0) { "x\($0)" })\r\n") },
        header("Require values", from: 500) { subscribe("Require: \(commas($0) { "x\($0)" })\r\n") },
        header("Allow values", from: 500) { subscribe("Allow: \(commas($0) { "X\($0)" })\r\n") },
        header("Warning values", from: 200) { subscribe("Warning: \(commas($0) { "399 h\($0) \"x\"" })\r\n") },
        header("Reason values", from: 200) { subscribe("Reason: \(commas($0) { "SIP;cause=\($0)" })\r\n") },
        header("P-Asserted-Identity values", from: 200) {
            subscribe("P-Asserted-Identity: \(commas($0) { "<sip:u\($0)@example.org>" })\r\n")
        },
        header("lines of one name", from: 25) { subscribe(repeated($0) { "X-Line: \($0)\r\n" }) },
        header("lines of other names", from: 25) { subscribe(repeated($0) { "X-Line\($0): x\r\n" }) },
        header("folded lines of a value", from: 1_000) { subscribe("Subject: x\r\n" + repeated($0) { _ in " x\r\n" }) },
        header("parameters of From", from: 500) { subscribe("", from: "<sip:ann@example.org>;tag=a\(repeated($0) { ";p\($0)=1" })") },
        header("quoted characters of a name", from: 1_000) {
            subscribe("", from: "\"\(repeated($0) { _ in "\\\"" })\" <sip:ann@example.org>;tag=a")
        },
        header("words of a name", from: 1_000) { subscribe("", from: "\(repeated($0) { _ in "a " })<sip:ann@example.org>;tag=a") },
        header("parameters of the Request-URI", from: 500) { subscribe("", uri: "sip:bob@example.com" + repeated($0) { ";p\($0)=1" }) },
        header("headers of the Request-URI", from: 500) {
            subscribe("", uri: "sip:bob@example.com?" + repeated($0) { "h\($0)=1&" } + "x=1")
        },
        header("escapes of the Request-URI", from: 500) { subscribe("", uri: "sip:" + repeated($0) { _ in "%62" } + "@example.com") },
        header("labels of the host", from: 1_000) { subscribe("", uri: "sip:bob@" + repeated($0) { _ in "a." } + "example.com") },
        equality("parameters of URIs that are compared", from: 500) { size in
            let text = "sip:bob@example.com" + repeated(size) { ";p\($0)=1" }
            return (text, text)
        },
        equality("other parameters of URIs that are compared", from: 500) { size in
            ("sip:bob@example.com" + repeated(size) { ";p\($0)=1" }, "sip:bob@example.com" + repeated(size) { ";q\($0)=1" })
        },
        equality("headers of URIs that are compared", from: 500) { size in
            let text = "sip:bob@example.com?x=1" + repeated(size) { "&h\($0)=1" }
            return (text, text)
        },
    ]

    private static func equality(_ name: String, from smallest: Int, _ texts: @escaping (Int) -> (String, String)) -> Construct {
        Construct("header: \(name)", from: smallest) { size in
            let (left, right) = texts(size)
            let uris = (SIPURI(left), SIPURI(right))
            return { uris.0.flatMap { left in uris.1.map { left.isEquivalent(to: $0) } } != nil }
        }
    }

    static let messages: [Construct] = [
        Construct("multipart: parts", from: 100) { size in
            let body = Array((repeated(size) { "--b\r\nContent-ID: <p\($0)@example.com>\r\n\r\nx\r\n" } + "--b--\r\n").utf8)
            let type = MediaType("multipart/related;start=\"<none>\";boundary=b")
            return {
                guard let type, let multipart = try? MIMEMultipart(body, contentType: type) else { return false }
                _ = multipart.root
                return (try? multipart.leaves())?.count == size && !multipart.serialized().body.isEmpty
            }
        },
        Construct("multipart: lines that are nearly delimiters", from: 1_000) { size in
            let body = Array(("--b\r\n\r\n" + repeated(size) { _ in "--\r\n-" } + "\r\n--b--\r\n").utf8)
            let type = MediaType("multipart/related;boundary=b")
            return { type.flatMap { try? MIMEMultipart(body, contentType: $0) } != nil }
        },
        Construct("multipart: a boundary that occurs in the parts", from: 100) { size in
            let part = MIMEPart(body: Array(repeated(size) { "--b\(String(repeating: "-", count: $0 % 20))\r\n" }.utf8))
            return { !MIMEMultipart(boundary: "b", parts: [part]).serialized().body.isEmpty }
        },
        Construct("stream: messages in one segment", from: 50) { size in
            let bytes = Array(repeatElement(subscribe(""), count: size).joined())
            return {
                var framer = StreamFramer()
                framer.append(bytes)
                var count = 0
                while case .message = framer.next() { count += 1 }
                return count == size
            }
        },
        Construct("stream: octets one by one", from: 1_000) { size in
            let bytes = subscribe("Subject: \(repeated(size) { _ in "x" })\r\n")
            return {
                var framer = StreamFramer()
                var count = 0
                for byte in bytes {
                    framer.append(CollectionOfOne(byte))
                    while case .message = framer.next() { count += 1 }
                }
                return count == 1
            }
        },
        Construct("stream: keep-alives", from: 1_000) { size in
            let bytes = Array(repeated(size) { _ in "\r\n\r\n" }.utf8)
            return {
                var framer = StreamFramer()
                framer.append(bytes)
                var count = 0
                while framer.next() != nil { count += 1 }
                return count == size
            }
        },
    ]

    private static func document(_ name: String, from smallest: Int, _ text: @escaping (Int) -> String) -> Construct {
        Construct("xml: \(name)", from: smallest) { size in
            let bytes = Array(text(size).utf8)
            return {
                guard let tree = try? XMLTree.parse(bytes) else { return false }
                let fragment = tree.root.fragment()
                return (try? fragment.parsed()) != nil && !XMLCanonical().text(of: tree.root).isEmpty
            }
        }
    }

    static let xml: [Construct] = [
        document("elements", from: 1_000) { "<a>" + repeated($0) { _ in "<b/>" } + "</a>" },
        document("elements of other names", from: 500) { "<a>" + repeated($0) { "<b\($0)/>" } + "</a>" },
        document("attributes of an element", from: 7) { "<a \(repeated($0) { "b\($0)=\"1\" " })/>" },
        document("namespaces of an element", from: 7) { "<a \(repeated($0) { "xmlns:b\($0)=\"urn:b\($0)\" " })/>" },
        document("elements with a namespace each", from: 500) { "<a>" + repeated($0) { "<b xmlns=\"urn:b\($0)\"/>" } + "</a>" },
        document("elements that use an inherited namespace", from: 500) {
            "<a xmlns:x=\"urn:x\">" + repeated($0) { _ in "<x:b x:c=\"1\"/>" } + "</a>"
        },
        document("depth", from: 7) { repeated($0) { _ in "<a>" } + repeated($0) { _ in "</a>" } },
        document("characters of a text", from: 10_000) { "<a>" + repeated($0) { _ in "x" } + "</a>" },
        document("characters of an attribute", from: 4_000) { "<a b=\"" + repeated($0) { _ in "x" } + "\"/>" },
        document("references in a text", from: 2_000) { "<a>" + repeated($0) { _ in "&amp;" } + "</a>" },
        document("references in an attribute", from: 1_000) { "<a b=\"" + repeated($0) { _ in "&#38;" } + "\"/>" },
        document("pieces of a text", from: 500) { "<a>" + repeated($0) { _ in "x<b/>" } + "</a>" },
        document("comments", from: 1_000) { "<a>" + repeated($0) { _ in "<!--x-->" } + "</a>" },
        document("CDATA sections", from: 500) { "<a>" + repeated($0) { _ in "<![CDATA[x]]>" } + "</a>" },
        document("processing instructions", from: 500) { "<a>" + repeated($0) { _ in "<?x y?>" } + "</a>" },
        document("line ends", from: 4_000) { "<a>" + repeated($0) { _ in "\r\n" } + "</a>" },
        document("characters of a comment", from: 10_000) { "<a><!--" + repeated($0) { _ in "x" } + "--></a>" },
    ]
}
