"""Inputs that must be refused, with the place or the rule that the message names; and those that only look bad."""

import payloads as xml
from rpid import AT, DANA, answer, document
from payloads import E

PIDF = f'<presence xmlns="{xml.PIDF}" entity="{DANA}">'
DM = f'<presence xmlns="{xml.PIDF}" xmlns:dm="{xml.NAMESPACES["dm"]}" xmlns:rpid="{xml.NAMESPACES["rpid"]}" xmlns:ts="{xml.NAMESPACES["ts"]}" entity="{DANA}">'
OPEN = '<tuple id="a"><status><basic>open</basic></status></tuple>'
CATEGORIES = f'<categories xmlns="{xml.MS}categories" uri="{DANA}">'
STATE = f'<state xmlns="{xml.MS}state" xmlns:xsi="{xml.NAMESPACES["xsi"]}" xsi:type="aggregateState"'


def pidf(content, start=PIDF):
    return f"{start}\n{content}\n</presence>\n"


def tuple_(content, attributes='id="a"'):
    return pidf(f"<tuple {attributes}>{content}</tuple>", DM)


def person(content):
    return pidf(OPEN + f'<dm:person id="p">{content}</dm:person>', DM)


def category(body, attributes='name="state" instance="1" publishTime="2026-11-22T12:00:00.000"'):
    return f"{CATEGORIES}\n<category {attributes}>{body}</category>\n</categories>\n"


def state(content, attributes=""):
    return category(f"{STATE}{attributes}>{content}</state>")


def write(suite):
    def refused(stem, comment, spec, origin, input, error, **more):
        target = "pidf" if origin == "categories" else "categories"
        suite.refused(stem, comment, spec, origin, target, input, error, **more)

    # Not XML, or not XML that is taken.
    xml10 = ["XML 1.0 2.1"]
    refused("empty", "no bytes at all", xml10, "pidf", "", "1:1: XML 1.0 2.1")
    refused("blank", "white space alone", xml10, "pidf", "  \n", "2:1: XML 1.0 2.1")
    refused("text", "text that is not XML", xml10, "pidf", "available\n", "1:1")
    whole = pidf(OPEN)
    for stem, size in (("in-declaration", 10), ("in-tag", len(PIDF) - 5), ("in-content", len(PIDF) + 20), ("before-end", len(whole) - 3)):
        refused(f"truncated-{stem}", "a document that ends too early", xml10, "pidf", whole[:size], ":")
    for origin, text in (
        ("categories", category("")),
        ("legacy-interop", xml.legacy(3500).document()),
        ("msrtc", xml.msrtc("dana@example.org", 300, 400, 3500, "online").document()),
        ("xpidf", xml.xpidf(DANA, "open").document()),
    ):
        refused(
            f"truncated-{origin}",
            "a document that ends too early",
            xml10,
            origin,
            text[: len(text) * 2 // 3],
            ":",
            entity=DANA if origin == "legacy-interop" else None,
        )
    refused("two-roots", "a second root element", ["XML 1.0 2.1"], "pidf", pidf(OPEN) + "<presence/>", "4:1")
    refused("text-after", "text after the root element", ["XML 1.0 2.8"], "pidf", pidf(OPEN) + "more", "4:1")
    refused("end-tag", "an end tag of another name", ["XML 1.0 3"], "pidf", pidf('<tuple id="a"><status></tuple></status>'), "2:")
    refused("attribute-twice", "an attribute twice", ["XML 1.0 3.1"], "pidf", pidf('<tuple id="a" id="b"><status/></tuple>'), "2:")
    refused("attribute-unquoted", "an attribute without quotes", ["XML 1.0 3.1"], "pidf", pidf("<tuple id=a><status/></tuple>"), "2:")
    refused("prefix", "a prefix that nothing binds", ["XML Namespaces 5"], "pidf", pidf("<q:tuple/>"), "2:")
    refused("less-than", "a bare less-than sign", ["XML 1.0 2.4"], "pidf", pidf("<note>1 < 2</note>"), "2:")
    refused("ampersand", "a bare ampersand", ["XML 1.0 2.4"], "pidf", pidf("<note>you & me</note>"), "2:")
    refused("entity", "a reference to an entity that nobody declared", ["XML 1.0 4.1"], "pidf", pidf("<note>&nobody;</note>"), "2:")
    refused("character-zero", "a reference to a character that XML does not have", ["XML 1.0 2.2"], "pidf", pidf("<note>&#0;</note>"), "2:")
    refused("character-control", "a control character", ["XML 1.0 2.2"], "pidf", pidf("<note>\x01</note>"), "2:")
    refused("comment-open", "a comment without end", ["XML 1.0 2.5"], "pidf", pidf("<!-- for ever"), ":")
    refused("cdata-open", "a CDATA section without end", ["XML 1.0 2.7"], "pidf", pidf("<note><![CDATA[for ever</note>"), ":")
    laughs = (
        '<?xml version="1.0"?>\n<!DOCTYPE presence [\n<!ENTITY a "ha">\n'
        + "".join(f'<!ENTITY {name} "{("&" + before + ";") * 10}">\n' for before, name in zip("abcdefgh", "bcdefghi"))
        + "]>\n"
    )
    refused(
        "billion-laughs",
        "entities that grow a billionfold: the document type is refused before any of them",
        ["RFC 3863 6"],
        "pidf",
        laughs + pidf("<note>&i;</note>"),
        "2:1",
    )
    refused(
        "billion-laughs-xpidf",
        "not even where a document type is passed over",
        ["policy"],
        "xpidf",
        laughs + '<presence><presentity uri="sip:a@example.org"/>&i;</presence>',
        "2:",
    )
    refused("doctype", "a document type of any kind", ["RFC 3863 6"], "pidf", "<!DOCTYPE presence>\n" + pidf(OPEN), "1:1")
    refused(
        "doctype-external",
        "a document type that names a file",
        ["RFC 3863 6"],
        "categories",
        '<!DOCTYPE categories SYSTEM "file:///etc/hostname">\n' + category(""),
        "1:1",
    )
    refused(
        "external-entity",
        "an entity that names a file",
        ["RFC 3863 6"],
        "msrtc",
        '<!DOCTYPE p [<!ENTITY f SYSTEM "file:///etc/hostname">]>\n'
        + f'<presentity xmlns="{xml.PRESENTITY}" uri="dana@example.org"><email email="&f;"/></presentity>',
        "1:1",
    )
    for stem, data in (
        ("byte", b"\xff"),
        ("overlong", b"\xc0\xaf"),
        ("surrogate", b"\xed\xa0\x80"),
        ("cut", b"\xe2\x82"),
        ("beyond", b"\xf4\x90\x80\x80"),
    ):
        text = pidf("<note>#</note>").encode().replace(b"#", data)
        refused(f"utf-8-{stem}", "bytes that are not UTF-8", ["RFC 3629 3"], "pidf", text, "2:7")
    refused(
        "encoding-unknown",
        "an encoding that nobody reads",
        ["XML 1.0 4.3.3"],
        "pidf",
        '<?xml version="1.0" encoding="EBCDIC-CP-US"?>\n' + pidf(OPEN),
        "1:",
    )

    # Bounds.
    refused("deep", "elements nested deeper than the limit", ["policy"], "pidf", pidf("<x>" * 64 + "</x>" * 64), "64")
    refused(
        "attributes",
        "more attributes on one element than the limit",
        ["policy"],
        "pidf",
        pidf("<x " + " ".join(f'a{n}=""' for n in range(65)) + "/>"),
        "64",
    )
    refused("nodes", "more elements than the limit", ["policy"], "pidf", pidf("<x/>" * 20001), "20000")
    refused("long", "a document longer than the limit", ["policy"], "pidf", pidf("<note>" + "long " * 52500 + "</note>"), "262144")

    # Another document than the one promised.
    refused(
        "wrong-namespace",
        "presence of another namespace",
        ["RFC 3863 4.1.1"],
        "pidf",
        pidf(OPEN).replace(xml.PIDF, "urn:example:pidf"),
        "RFC 3863 4.1.1",
    )
    refused(
        "no-namespace",
        "presence without namespace is xpidf, not PIDF",
        ["RFC 3863 4.1.1"],
        "pidf",
        pidf(OPEN).replace(f' xmlns="{xml.PIDF}"', ""),
        "RFC 3863 4.1.1",
    )
    refused(
        "wrong-root",
        "another element of the namespace of PIDF",
        ["RFC 3863 4.1.1"],
        "pidf",
        f'<tuple xmlns="{xml.PIDF}" id="a"><status/></tuple>',
        "RFC 3863 4.1.1",
    )
    refused("pidf-as-categories", "PIDF where categories were promised", ["MS-PRES 6.2"], "categories", pidf(OPEN), "MS-PRES 6.2")
    refused("categories-as-pidf", "categories where PIDF was promised", ["RFC 3863 4.1.1"], "pidf", category(""), "RFC 3863 4.1.1")
    refused("pidf-as-msrtc", "PIDF where msrtc.pidf was promised", ["MS-PRES 2.2.2.9"], "msrtc", pidf(OPEN), "MS-PRES 2.2.2.9")
    refused("pidf-as-xpidf", "PIDF where xpidf was promised", ["policy"], "xpidf", pidf(OPEN), "1:1")
    refused(
        "state-as-legacy",
        "a state where a legacyInterop was promised",
        ["MS-PRES 7.7"],
        "legacy-interop",
        f'<state xmlns="{xml.MS}state"/>',
        "MS-PRES 7.7",
        entity=DANA,
    )
    refused(
        "state-namespace",
        "a state of another namespace",
        ["MS-PRES 7.2"],
        "categories",
        category('<state xmlns="urn:example:state"><availability>3500</availability></state>'),
        "MS-PRES 7.2",
    )
    refused(
        "note-in-state",
        "the category state with a note in it",
        ["MS-PRES 7.2"],
        "categories",
        category(f'<note xmlns="{xml.MS}note"/>'),
        "MS-PRES 7.2",
    )

    # Numbers.
    for stem, value in (
        ("negative", "-1"),
        ("large", "99999999999"),
        ("just-too-large", "4294967296"),
        ("comma", "3,5"),
        ("point", "3500.0"),
        ("empty", ""),
        ("word", "available"),
        ("hex", "0xDAC"),
        ("exponent", "35e2"),
        ("inner-space", "3 500"),
        ("plus-word", "+"),
        ("arabic-digits", "٣٥٠٠"),
    ):
        refused(
            f"availability-{stem}",
            f"an availability of '{value}'",
            ["MS-PRES 7.2", "XML Schema 2 3.3.22"],
            "categories",
            state(f"<availability>{value}</availability>"),
            "2:",
        )
        refused(
            f"availability-{stem}-legacy",
            f"an availability of '{value}'",
            ["MS-PRES 7.7", "XML Schema 2 3.3.22"],
            "legacy-interop",
            f'<legacyInterop xmlns="{xml.MS}categories" availability="{value}"/>',
            "availability",
            entity=DANA,
        )
        refused(
            f"availability-{stem}-msrtc",
            f"an aggregate of '{value}'",
            ["MS-PRES 2.2.2.9"],
            "msrtc",
            f'<presentity xmlns="{xml.PRESENTITY}" uri="dana@example.org">\n<availability aggregate="{value}"/></presentity>',
            "2:",
        )

    # What must be there.
    refused(
        "entity-missing",
        "a presence without entity",
        ["RFC 3863 4.1.1"],
        "pidf",
        f'<presence xmlns="{xml.PIDF}">{OPEN}</presence>',
        "RFC 3863 4.1.1: presence without entity",
    )
    refused("entity-empty", "a presence with an empty entity", ["RFC 3863 4.1.1"], "pidf", pidf(OPEN).replace(DANA, " "), "RFC 3863 4.1.1")
    refused("tuple-id", "a tuple without id", ["RFC 3863 4.1.2"], "pidf", tuple_("<status/>", ""), "RFC 3863 4.1.2: tuple without id")
    refused(
        "tuple-status",
        "a tuple without status",
        ["RFC 3863 4.1.2"],
        "pidf",
        tuple_("<contact>sip:dana@example.org</contact>"),
        "RFC 3863 4.1.2: tuple without status",
    )
    refused(
        "device-id",
        "a device without deviceID",
        ["RFC 4479 3.4"],
        "pidf",
        pidf(OPEN + '<dm:device id="d"/>', DM),
        "RFC 4479 3.4: device without deviceID",
    )
    refused(
        "timed-from",
        "a timed status without from",
        ["RFC 4481 2"],
        "pidf",
        tuple_("<status/><ts:timed-status><ts:basic>open</ts:basic></ts:timed-status>"),
        "RFC 4481 2",
    )
    refused(
        "categories-uri", "categories without uri", ["MS-PRES 6.2"], "categories", category("").replace(f' uri="{DANA}"', ""), "MS-PRES 6.2"
    )
    refused("category-name", "a category without name", ["MS-PRES 6.2"], "categories", category("", 'instance="1"'), "MS-PRES 6.2")
    refused(
        "legacy-availability",
        "a legacyInterop without availability",
        ["MS-PRES 2.2.2.7.6"],
        "legacy-interop",
        f'<legacyInterop xmlns="{xml.MS}categories" token="on-the-phone"/>',
        "availability",
        entity=DANA,
    )
    refused(
        "legacy-entity",
        "a legacyInterop, and nobody says whose it is",
        ["MS-PRES 2.2.2.7.6"],
        "legacy-interop",
        xml.legacy(3500).document(),
        "entity",
    )
    refused(
        "msrtc-uri", "a presentity without uri", ["MS-PRES 2.2.2.9"], "msrtc", f'<presentity xmlns="{xml.PRESENTITY}"/>', "MS-PRES 2.2.2.9"
    )
    refused(
        "msrtc-aggregate",
        "an availability without aggregate",
        ["MS-PRES 2.2.2.9"],
        "msrtc",
        f'<presentity xmlns="{xml.PRESENTITY}" uri="dana@example.org"><availability/></presentity>',
        "aggregate",
    )
    refused(
        "msrtc-avail",
        "a state without avail",
        ["MS-PRES 9"],
        "msrtc",
        xml.msrtc("dana@example.org", 300, 400, 3500, "online").document().replace(' avail="3500"', ""),
        "MS-PRES 9",
    )
    refused("xpidf-presentity", "xpidf without presentity", ["policy"], "xpidf", '<presence><atom id="1"/></presence>', "presentity")
    refused(
        "free-busy-start",
        "free/busy without startTime",
        ["MS-PRES 7.8"],
        "categories",
        category(
            f'<calendarData xmlns="{xml.MS}calendarData" mailboxID="m"><freeBusy granularity="PT15M" encodingVersion="1">Cg==</freeBusy></calendarData>',
            'name="calendarData" instance="0"',
        ),
        "MS-PRES 7.8",
    )

    # Values.
    for value in ("OPEN", "Open", "maybe", "", "open closed"):
        stem = {"OPEN": "upper", "Open": "capital", "": "empty", "open closed": "two"}.get(value, value)
        refused(
            f"basic-{stem}",
            f"a basic status of '{value}'",
            ["RFC 3863 4.1.4"],
            "pidf",
            tuple_(f"<status><basic>{value}</basic></status>"),
            "RFC 3863 4.1.4",
        )
    for value in (
        "yesterday",
        "2026-11-22",
        "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-11-22T25:00:00Z",
        "2026-11-22T12:00:00+25:00",
        "",
    ):
        stem = value.replace(":", "").replace("+", "plus") or "empty"
        refused(
            f"timestamp-{stem}",
            f"a timestamp of '{value}'",
            ["RFC 3863 4.1.7", "RFC 3339 5.6"],
            "pidf",
            tuple_(f"<status/><timestamp>{value}</timestamp>"),
            "RFC 3863 4.1.7",
        )
    for value in ("2", "1.001", "-0.1", "high", "0.1234"):
        refused(
            f"priority-{value}",
            f"a priority of '{value}'",
            ["RFC 3863 4.1.5"],
            "pidf",
            tuple_(f'<status/><contact priority="{value}">sip:dana@example.org</contact>'),
            "RFC 3863 4.1.5",
        )
    refused(
        "user-input",
        "an input that is neither active nor idle",
        ["RFC 4480 3.14"],
        "pidf",
        person("<rpid:user-input>asleep</rpid:user-input>"),
        "user-input",
    )
    for value in ("0", "-5", "ten"):
        refused(
            f"threshold-{value}",
            f"an idle-threshold of '{value}'",
            ["RFC 4480 3.14"],
            "pidf",
            person(f'<rpid:user-input idle-threshold="{value}">idle</rpid:user-input>'),
            "user-input",
        )
    refused(
        "from",
        "an activity from no time",
        ["RFC 4480 3.1"],
        "pidf",
        person('<rpid:activities from="noon"><rpid:away/></rpid:activities>'),
        "activities",
    )
    for value in ("one hour", "", "99999999999999999999"):
        stem = value.replace(" ", "-") or "empty"
        refused(
            f"offset-{stem}",
            f"a time-offset of '{value}'",
            ["RFC 4480 3.13"],
            "pidf",
            person(f"<rpid:time-offset>{value}</rpid:time-offset>"),
            "time-offset",
        )
    refused(
        "must-understand",
        "something under presence that must be understood and is not",
        ["RFC 3863 4.2.4"],
        "pidf",
        pidf(OPEN + '<v:vital xmlns:v="urn:example:vital" xmlns:p="urn:ietf:params:xml:ns:pidf" p:mustUnderstand="1"/>'),
        "RFC 3863 4.2.4",
    )
    for name, value in (
        ("instance", "one"),
        ("instance", "-1"),
        ("publishTime", "now"),
        ("container", "40000"),
        ("container", "-1"),
        ("version", "new"),
        ("expires", "soon"),
    ):
        refused(
            f"category-{name}-{value}",
            f"a category with {name} '{value}'",
            ["MS-PRES 6.2"],
            "categories",
            category("", f'name="note" {name}="{value}"'),
            "MS-PRES 6.2: " + name,
        )
    refused(
        "manual",
        "a state that is maybe manual",
        ["MS-PRES 7.2"],
        "categories",
        state("<availability>3500</availability>", ' manual="maybe"'),
        "MS-PRES 7.2: manual",
    )
    refused(
        "start-time",
        "a state from no time",
        ["MS-PRES 7.2"],
        "categories",
        state("<availability>3500</availability>", ' startTime="noon"'),
        "MS-PRES 7.2: startTime",
    )
    refused(
        "last-active",
        "a last activity at no time",
        ["MS-PRES 7.2"],
        "categories",
        state("<availability>3500</availability>", ' lastActive="noon"'),
        "MS-PRES 7.2: lastActive",
    )
    refused(
        "bound",
        "an activity from a bound that is no number",
        ["MS-PRES 7.2"],
        "categories",
        state('<availability>3500</availability><activity token="off-work" minAvailability="low"/>'),
        "MS-PRES 7.2: minAvailability",
    )
    refused(
        "lcid",
        "a text in a language that is no number",
        ["MS-PRES 7.2"],
        "categories",
        state('<availability>3500</availability><activity><custom LCID="en">x</custom></activity>'),
        "MS-PRES 7.2: LCID",
    )
    refused(
        "dnd-state",
        "a dndState that is neither true nor false",
        ["MS-PRES 7.7"],
        "legacy-interop",
        f'<legacyInterop xmlns="{xml.MS}categories" availability="9500" dndState="yes"/>',
        "MS-PRES 7.7: dndState",
        entity=DANA,
    )
    for stem, data in (("star", "C*=="), ("length", "Cgoab"), ("padding", "=Cg="), ("words", "not base64")):
        refused(
            f"free-busy-{stem}",
            "free/busy that is not base64",
            ["MS-PRES 2.2.2.7.8", "RFC 4648 4"],
            "categories",
            category(
                f'<calendarData xmlns="{xml.MS}calendarData" mailboxID="m"><freeBusy startTime="2026-11-22T12:00:00Z" granularity="PT15M" encodingVersion="1">{data}</freeBusy></calendarData>',
                'name="calendarData" instance="0"',
            ),
            "MS-PRES 7.8: freeBusy",
        )

    # What only looks bad.
    def taken(stem, comment, spec, origin, input, expected, result="tolerated", **more):
        suite.add(
            f"conversion/tolerated/{stem}",
            comment,
            spec,
            input,
            expected,
            result=result,
            **{"from": origin, "to": "categories" if origin != "categories" else "pidf", "at": AT},
            **more,
        )

    plain = answer(3500).document()
    taken(
        "doctype-xpidf",
        "old senders of xpidf begin with a document type, which is passed over and not fetched",
        ["policy"],
        "xpidf",
        '<?xml version="1.0"?>\n<!DOCTYPE presence PUBLIC "-//IETF//DTD RFCxxxx XPIDF 1.0//EN" "xpidf.dtd">\n'
        + xml.xpidf(DANA, "open", "online", atom="1").document().split("\n", 1)[1],
        plain,
    )
    taken(
        "availability-spaces",
        "white space around a number",
        ["XML Schema 2 3.3.22"],
        "categories",
        state("<availability>\n  3500 </availability>").replace(DANA, "sip:erik@contoso.com"),
        xml.pidf("sip:erik@contoso.com", xml.tuple_("open", contact="sip:erik@contoso.com", timestamp="2026-11-22T12:00:00Z")).document(),
        "valid",
    )
    taken(
        "basic-spaces",
        "white space around a status",
        ["RFC 3863 4.1.4"],
        "pidf",
        tuple_(f"<status><basic> open\n</basic></status><contact>{DANA}</contact>"),
        plain,
    )
    taken(
        "cdata",
        "text in a CDATA section is text",
        ["XML 1.0 2.7"],
        "pidf",
        tuple_(f"<status><basic><![CDATA[open]]></basic></status><contact>{DANA}</contact>"),
        plain,
        "valid",
    )
    taken(
        "references",
        "references to characters are characters",
        ["XML 1.0 4.1"],
        "pidf",
        tuple_(f"<status><basic>&#111;&#x70;en</basic></status><contact>{DANA}</contact>"),
        plain,
        "valid",
    )
    taken(
        "comments",
        "comments and instructions say nothing",
        ["XML 1.0 2.5", "XML 1.0 2.6"],
        "pidf",
        "<!-- before --><?app now?>" + tuple_(f"<status><!-- in --><basic>op<!-- side -->en</basic></status><contact>{DANA}</contact>"),
        plain,
        "valid",
    )
    taken(
        "prefixes",
        "any prefix will do",
        ["XML Namespaces 3"],
        "pidf",
        f'<z:presence xmlns:z="{xml.PIDF}" entity="{DANA}"><z:tuple id="a"><z:status><z:basic>open</z:basic></z:status><z:contact>{DANA}</z:contact></z:tuple></z:presence>',
        plain,
        "valid",
    )
    taken(
        "bom",
        "a byte order mark before UTF-8",
        ["XML 1.0 4.3.3"],
        "pidf",
        b"\xef\xbb\xbf" + tuple_(f"<status><basic>open</basic></status><contact>{DANA}</contact>").encode(),
        plain,
        "valid",
    )
    for name in ("utf-16-le", "utf-16-be"):
        text = '<?xml version="1.0" encoding="UTF-16"?>' + tuple_(f"<status><basic>open</basic></status><contact>{DANA}</contact>")
        taken(name, "every reader of XML reads UTF-16", ["XML 1.0 2.2"], "pidf", "\ufeff".encode(name) + text.encode(name), plain, "valid")
    taken(
        "order",
        "children of a tuple in another order",
        ["RFC 3863 4.1.2"],
        "pidf",
        tuple_(f"<timestamp>2026-11-22T12:00:00Z</timestamp><contact>{DANA}</contact><status><basic>open</basic></status>"),
        plain,
    )
    taken(
        "person-id",
        "a person without id",
        ["RFC 4479 3.2"],
        "pidf",
        pidf(
            f'<tuple id="a"><status><basic>open</basic></status><contact>{DANA}</contact></tuple><dm:person><rpid:activities><rpid:busy/></rpid:activities></dm:person>',
            DM,
        ),
        answer(6500).document(),
    )
    taken(
        "type-prefix",
        "xsi:type with a prefix bound to the namespace of states",
        ["MS-PRES 7.2"],
        "categories",
        category(
            f'<s:state xmlns:s="{xml.MS}state" xmlns:xsi="{xml.NAMESPACES["xsi"]}" xsi:type="s:aggregateState"><s:availability>3500</s:availability></s:state>'
        ).replace(DANA, "sip:erik@contoso.com"),
        xml.pidf("sip:erik@contoso.com", xml.tuple_("open", contact="sip:erik@contoso.com", timestamp="2026-11-22T12:00:00Z")).document(),
        "valid",
    )
    calendar = category(
        f'<calendarData xmlns="{xml.MS}calendarData" mailboxID="m"><freeBusy startTime="2026-11-22T12:00:00Z" granularity="PT15M" encodingVersion="1">\nCg\n</freeBusy></calendarData>',
        'name="calendarData" instance="0"',
    ).replace(DANA, "sip:erik@contoso.com")
    busy = E(
        "ts:timed-status",
        {"from": "2026-11-22T12:00:00Z", "until": "2026-11-22T12:30:00Z"},
        E("ts:basic", None, "open"),
        xml.activities("busy"),
    )
    taken(
        "free-busy-padding",
        "white space in free/busy, and no padding",
        ["MS-PRES 2.2.2.7.8", "RFC 4648 3.2"],
        "categories",
        calendar,
        xml.pidf("sip:erik@contoso.com", xml.tuple_("closed", busy, contact="sip:erik@contoso.com")).document(),
    )
    taken(
        "token-unknown",
        "a token of tomorrow",
        ["MS-PRES 7.2"],
        "legacy-interop",
        xml.legacy(3500, "x-tomorrow").document(),
        answer(3500, "x-tomorrow").document(),
        "valid",
        entity=DANA,
    )
