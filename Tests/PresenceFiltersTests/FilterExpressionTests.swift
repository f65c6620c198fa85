import PresenceDocuments
import PresenceFilters
import Testing

/// Expressions (RFC 4661 5).
@Suite struct FilterExpressionTests {
    @Test(
        "RFC 4661 5: paths and predicates select elements and attributes",
        arguments: [
            ("/pidf:presence/pidf:tuple/pidf:contact/@priority", 2), ("//pidf:contact/@priority", 2), ("//@priority", 2), ("//@id", 4),
            ("/pidf:presence//@id", 4), ("//*/@xml:lang", 1), ("//@x:kind", 1), ("//pidf:tuple/@kind", 0), ("//pidf:tuple", 2),
            ("/pidf:presence/pidf:tuple", 2), ("/pidf:tuple", 0), ("/*/*", 5), ("//pidf:note", 2), ("/pidf:presence/pidf:note", 1),
            ("//note", 2), ("/pidf:presence//pidf:note", 2), ("/pidf:presence/*/rpid:activities/*", 2), ("//pidf:tuple[@id=\"im\"]", 1),
            ("//pidf:tuple[@id='im' or @id='call']", 2), ("//pidf:tuple[@id='im' and rpid:class='CALL']", 0),
            ("//pidf:tuple[@id='im' and rpid:class='IM' or @id='call']", 2), ("//pidf:tuple[pidf:status/pidf:basic=\"open\"]", 1),
            ("//pidf:tuple[ pidf:status / pidf:basic = 'open' ]/pidf:note", 1), ("//pidf:tuple[*/pidf:basic='closed']", 1),
            ("//pidf:basic[.='open']", 1), ("//pidf:contact[@priority>0.5]", 1), ("//pidf:contact[@priority<0.5]", 1),
            ("//pidf:contact[@priority='0.8']", 1), ("//pidf:contact[@priority=0.80]", 1), ("//pidf:contact[@priority='0.80']", 0),
            ("//pidf:tuple[pidf:contact/@priority>\"0.1\"]", 2), ("//x:line[.>1]", 1), ("//rpid:class[.>1]", 0),
            ("//rpid:busy[..='']", 1), ("//pidf:basic[..='open']", 0), ("//pidf:tuple[@id='im'][rpid:class='IM']", 1),
            ("//pidf:tuple[@x:kind='voice']", 1), ("//pidf:tuple[@kind='voice']", 0), ("//x:absent", 0), ("//*[@absent='']", 0),
        ])
    func selects(_ expression: String, _ count: Int) throws {
        let expression = try FilterExpression(expression, bindings: Samples.namespaces)
        #expect(try expression.count(in: Samples.rich) == count)
    }

    @Test("RFC 4661 3.3: a binding of the empty prefix is the namespace of names without prefix, which is else that of PIDF")
    func defaultNamespace() throws {
        #expect(try FilterExpression("//class", bindings: ["": "urn:ietf:params:xml:ns:pidf:rpid"]).count(in: Samples.rich) == 2)
        #expect(try FilterExpression("//class", bindings: [:]).count(in: Samples.rich) == 0)
        #expect(try FilterExpression("//tuple", bindings: [:]).count(in: Samples.rich) == 2)
    }

    @Test("Expressions are equal whatever their prefixes and white space")
    func equality() throws {
        let one = try FilterExpression(
            "//a:tuple[ @id = 'x' and a:note=\"y\" ]/@b:k", bindings: ["a": "urn:example:1", "b": "urn:example:2"])
        let two = try FilterExpression("// p:tuple[@id=\"x\" and p:note='y']/@q:k", bindings: ["p": "urn:example:1", "q": "urn:example:2"])
        #expect(one == two && one.hashValue == two.hashValue && one.description == two.description)
        #expect(one.description == "//{urn:example:1}tuple[@id=\"x\" and {urn:example:1}note=\"y\"]/@{urn:example:2}k")
        #expect(try one != FilterExpression("//a:tuple/@b:k", bindings: ["a": "urn:example:1", "b": "urn:example:2"]))
    }

    @Test(
        "RFC 4661 5: other expressions are refused with the octet",
        arguments: [
            ("", "no '/' at octet 0"), ("pidf:presence", "no '/' at octet 0"), ("/", "no a name at octet 1"),
            ("///pidf:tuple", "no a name at octet 2"), ("/pidf:presence/", "no a name at octet 15"),
            ("/other:presence", "no a prefix of 'ns-bindings' (RFC 4661 3.3) at octet 1"), ("/pidf:", "no a name at octet 6"),
            ("/pidf:*", "no a name at octet 6"), ("/1a", "no a name at octet 1"), ("/-a", "no a name at octet 1"),
            ("/a b", "no '/', '[' or the end at octet 3"), ("/@id", "no an element at octet 2"), ("//a/@id/b", "no the end at octet 7"),
            ("//a/@id[.='1']", "no the end at octet 7"), ("//a/@*", "no a name at octet 5"), ("//a[1]", "no a name at octet 4"),
            ("//a[last()]", "no '=', '<' or '>' at octet 8"), ("//a/text()", "no '/', '[' or the end at octet 8"),
            ("//a[b]", "no '=', '<' or '>' at octet 5"), ("//a[b=c]", "no a value in quotes or a number at octet 6"),
            ("//a[b='c", "no a value with a closing quote at octet 6"), ("//a[b='c'", "no 'and', 'or' or ']' at octet 9"),
            ("//a[b='c' xor d='e']", "no 'and', 'or' or ']' at octet 10"), ("//a[b='c' and]", "no a name at octet 13"),
            ("//a[b!='c']", "no '=', '<' or '>' at octet 5"), ("//a[]", "no a name at octet 4"), ("//a[(b='c')]", "no a name at octet 4"),
            ("//a[b//c='d']", "no a name at octet 6"), ("//a[b[c='d']='e']", "no '=', '<' or '>' at octet 5"),
            ("//a[../b='c']", "no '=', '<' or '>' at octet 6"), ("//a[b=1.2.3]", "no a value in quotes or a number at octet 6"),
            ("//a|//b", "no '/', '[' or the end at octet 3"), ("//..", "no a name at octet 2"),
            ("//a[b='c'andd='e']", "no 'and', 'or' or ']' at octet 9"), ("count(//a)", "no '/' at octet 0"),
        ])
    func refused(_ text: String, _ message: String) {
        do {
            _ = try FilterExpression(text, bindings: Samples.namespaces)
            Issue.record("accepted: \(text)")
        } catch {
            #expect(error.code == .expression && error.message.hasPrefix("RFC 4661 5: the expression '\(text)'"), "\(error)")
            #expect(error.message.hasSuffix(message), "\(error)")
        }
    }

    @Test("Steps, comparisons and octets of an expression are limited")
    func limits() throws {
        let sixteen = String(repeating: "/a", count: 16)
        #expect(throws: Never.self) { try FilterExpression(sixteen, bindings: [:]) }
        expectLimit(sixteen + "/a", "more than the 16 steps")
        expectLimit("/a[" + Array(repeating: "b='c'", count: 16).joined(separator: " or ") + "]", "more than the 16 steps")
        expectLimit("/a[" + Array(repeating: "b", count: 16).joined(separator: "/") + "='c']", "more than the 16 steps")
        expectLimit(String(repeating: "/a", count: 257), "has 514 octets, more than the 512 allowed")
        let long = FilterLimits(expressionOctets: 2_000_000)
        expectLimit(String(repeating: "/a", count: 10_000), "more than the 16 steps", long)
        expectLimit("//a" + String(repeating: "[b='c']", count: 10_000), "more than the 16 steps", long)
        expectLimit("/a[b='" + String(repeating: "c", count: 1_000_000) + "']", "has 1000008 octets")
        let value = try FilterExpression("//note[.='" + String(repeating: "c", count: 1_000_000) + "']", bindings: [:], limits: long)
        #expect(try value.count(in: Samples.rich) == 0)
        do {
            _ = try FilterExpression("/a" + String(repeating: "[", count: 1_000_000), bindings: [:], limits: long)
            Issue.record("accepted")
        } catch {
            #expect(error.code == .expression && error.message.utf8.count < 300)
        }
    }

    private func expectLimit(_ text: String, _ message: String, _ limits: FilterLimits = .standard) {
        do {
            _ = try FilterExpression(text, bindings: [:], limits: limits)
            Issue.record("accepted, expected: \(message)")
        } catch {
            #expect(error.code == .limit && error.message.contains(message) && error.message.utf8.count < 300, "\(error)")
        }
    }
}
