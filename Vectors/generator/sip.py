"""SIP messages: what is read, what is kept as it came, what is refused. The points are those of RFC 4475, the messages are ours."""

HEAD = [
    ("Via", "SIP/2.0/TCP 192.0.2.10:5060;branch=z9hG4bK1"),
    ("Max-Forwards", "70"),
    ("From", "<sip:alice@example.org>;tag=a1"),
    ("To", "<sip:bob@contoso.com>"),
    ("Call-ID", "1@192.0.2.10"),
    ("CSeq", "1 SUBSCRIBE"),
]
PIDF = '<presence xmlns="urn:ietf:params:xml:ns:pidf" entity="sip:bob@contoso.com"><tuple id="t"><status><basic>open</basic></status></tuple></presence>\n'


def message(start="SUBSCRIBE sip:bob@contoso.com SIP/2.0", more=(), body="", without=(), replace=None, length=None, method=None):
    """A message; `more` are headers, `replace` names to values."""
    headers = [(name, (replace or {}).get(name, value)) for name, value in HEAD if name not in without]
    if method:
        headers = [(name, f"1 {method}" if name == "CSeq" else value) for name, value in headers]
    headers += list(more)
    data = body if isinstance(body, bytes) else body.encode()
    if length is not False:
        headers.append(("Content-Length", str(len(data) if length is None else length)))
    lines = [start] + [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + data


def write(suite):
    def kept(stem, comment, spec, data, **more):
        """Read and written again byte for byte."""
        suite.add("sip/" + stem, comment, spec, data, data, extension="sip", **more)

    def read(stem, comment, spec, data, expected=None, **more):
        """Read; the written message means the same, or is `expected`."""
        suite.add("sip/" + stem, comment, spec, data, expected, extension="sip", **more)

    def refused(stem, comment, spec, data, error="400", **more):
        suite.add("sip/" + stem, comment, spec, data, result="invalid", error=error, extension="sip", **more)

    rfc = ["RFC 3261 7"]
    kept(
        "subscribe-presence",
        "a subscription to presence",
        ["RFC 6665 4.1", "RFC 3856 6"],
        message(
            more=[
                ("Event", "presence"),
                ("Accept", "application/pidf+xml"),
                ("Expires", "3600"),
                ("Contact", "<sip:alice@192.0.2.10;transport=tcp>"),
            ]
        ),
    )
    kept(
        "notify-pidf",
        "a notification with a document",
        ["RFC 6665 4.2", "RFC 3863 5"],
        message(
            "NOTIFY sip:alice@192.0.2.10 SIP/2.0",
            [("Event", "presence"), ("Subscription-State", "active;expires=3599"), ("Content-Type", "application/pidf+xml")],
            PIDF,
            method="NOTIFY",
        ),
    )
    kept(
        "publish",
        "a publication",
        ["RFC 3903 4"],
        message(
            "PUBLISH sip:bob@contoso.com SIP/2.0",
            [("Event", "presence"), ("Expires", "600"), ("SIP-If-Match", "x1"), ("Content-Type", "application/pidf+xml")],
            PIDF,
            method="PUBLISH",
        ),
    )
    kept("response", "a response", ["RFC 3261 7.2"], message("SIP/2.0 200 OK", [("Expires", "600"), ("SIP-ETag", "x2")]))
    kept("response-empty-reason", "a response with an empty reason", ["RFC 3261 25.1", "RFC 4475 3.1.1.13"], message("SIP/2.0 100 "))
    kept(
        "response-unusual-reason",
        "a reason in another script",
        ["RFC 4475 3.1.1.12"],
        message("SIP/2.0 200 = 2**3 * 5**2 но сто девяносто девять"),
    )
    kept("response-unknown", "a status that nobody registered", ["RFC 3261 8.1.3.2"], message("SIP/2.0 499 Not this time"))
    for method in ("SERVICE", "BENOTIFY", "MESSAGE", "REGISTER", "OPTIONS", "INFO", "UPDATE", "PRACK", "REFER"):
        kept(
            f"method-{method.lower()}",
            f"the method {method}",
            ["RFC 3261 7.1"],
            message(f"{method} sip:bob@contoso.com SIP/2.0", method=method),
        )
    kept(
        "method-own",
        "an unknown method of strange characters",
        ["RFC 4475 3.1.1.2"],
        message(
            "!interesting-Method0123456789_*+`.%indeed'~ sip:bob@contoso.com SIP/2.0", method="!interesting-Method0123456789_*+`.%indeed'~"
        ),
    )
    kept(
        "method-prefix",
        "a method that begins like a known one is another method",
        ["RFC 3261 7.1"],
        message("SUBSCRIBEX sip:bob@contoso.com SIP/2.0", method="SUBSCRIBEX"),
    )
    kept(
        "service-publish",
        "categories are published with SERVICE",
        ["MS-PRES 2.2.2.2"],
        message(
            "SERVICE sip:bob@contoso.com SIP/2.0",
            [("Content-Type", "application/msrtc-category-publish+xml")],
            '<publish xmlns="http://schemas.microsoft.com/2006/09/sip/rich-presence"><publications uri="sip:bob@contoso.com"/></publish>',
            method="SERVICE",
        ),
    )
    kept(
        "microsoft-headers",
        "headers of Microsoft clients and servers",
        ["MS-PRES 2.2.2", "MS-SIPRE 2.2"],
        message(
            more=[
                ("Event", "presence"),
                ("Require", "adhoclist, categoryList"),
                ("Supported", "ms-piggyback-first-notify, ms-benotify"),
                ("ms-keep-alive", "UAS; hop-hop=yes"),
                ("ms-diagnostics", '1003;reason="User does not exist";source="sip.contoso.com"'),
                ("P-Asserted-Identity", '"Bob" <sip:bob@contoso.com>'),
                ("ms-user-logon-data", "RemoteUser"),
            ],
            replace={"From": '"Alice" <sip:alice@contoso.com>;tag=a1;epid=84d3db8c23'},
        ),
    )
    kept(
        "unknown-headers",
        "headers that nobody knows",
        ["RFC 4475 3.1.1.2"],
        message(more=[("X-Colour", "red"), ("extensionHeader-!.%*+_`'~", "anything;goes, here"), ("X-Colour", "blue")]),
    )
    kept("header-empty", "a header without value", ["RFC 3261 7.3.1"], message(more=[("Subject", ""), ("Accept", "")]))
    kept(
        "quoted",
        "separators inside quotes separate nothing",
        ["RFC 3261 25.1", "RFC 4475 3.1.1.1"],
        message(replace={"From": '"a, b; c=<d> \\"e\\" \\\\" <sip:alice@example.org>;tag=a1'}),
    )
    kept(
        "display-utf8", "names in any script", ["RFC 3261 25.1"], message(replace={"From": '"Алиса 愛麗絲" <sip:alice@example.org>;tag=a1'})
    )
    kept(
        "display-tokens",
        "a name of several words without quotes",
        ["RFC 3261 20.10", "RFC 4475 3.1.1.1"],
        message(replace={"To": "Bob the Builder <sip:bob@contoso.com>"}),
    )
    kept(
        "addr-spec",
        "an address without angle brackets: its parameters are the header's",
        ["RFC 3261 20"],
        message(replace={"From": "sip:alice@example.org;tag=a1"}),
    )
    kept(
        "uri-escapes",
        "escapes in an address are kept",
        ["RFC 3261 19.1.2", "RFC 4475 3.1.1.3"],
        message("SUBSCRIBE sip:sips%3Auser%40example.com@contoso.com SIP/2.0", replace={"To": "<sip:%75se%72@contoso.com>"}),
    )
    kept("uri-null", "an escaped zero byte in an address", ["RFC 4475 3.1.1.4"], message(replace={"To": "<sip:null-%00-null@contoso.com>"}))
    kept(
        "uri-parameters",
        "parameters and headers of an address",
        ["RFC 3261 19.1.1"],
        message("SUBSCRIBE sip:bob;day=tuesday@contoso.com:5061;transport=tls;lr;maddr=192.0.2.1 SIP/2.0"),
    )
    kept(
        "uri-semicolon-user",
        "a semicolon in the user part",
        ["RFC 4475 3.1.1.9"],
        message("OPTIONS sip:user;par=u%40example.net@contoso.com SIP/2.0", method="OPTIONS"),
    )
    kept(
        "uri-tel",
        "an address of another scheme",
        ["RFC 3966", "RFC 3261 19.1"],
        message("SUBSCRIBE tel:+4930123456 SIP/2.0", replace={"To": "<tel:+4930123456>"}),
    )
    kept(
        "uri-unknown-scheme",
        "an address of a scheme that nobody knows",
        ["RFC 4475 3.3.2"],
        message("OPTIONS nobodyKnowsThisScheme:totallyopaquecontent SIP/2.0", method="OPTIONS"),
    )
    kept(
        "uri-ipv6",
        "an address of IPv6",
        ["RFC 5118 4.1"],
        message("SUBSCRIBE sip:bob@[2001:db8::10]:5070 SIP/2.0", replace={"Via": "SIP/2.0/TCP [2001:db8::9:1];branch=z9hG4bK1"}),
    )
    kept(
        "via-ipv6-received",
        "received in IPv6, bare and in brackets",
        ["RFC 5118 4.5"],
        message(replace={"Via": "SIP/2.0/UDP [2001:db8::9:1];received=2001:db8::9:255;branch=z9hG4bK1"}),
    )
    kept(
        "via-many",
        "many Via headers, some combined",
        ["RFC 3261 7.3.1", "RFC 3261 20.42"],
        message(
            more=[
                ("Via", "SIP/2.0/UDP 192.0.2.11;branch=z9hG4bK2, SIP/2.0/TLS 192.0.2.12;branch=z9hG4bK3"),
                ("Via", "SIP/2.0/SCTP 192.0.2.13;branch=z9hG4bK4;received=192.0.2.14;rport=5060"),
            ]
        ),
    )
    kept(
        "routes",
        "a route set",
        ["RFC 3261 20.34"],
        message(more=[("Route", "<sip:p1.example.org;lr>, <sip:p2.example.org;lr>"), ("Record-Route", "<sip:p3.example.org;lr>")]),
    )
    kept("cseq-largest", "the greatest number of a CSeq", ["RFC 3261 8.1.1.5"], message(replace={"CSeq": "2147483647 SUBSCRIBE"}))
    kept(
        "body-binary",
        "a body of any bytes",
        ["RFC 3261 7.4", "RFC 4475 3.1.1.11"],
        message("MESSAGE sip:bob@contoso.com SIP/2.0", [("Content-Type", "application/octet-stream")], bytes(range(256)), method="MESSAGE"),
    )
    kept(
        "body-crlf",
        "a body of empty lines",
        ["RFC 3261 7.4"],
        message("MESSAGE sip:bob@contoso.com SIP/2.0", [("Content-Type", "text/plain")], "\r\n\r\n\r\n", method="MESSAGE"),
    )
    kept(
        "body-multipart",
        "categories in a multipart answer",
        ["MS-PRES 3.4.5.1.4", "RFC 2387"],
        message(
            "SIP/2.0 200 OK",
            [("Content-Type", 'multipart/related;type="application/rlmi+xml";start=resourceList;boundary=b1')],
            "--b1\r\nContent-Transfer-Encoding: binary\r\nContent-ID: resourceList\r\nContent-Type: application/rlmi+xml\r\n\r\n"
            '<list xmlns="urn:ietf:params:xml:ns:rlmi" uri="sip:alice@contoso.com" version="0" fullState="false"/>\r\n--b1--\r\n',
        ),
    )

    # Written in the common form: the meaning stays.
    bare = message()
    read(
        "compact-all",
        "compact names of headers",
        ["RFC 3261 7.3.3"],
        message(
            without=[name for name, _ in HEAD],
            length=False,
            more=[
                ("v", "SIP/2.0/TCP 192.0.2.10:5060;branch=z9hG4bK1"),
                ("Max-Forwards", "70"),
                ("f", "<sip:alice@example.org>;tag=a1"),
                ("t", "<sip:bob@contoso.com>"),
                ("i", "1@192.0.2.10"),
                ("CSeq", "1 SUBSCRIBE"),
                ("m", "<sip:alice@192.0.2.10>"),
                ("o", "presence"),
                ("k", "eventlist"),
                ("u", "presence"),
                ("s", "lunch"),
                ("e", "identity"),
                ("c", "text/plain"),
                ("l", "0"),
            ],
        ),
    )
    read(
        "folded",
        "values folded over several lines",
        ["RFC 3261 7.3.1", "RFC 4475 3.1.1.1"],
        bare.replace(b"<sip:bob@contoso.com>\r\n", b"\r\n <sip:bob@contoso.com>\r\n\t;x=y\r\n"),
    )
    read(
        "spaces",
        "white space around colons and separators",
        ["RFC 3261 7.3.1", "RFC 4475 3.1.1.1"],
        bare.replace(b"Max-Forwards: 70", b"Max-Forwards \t:  70 ").replace(b";tag=a1", b" ; tag = a1"),
    )
    read(
        "case",
        "names of headers in any case",
        ["RFC 3261 7.3.1"],
        bare.replace(b"Call-ID", b"cALL-iD").replace(b"CSeq", b"cSEQ").replace(b"Via:", b"VIA:"),
    )
    read(
        "no-length",
        "without Content-Length a datagram's body is the rest of it",
        ["RFC 3261 18.3"],
        message("MESSAGE sip:bob@contoso.com SIP/2.0", [("Content-Type", "text/plain")], "hello", method="MESSAGE", length=False),
    )
    read(
        "extra-bytes",
        "a datagram longer than Content-Length: the rest is dropped",
        ["RFC 3261 18.3", "RFC 4475 3.1.1.10"],
        message("MESSAGE sip:bob@contoso.com SIP/2.0", [("Content-Type", "text/plain")], "hello there", method="MESSAGE", length=5),
    )
    read("leading-lines", "empty lines before a message", ["RFC 3261 7.5"], b"\r\n\r\n" + bare)

    # Refused.
    refused("empty", "nothing at all", rfc, b"\r\n", "400")
    refused("start-line", "a start line of one word", rfc, message("SUBSCRIBE"))
    refused(
        "start-line-spaces",
        "more than one blank in a request line",
        ["RFC 3261 25.1", "RFC 4475 3.1.2.8"],
        message("SUBSCRIBE  sip:bob@contoso.com  SIP/2.0"),
    )
    refused("start-line-trailing", "a blank after the version", ["RFC 4475 3.1.2.9"], message("SUBSCRIBE sip:bob@contoso.com SIP/2.0 "))
    refused(
        "version",
        "another version of SIP",
        ["RFC 3261 21.5.6", "RFC 4475 3.1.2.16"],
        message("SUBSCRIBE sip:bob@contoso.com SIP/7.0"),
        "505",
    )
    refused("uri-brackets", "a request URI in angle brackets", ["RFC 4475 3.1.2.7"], message("SUBSCRIBE <sip:bob@contoso.com> SIP/2.0"))
    refused("uri-blank", "a blank in a request URI", ["RFC 4475 3.1.2.8"], message("SUBSCRIBE sip:bob@contoso.com; lr SIP/2.0"))
    refused("status-large", "a status of four digits", ["RFC 4475 3.1.2.19"], message("SIP/2.0 4294967301 better not break the receiver"))
    refused("status-word", "a status that is no number", ["RFC 3261 25.1"], message("SIP/2.0 OK 200"))
    for name in ("Via", "From", "To", "Call-ID", "CSeq"):
        refused(f"missing-{name.lower()}", f"a request without {name}", ["RFC 3261 8.1.1", "RFC 4475 3.3.1"], message(without=[name]), name)
    for name, value in (
        ("From", "<sip:carol@example.org>;tag=c"),
        ("To", "<sip:carol@example.org>"),
        ("Call-ID", "2@192.0.2.10"),
        ("CSeq", "2 SUBSCRIBE"),
    ):
        refused(f"twice-{name.lower()}", f"two {name} headers", ["RFC 3261 7.3.1", "RFC 4475 3.3.8"], message(more=[(name, value)]), name)
    for stem, value in (
        ("negative", "-1 SUBSCRIBE"),
        ("large", "36893488147419103232 SUBSCRIBE"),
        ("word", "one SUBSCRIBE"),
        ("bare", "1"),
        ("method", "1 NOTIFY"),
    ):
        refused(f"cseq-{stem}", f"a CSeq of '{value}'", ["RFC 3261 20.16", "RFC 4475 3.1.2.4"], message(replace={"CSeq": value}), "CSeq")
    refused("length-short", "less body than Content-Length", ["RFC 3261 18.3", "RFC 4475 3.1.2.2"], message(length=5), "Content-Length")
    refused("length-negative", "a negative Content-Length", ["RFC 4475 3.1.2.3"], message(length=-999), "Content-Length")
    refused("length-word", "a Content-Length that is no number", ["RFC 3261 20.14"], message(length="many"), "Content-Length")
    refused(
        "length-large", "a Content-Length beyond any number", ["RFC 3261 20.14"], message(length=99999999999999999999), "Content-Length"
    )
    refused(
        "length-twice", "two Content-Lengths that differ", ["RFC 3261 20.14"], message(more=[("Content-Length", "3")]), "Content-Length"
    )
    refused(
        "length-missing-stream",
        "a stream cannot go on without Content-Length",
        ["RFC 3261 18.3"],
        message(length=False),
        "Content-Length",
        stream=True,
    )
    refused("header-colon", "a header without colon", ["RFC 3261 7.3.1"], bare.replace(b"Max-Forwards: 70", b"Max-Forwards 70"))
    refused("header-name", "a header whose name is no token", ["RFC 3261 25.1"], message(more=[("Bad Name", "x")]))
    refused("header-control", "a zero byte in a header", ["RFC 3261 25.1"], message(more=[("Subject", "a\x00b")]))
    refused("quote-open", "a quote without end", ["RFC 4475 3.1.2.6"], message(replace={"To": '"Bob <sip:bob@contoso.com>'}), "To")
    refused(
        "bracket-open",
        "an angle bracket without end",
        ["RFC 4475 3.1.2.13"],
        message(replace={"From": "<sip:alice@example.org;tag=a1"}),
        "From",
    )
    refused("via-broken", "a Via that is none", ["RFC 3261 20.42"], message(replace={"Via": "UDP 192.0.2.10"}), "Via")
    refused("no-end", "headers that never end", ["RFC 3261 7"], bare[:-2])
    refused("not-sip", "another protocol", rfc, b"GET / HTTP/1.1\r\nHost: www.example.org\r\n\r\n")
