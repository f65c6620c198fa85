import XCAP
import XMLCore

extension FuzzTarget {
    private static let root = XCAPRoot("https://xcap.example.com/xcap-root")!
    private static let usage = ApplicationUsage(auid: "any", mediaType: "application/xml", defaultNamespace: "urn:example:d")

    /// Document with comments, prefixes, quotes and repeated names around the selected nodes.
    private static let document = Array(
        """
        <?xml version="1.0"?><!-- <a/> --><root xmlns="urn:example:d" xmlns:x='urn:example:x'><a k="1&amp;"/><x:b x:k='2' />\
        <a k='1&amp;'> <b>t</b><![CDATA[<a/>]]></a ><x:b x:k='3'><x:c/></x:b></root><!-- end -->
        """.utf8)

    /// Sends a request on the document and checks the rules that hold for every request.
    private static func send(_ method: XCAPMethod, _ selector: String, _ body: [UInt8], type: String) {
        let target = "/xcap-root/any/users/sip:mara@example.com/index/~~/" + selector + "?xmlns(x=urn:example:x)"
        let processor = XCAPProcessor(root: root, usages: [usage])
        guard let (uri, usage) = try? processor.resolve(method, target: target) else { return }
        let stored = StoredDocument(octets: document, tag: EntityTag(value: "1"))
        let response = processor.perform(XCAPRequest(method, uri, contentType: type, body: body), on: stored, usage: usage)
        guard case .store(let changed) = response.change else { return }
        require(response.status == 200 || response.status == 201, "a change with status \(response.status)")
        require((try? XMLTree.parse(changed.octets)) != nil, "the changed document is not well-formed")
        let got = processor.perform(XCAPRequest(.get, uri), on: changed, usage: usage)
        if method == .delete {
            require(got.status == 404, "a removed node is there")
        } else {
            require(got.status == 200, "a put node is not there")
            let spaces: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
            let put = type.hasSuffix("att+xml") ? body : Array(body.drop { spaces.contains($0) })
            require(put.starts(with: got.body), "a put node reads otherwise")
            let again = processor.perform(XCAPRequest(method, uri, contentType: type, body: body), on: changed, usage: usage)
            require(again.status == 200 && again.change == .none, "a PUT is not idempotent")
        }
    }

    static let xcap = [
        FuzzTarget("xcap-uri", seeds: ["Fuzz/Seeds/xcap-uri"]) { bytes in
            let target = String(decoding: bytes, as: UTF8.self)
            guard let uri = try? XCAPURI(target: target, root: root) else { return }
            guard let again = try? XCAPURI(relative: uri.document.description) else {
                return require(uri.document.description.utf8.count > 8_192, "the path of a document is not read: \(uri.document)")
            }
            require(again.document == uri.document, "the path of a document reads otherwise: \(uri.document)")
        },
        FuzzTarget("xcap-selector", seeds: ["Fuzz/Seeds/xcap-selector"]) { bytes in
            let selector = String(decoding: bytes, as: UTF8.self)
            send(.delete, selector, [], type: "")
            send(.put, selector, Array("<a k=\"1\"/>".utf8), type: "application/xcap-el+xml")
            send(.put, selector, Array("1".utf8), type: "application/xcap-att+xml")
        },
        FuzzTarget("xcap-element", seeds: ["Fuzz/Seeds/xcap-element"]) { bytes in
            for selector in ["root", "root/a[1]", "root/a[3]", "root/x:b[1]/a", "*/x:b[2]/x:c", "*/*[2][@k=\"1\"]"] {
                send(.put, selector, bytes, type: "application/xcap-el+xml")
            }
            send(.put, "root/a[1]/@k", bytes, type: "application/xcap-att+xml")
            send(.put, "root/x:b[1]/@new", bytes, type: "application/xcap-att+xml")
        },
    ]
}
