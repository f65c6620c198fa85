import Testing
import XCAP

/// Request URIs: root, document selector, node selector, query (RFC 4825 6).
@Suite struct XCAPURITests {
    private func uri(_ target: String, limits: XCAPLimits = XCAPLimits()) throws(XCAPURIError) -> XCAPURI {
        try XCAPURI(target: target, root: XCAPFixture.root, limits: limits)
    }

    private func kind(_ target: String, limits: XCAPLimits = XCAPLimits()) -> XCAPURIError.Kind? {
        do throws(XCAPURIError) { _ = try uri(target, limits: limits) } catch { return error.kind }
        return nil
    }

    @Test(
        "RFC 4825 6.1: the XCAP root is an http or https URI with a host, without query",
        arguments: [
            ("https://XCAP.example.com/xcap-root", "https://xcap.example.com/xcap-root"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("https://xcap.example.com/a/b/", "https://xcap.example.com/a/b"), ("ftp://xcap.example.com/", nil), ("https:///a", nil),
            ("https://xcap.example.com/a?b", nil), ("https://user@xcap.example.com/", nil), ("https://xcap.example.com/~~/a", nil),
            ("/xcap-root", nil),
        ])
    func roots(_ text: String, _ expected: String?) {
        #expect(XCAPRoot(text)?.description == expected)
    }

    @Test("RFC 4825 6.2: a document selector has AUID, tree, XUI and path [R500]")
    func documents() throws {
        let mara = try #require(XUI("sip:mara@example.com"))
        let expected = DocumentSelector(auid: "resource-lists", tree: .users(mara), path: ["index"])
        #expect(try uri("/xcap-root/resource-lists/users/sip:mara@example.com/index").document == expected)
        #expect(try uri("/xcap-root/resource-lists/users/sip%3Amara%40example.com/%69ndex").document == expected)
        #expect(try uri("https://elsewhere.example.net/xcap-root/resource-lists/users/sip:mara@example.com/index").document == expected)
        #expect(expected.description == "resource-lists/users/sip:mara@example.com/index")
        let global = try uri("/xcap-root/xcap-caps/global/index").document
        #expect(global == DocumentSelector(auid: "xcap-caps", tree: .global, path: ["index"]) && global.user == nil)
    }

    @Test(
        "RFC 4825 6.2: spellings of one user are one home directory [R501]",
        arguments: [
            "sip:mara@example.com", "SIP:mara@EXAMPLE.com", "mara@example.com", "sips:mara@example.com.", "sip:%6Dara@example.com",
            "sip:mara@example.com;transport=tcp", "pres:mara@example.com",
        ])
    func spellings(_ spelling: String) throws {
        #expect(XUI(spelling)?.description == "sip:mara@example.com")
        let segment = spelling.replacing("%", with: "%25")
        #expect(try uri("/xcap-root/resource-lists/users/\(segment)/index").document.user?.description == "sip:mara@example.com")
    }

    @Test(
        "RFC 4825 6.2: what is no SIP or tel URI of a user is no XUI",
        arguments: ["sip:mara@example..com", "sip:mara@example...", "", "mara", "mailto:a@example.com", "sip:example.com"])
    func noUsers(_ text: String) {
        #expect(XUI(text) == nil)
        #expect(kind("/xcap-root/resource-lists/users/\(text)/index") == .notFound)
    }

    @Test("RFC 3966 5.1.4: visual separators of a telephone number do not matter")
    func telephoneNumbers() {
        #expect(XUI("tel:+1-555-0100")?.description == "tel:+15550100")
    }

    @Test(
        "RFC 4825 6.2: a path that can name no document is not found [R502]",
        arguments: [
            "/", "/xcap-root", "/xcap-root/", "/elsewhere/resource-lists/users/sip:mara@example.com/index", "/xcap-root/resource-lists",
            "/xcap-root/resource-lists/users/sip:mara@example.com", "/xcap-root/resource-lists/users/sip:mara@example.com/",
            "/xcap-root/resource-lists/somewhere/sip:mara@example.com/index", "/xcap-root/xcap-caps/global",
            "/xcap-root/resource-lists/users/sip:mara@example.com/../index", "/xcap-root/resource-lists/users/sip:mara@example.com/%2E%2E",
            "/xcap-root/resource-lists/users/sip:mara@example.com/a%2Fb", "/xcap-root/resource-lists/users/sip:mara@example.com/a%00b",
            "/xcap-root//resource-lists/users/sip:mara@example.com/index", "xcap-root/resource-lists/users/sip:mara@example.com/index",
            "/xcap-root/~~/a", "*", "",
        ])
    func notFound(_ target: String) {
        #expect(kind(target) == .notFound)
    }

    @Test(
        "RFC 3986 2.1: malformed escapes, invalid UTF-8 and fragments are malformed [R503]",
        arguments: ["index%", "index%4", "index%zz", "index%FF", "index#a", "index/~~/a%", "index/~~/a%FF", "index?%", "index?%FF"])
    func malformedEscapes(_ end: String) {
        #expect(kind("/xcap-root/resource-lists/users/sip:mara@example.com/" + end) == .malformed)
    }

    @Test(
        "RFC 4825 6.3: steps select by name, position, attribute, or position and attribute [R504]",
        arguments: [
            "a", "a/b", "*", "a[1]", "a[@b=\"c\"]", "a[@b='c']", "a[2][@b=\"c\"]", "*[3]", "*[@b=\"]/[\"]", "a/@b", "a/namespace::*",
            "_a-1.b",
            "a[@b='a/b']", "a[@b=\"&quot;&%23x41;\"]", "\u{E9}t\u{E9}",
        ])
    func selectors(_ selector: String) throws {
        #expect(try uri(XCAPFixture.lists + "/~~/" + escaped(selector)).node != nil)
        // Raw brackets and quotes are not allowed in a URI, but some clients send them.
        #expect(try uri(XCAPFixture.lists + "/~~/" + selector).node != nil)
        #expect(try uri(XCAPFixture.lists + "/%7E%7E/" + escaped(selector)).node != nil)
    }

    @Test(
        "RFC 4825 6.3: a node selector that breaks the grammar is malformed [R504]",
        arguments: [
            "", "/a", "a/", "a//b", "1a", "a[", "a[]", "a[0]", "a[-1]", "a[1", "a[@b]", "a[@b=c]", "a[@b=\"c]", "a[@b=\"c\"][1]", "a[1][2]",
            "a[@b=\"c\"][@d=\"e\"]", "a b", "@a", "namespace::*", "a/@b/c", "a/namespace::b", "a/namespace::*/b", "a/@*", "a/@xmlns",
            "a/text()",
            "a[b='c']", "a[.='c']", "id('a')", "a/..", "a|b", "a[@b=\"&c;\"]", "a[@b=\"&\"]", "a[@b=\"<\"]", "p:a", "a/@p:b",
            "a[@p:b=\"c\"]",
            "a/~~/b", ":a", "a:", "p:", "a[@xmlns=\"b\"]",
        ])
    func malformedSelectors(_ selector: String) {
        #expect(kind(XCAPFixture.lists + "/~~/" + escaped(selector)) == .malformed)
    }

    @Test("RFC 4825 6.3: an escaped slash separates steps nowhere, and is allowed in a quoted value only [R505]")
    func escapedSlashes() throws {
        #expect(kind(XCAPFixture.lists + "/~~/a%2Fb") == .notFound)
        #expect(kind(XCAPFixture.lists + "/~~/a[@b=%22c%2Fd%22]") == nil)
        #expect(kind(XCAPFixture.lists + "/~~/a%00") == .notFound)
    }

    @Test(
        "RFC 4825 6.4: the query binds prefixes, with ^ before parentheses [R506]",
        arguments: [
            "xmlns(p=urn:example:p)", "xmlns(q=urn:example:q)xmlns(p=urn:example:p)",
            "xmlns(q=urn:example:q)%20xmlns(%20p%20=%20urn:example:p)",
            "xmlns(p=urn:example:%5E(%5E)%5E%5E)", "xmlns(p=urn:(a))",
        ])
    func queries(_ query: String) {
        #expect(kind(XCAPFixture.lists + "/~~/p:a/p:b?" + query) == nil)
    }

    @Test(
        "RFC 4825 6.4: anything but namespace bindings in the query is malformed [R506]",
        arguments: [
            "a", "a=b", "xmlns", "xmlns(", "xmlns(p)", "xmlns(p=urn:a", "xmlns(=urn:a)", "xmlns(1=urn:a)", "xmlns(p=)", "xpointer(a)",
            "xmlns(p=^a)", "xmlns(p=urn:a)x", "xmlns(xml=urn:a)", "xmlns(xmlns=urn:a)", "xmlns(p=urn:a))",
        ])
    func malformedQueries(_ query: String) {
        #expect(kind(XCAPFixture.lists + "/~~/a?" + query) == .malformed)
        #expect(kind(XCAPFixture.lists + "?" + query) == .malformed)
    }

    @Test("limits: URI octets are 414; steps and bindings are 400; path segments are 404 [R507]")
    func limits() {
        let limits = XCAPLimits(uriOctets: 2_000_000, steps: 4, bindings: 2)
        #expect(kind(XCAPFixture.lists + "/~~/a/b/c/d", limits: limits) == nil)
        #expect(kind(XCAPFixture.lists + "/~~/a/b/c/d/e", limits: limits) == .malformed)
        #expect(kind(XCAPFixture.lists + "/~~/a" + String(repeating: "/a", count: 10_000), limits: limits) == .malformed)
        #expect(kind(XCAPFixture.lists + String(repeating: "/a", count: 10_000), limits: limits) == .notFound)
        #expect(kind(XCAPFixture.lists + "?" + String(repeating: "xmlns(a=b)", count: 3), limits: limits) == .malformed)
        #expect(kind(XCAPFixture.lists + String(repeating: "a", count: 8_200)) == .tooLong)
        #expect(kind(XCAPFixture.lists + "/~~/a[99999999999999999999999999]") == nil)
    }

    @Test("RFC 4826 3.1: references are read relative to the root, anchors as absolute URIs below it")
    func references() throws {
        let relative = try XCAPURI(relative: "resource-lists/users/sip:mara@example.com/index/~~/resource-lists/list")
        let absolute = try XCAPURI(
            absolute: "https://XCAP.example.com/xcap-root/resource-lists/users/sip:mara@example.com/index/~~/resource-lists/list",
            root: XCAPFixture.root)
        #expect(relative == absolute)
        for elsewhere in ["https://xcap.example.net/xcap-root/a/users/sip:a@example.com/b", "/xcap-root/a/users/sip:a@example.com/b", "a"] {
            #expect(throws: XCAPURIError.self) { try XCAPURI(absolute: elsewhere, root: XCAPFixture.root) }
        }
    }
}
