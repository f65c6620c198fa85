import Testing
import XMLCore

@Suite struct XMLCanonicalTests {
    func difference(_ expected: String, _ actual: String) -> String? {
        XMLCanonical().difference(expected: Array(expected.utf8), actual: Array(actual.utf8))
    }

    @Test("prefixes, attribute order, comments and white space between elements do not count")
    func equal() {
        #expect(
            difference(
                "<a xmlns='urn:a' xmlns:b='urn:b' x='1' b:y='2'>\n  <b:c> t </b:c>\n</a>",
                "<q:a xmlns:q='urn:a' xmlns:z='urn:b' z:y='2' x='1'><!-- c --><z:c>t</z:c></q:a>") == nil)
    }

    @Test("a difference names the path and both values")
    func different() {
        #expect(difference("<a><b>1</b></a>", "<a>\n<b>2</b></a>") == "/a/b: expected text '1', found '2' (actual line 2)")
        #expect(difference("<a x='1'/>", "<a x='2'/>") == "/a/@x: expected '1', found '2' (actual line 1)")
        #expect(difference("<a><b/></a>", "<a><b/><c/></a>") == "/a: unexpected element c (actual line 1)")
        #expect(difference("<a><b/><c/></a>", "<a><b/></a>") == "/a: missing element c (actual line 1)")
        #expect(difference("<a xmlns='urn:a'/>", "<a/>") == "/a: expected element {urn:a}a, found a (actual line 1)")
        #expect(difference("<a/>", "<a x='1'/>") == "/a/@x: unexpected, found '1' (actual line 1)")
        #expect(difference("<a/>", "<a") != nil)
    }

    @Test("{{any}} stands for any characters of a value")
    func wildcard() {
        #expect(difference("<a t='{{any}}'>at {{any}} by {{any}}!</a>", "<a t='2026'>at noon by bus!</a>") == nil)
        #expect(difference("<a>{{any}}</a>", "<a>x</a>") == nil)
        #expect(difference("<a>at {{any}}!</a>", "<a>at noon</a>") != nil)
        #expect(difference("<a>x</a>", "<a>{{any}}</a>") != nil)
    }

    @Test("xsi:type is compared as the name that it means")
    func type() {
        let xsi = "xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'"
        #expect(difference("<a xmlns='urn:a' \(xsi) xsi:type='k'/>", "<p:a xmlns:p='urn:a' \(xsi) xsi:type='p:k'/>") == nil)
        #expect(difference("<a xmlns='urn:a' \(xsi) xsi:type='k'/>", "<p:a xmlns:p='urn:a' \(xsi) xsi:type='k'/>") != nil)
    }
}
