"""Documents that are read and written again: what is said stays, in its place, and so does what nobody knows."""

import tables
import payloads as xml
from payloads import E, MS

HANA = "sip:hana@example.org"
IVAN = "sip:ivan@contoso.com"
TIME = "2026-11-22T09:30:00.000"


def tuple_(*after, **more):
    return xml.pidf(HANA, xml.tuple_("open", *after, id="t", contact=HANA, **more))


def person(*inner):
    return xml.pidf(HANA, xml.tuple_("open", id="t", contact=HANA), xml.person(*inner, id="p"))


def supported(name, good=(), bad=()):
    parts = []
    if good:
        parts.append(E("caps:supported", None, *[value if isinstance(value, E) else E("caps:" + value) for value in good]))
    if bad:
        parts.append(E("caps:notsupported", None, *[value if isinstance(value, E) else E("caps:" + value) for value in bad]))
    return E("caps:" + name, None, *parts)


def write(suite):
    def kept(format, stem, comment, spec, element):
        suite.add(f"documents/{format}/{stem}", comment, spec, element.document(), format=format, roundtrip=True)

    def refused(format, stem, comment, spec, element, error):
        suite.add(f"documents/{format}/{stem}", comment, spec, element.document(), format=format, result="invalid", error=error)

    # PIDF: every element of RPID with every registered value.
    for name, values, spec in (("activities", list(tables.ACTIVITIES)[:-1], "RFC 4480 3.2"), ("mood", tables.MOODS, "RFC 4480 3.5")):
        kept(
            "pidf",
            f"rpid-{name}",
            f"every value of {name}",
            [spec],
            person(E("rpid:" + name, None, *[E("rpid:" + value) for value in values])),
        )
    kept(
        "pidf",
        "rpid-place-type",
        "every place",
        ["RFC 4480 3.7", "RFC 4589 5"],
        person(E("rpid:place-type", None, *[E("lt:" + place) for place in list(tables.PLACES)[:-3]])),
    )
    kept(
        "pidf",
        "rpid-times",
        "elements with ids, times and notes",
        ["RFC 4480 3.1"],
        person(
            xml.activities(
                "meeting", from_="2026-11-22T08:00:00Z", until="2026-11-22T09:00:00Z", notes=[E("rpid:note", {"xml:lang": "en"}, "Review")]
            ),
            xml.activities("away", from_="2026-11-22T09:00:00Z", until="2026-11-22T10:00:00+01:00"),
        ),
    )
    kept(
        "pidf",
        "rpid-unknown",
        "values and elements of tomorrow",
        ["RFC 4480 3.1"],
        person(E("rpid:activities", None, E("rpid:teleporting"), E("x:gardening", {"x:level": "3"}, "text")), E("rpid:aura", None, "blue")),
    )
    kept(
        "pidf",
        "user-input",
        "input with its threshold",
        ["RFC 4480 3.14"],
        person(E("rpid:user-input", {"idle-threshold": "600", "last-input": "2026-11-22T09:00:00Z"}, "idle")),
    )
    kept(
        "pidf", "time-offset", "a time offset with its label", ["RFC 4480 3.13"], person(E("rpid:time-offset", {"description": "WET"}, "0"))
    )
    kept("pidf", "sphere", "a sphere of another namespace", ["RFC 4480 3.11"], person(E("rpid:sphere", None, E("x:boat"))))
    kept(
        "pidf",
        "cipid",
        "all of CIPID",
        ["RFC 4482 3"],
        person(
            E("ci:card", None, "https://www.example.org/h.vcf"),
            E("ci:display-name", None, "Hana Mori"),
            E("ci:homepage", None, "https://www.example.org/h"),
            E("ci:icon", None, "https://www.example.org/h.png"),
            E("ci:map", None, "https://www.example.org/map"),
            E("ci:sound", None, "https://www.example.org/h.wav"),
        ),
    )
    kept(
        "pidf",
        "servcaps",
        "all of the capabilities of a service",
        ["RFC 5196 3.2"],
        tuple_(
            E(
                "caps:servcaps",
                None,
                supported("actor", ["attendant", "information", "msg-taker", "principal"]),
                E("caps:application", None, "true"),
                E("caps:audio", None, "true"),
                E("caps:automata", None, "false"),
                supported("class", ["business"], ["personal"]),
                E("caps:control", None, "true"),
                E("caps:data", None, "true"),
                E("caps:description", {"xml:lang": "en"}, "Desk"),
                supported("duplex", ["full", "half"], ["receive-only", "send-only"]),
                supported("event-packages", ["presence", "reg", "winfo"], ["kpml"]),
                supported("extensions", ["rel100", "gruu", "timer"], ["pref"]),
                E("caps:isfocus", None, "false"),
                E("caps:message", None, "true"),
                supported("methods", ["ACK", "BYE", "INVITE", "SUBSCRIBE"], ["PUBLISH"]),
                supported("languages", [E("caps:l", None, "en"), E("caps:l", None, "pt")]),
                supported("priority", [E("caps:equals", {"value": "3"}), E("caps:range", {"minvalue": "1", "maxvalue": "2"})]),
                supported("schemes", [E("caps:s", None, "sip")], [E("caps:s", None, "h323")]),
                E("caps:text", None, "true"),
                E("caps:type", None, "model"),
                E("caps:video", None, "false"),
            )
        ),
    )
    kept(
        "pidf",
        "devcaps",
        "capabilities of a device",
        ["RFC 5196 3.3"],
        xml.pidf(
            HANA,
            xml.tuple_("open", id="t"),
            E(
                "dm:device",
                {"id": "d"},
                E("caps:devcaps", None, E("caps:description", None, "Phone"), supported("mobility", ["mobile"], ["fixed"])),
                E("dm:deviceID", None, "urn:uuid:48662e19-5fbf-43fc-a2fd-d23002787599"),
                E("dm:note", None, "Pocket"),
                E("dm:timestamp", None, "2026-11-22T09:00:00Z"),
            ),
        ),
    )
    kept(
        "pidf",
        "timed-status",
        "future and past",
        ["RFC 4481 2"],
        tuple_(
            E("ts:timed-status", {"from": "2026-11-23T09:00:00Z", "until": "2026-11-23T10:00:00Z"}, E("ts:basic", None, "closed")),
            E("ts:timed-status", {"from": "2026-11-23T10:00:00Z"}, E("ts:basic", None, "open"), E("ts:note", None, "back")),
        ),
    )
    kept(
        "pidf",
        "notes",
        "notes in languages, of document, tuple and person",
        ["RFC 3863 4.1.6"],
        xml.pidf(
            HANA,
            xml.tuple_("open", id="t", notes=[E("note", {"xml:lang": "en"}, "Chat"), E("note", {"xml:lang": "ja"}, "チャット")]),
            E("note", {"xml:lang": "en"}, "Fair"),
            xml.person(E("dm:note", {"xml:lang": "pt"}, "Já volto"), id="p"),
        ),
    )
    kept(
        "pidf",
        "tuples",
        "several tuples",
        ["RFC 3863 4.1.1"],
        xml.pidf(
            HANA,
            xml.tuple_("open", id="a", contact="sip:a@example.org", priority="0.8", timestamp="2026-11-22T09:00:00.25+01:00"),
            xml.tuple_("closed", id="b", contact="tel:+351210000001", priority="1"),
            xml.tuple_(None, id="c"),
        ),
    )
    kept("pidf", "empty", "no tuple", ["RFC 3863 4.1.1"], xml.pidf(HANA))
    kept(
        "pidf",
        "oma",
        "OMA's elements",
        ["OMA Presence SIMPLE data 1.0"],
        xml.pidf(
            HANA,
            xml.tuple_(
                "open",
                E("op:willingness", None, E("op:basic", None, "open")),
                E("op:session-participation", None, E("op:basic", None, "closed")),
                E("op:registration-state", None, "active"),
                E("op:service-description", None, E("op:service-id", None, "org.example.im"), E("op:version", None, "1.0")),
                id="t",
                contact=HANA,
            ),
            xml.person(E("op:overriding-willingness", None, E("op:basic", None, "open")), id="p"),
        ),
    )
    kept(
        "pidf",
        "extensions-everywhere",
        "unknown elements and attributes in every place",
        ["RFC 3863 4.2"],
        E(
            "presence",
            {"xmlns": xml.PIDF, "entity": HANA, "x:a": "1"},
            E(
                "tuple",
                {"id": "t", "x:b": "2"},
                E("status", {"x:c": "3"}, E("basic", None, "open"), E("x:mode", None, "quiet")),
                E("x:in-tuple", None, E("x:deep", {"y": "4"}, "text")),
                E("contact", {"priority": "0.5"}, HANA),
            ),
            xml.person(E("x:in-person"), id="p"),
            E("x:last", None, "end"),
        ),
    )
    kept(
        "pidf",
        "draft",
        "the shape of Microsoft's servers",
        ["MS-PRES 2.2.2.8"],
        xml.pidf(
            HANA,
            xml.tuple_("open", status=xml.draft_status("on-the-phone"), id="0"),
            E(
                "linked-identities",
                {"primary-id": "hana@example.org"},
                E("secondary-identities", None, E("secondary-identity", None, "h@example.net")),
            ),
            E("cid", None, "42"),
            E("ci:display-name", None, "Hana Mori"),
        ),
    )
    refused("pidf", "no-device-id", "a device without deviceID", ["RFC 4479 3.4"], xml.pidf(HANA, E("dm:device", {"id": "d"})), "deviceID")

    # Bodies of categories.
    kept(
        "state",
        "full",
        "all of an aggregate",
        ["MS-PRES 7.2"],
        xml.state(
            6500,
            xml.activity("in-a-meeting", [(1033, "Budget"), (1031, "Haushalt")], 6500, 8999),
            location="office",
            subject=("Budget", 1033),
            place=("Room 7", 1033),
            bias=-60,
            zone="W. Europe Standard Time",
            abbreviation="CET",
            device="computer",
            lastActive="2026-11-22T09:00:00",
        ),
    )
    for kind in ("userState", "machineState", "phoneState", "calendarState", "presentingState", "aggregateMachineState", "futureState"):
        kept(
            "state",
            kind.lower(),
            f"a state of type {kind}",
            ["MS-PRES 7.2"],
            xml.state(3500, type=kind, manual="true", startTime="2026-11-22T09:00:00Z"),
        )
    kept(
        "state", "unbounded", "bounds without end", ["MS-PRES 7.2"], xml.state(15500, xml.activity("out-of-office", (), 12000, "unbounded"))
    )
    kept(
        "state",
        "extension",
        "an extension behind the end",
        ["MS-PRES 7.1"],
        E(
            "state",
            {"xmlns": MS + "state", "xsi:type": "userState"},
            E("availability", None, 3500),
            xml.common("delimiter"),
            E("device", None, "web"),
            xml.common("end"),
            E("extension", {"xmlns": MS + "commontypes"}, E("x:mine", None, "1")),
        ),
    )
    kept("state", "empty", "a state that says nothing", ["MS-PRES 3.8.5.4"], xml.state(None, type="userState"))
    kept(
        "note",
        "two",
        "a personal note and one of the mailbox",
        ["MS-PRES 4.2"],
        xml.note(
            "Back at ten", ("Away until Friday", {"type": "OOF", "startTime": "2026-11-20T00:00:00Z", "endTime": "2026-11-28T00:00:00Z"})
        ),
    )
    kept("note", "empty", "a note that was cleared", ["MS-PRES 4.2"], xml.note())
    kept(
        "contact-card",
        "full",
        "all of a card",
        ["MS-PRES 7.3"],
        xml.card(
            E(
                "address",
                {"type": "work"},
                E("street", None, "Bridge Road 1"),
                E("city", None, "Berlin"),
                E("state", None, "BE"),
                E("zipcode", None, "10115"),
                E("countryCode", None, "DE"),
            ),
            E("company", None, "Contoso"),
            E("department", None, "Bridges"),
            E("title", {"LCID": "1033"}, "Builder"),
            E("office", None, "4/1130"),
            names=[(1033, "Ivan Petrov")],
            emails=["ivan@contoso.com"],
            phones=[("work", "tel:+4930123456", "+49 30 123456"), ("custom1", "tel:+4930888", None)],
            urls=[("sharepoint", "https://my.contoso.com/ivan")],
            photo="https://www.contoso.com/ivan.png",
        ),
    )
    kept(
        "services",
        "full",
        "services with capabilities",
        ["MS-PRES 7.5"],
        xml.services(IVAN, xml.capability("text", 3500), xml.capability("voice", 3500, "true", "false"), xml.capability("hologram", 3500)),
    )
    kept("services", "empty", "no services", ["MS-PRES 7.5"], xml.services())
    kept(
        "device",
        "full",
        "what an endpoint can do",
        ["MS-PRES 7.4"],
        E(
            "device",
            {"xmlns": MS + "device", "endpointId": "a8f9a3a8-ee61-56d7-b306-c67b08fb28d8"},
            E(
                "capabilities",
                {"preferred": "false", "uri": IVAN},
                E("text", {"render": "true", "capture": "true", "publish": "false"}),
                E("ucs", {"render": "true"}),
            ),
            E("timezone", None, "00:00:00-01:00"),
            E("machineName", None, "desk1"),
        ),
    )
    kept("calendar-data", "free-busy", "slots", ["MS-PRES 7.8"], xml.free_busy("ivan@contoso.com", "2026-11-22T00:00:00Z", "Cg=="))
    types = "http://schemas.microsoft.com/exchange/services/2006/types"

    def change(name, bias, month):
        return E(
            name,
            None,
            E("Bias", None, bias),
            E("Time", None, "02:00:00"),
            E("DayOrder", None, "5"),
            E("Month", None, month),
            E("DayOfWeek", None, "Sunday"),
        )

    kept(
        "calendar-data",
        "working-hours",
        "working hours",
        ["MS-PRES 7.8"],
        E(
            "calendarData",
            {"xmlns": MS + "calendarData", "mailboxID": "ivan@contoso.com"},
            E(
                "WorkingHours",
                {"xmlns": types},
                E("TimeZone", None, E("Bias", None, "-60"), change("StandardTime", 0, 10), change("DaylightTime", -60, 3)),
                E(
                    "WorkingPeriodArray",
                    None,
                    E(
                        "WorkingPeriod",
                        None,
                        E("DayOfWeek", None, "Monday Tuesday Friday"),
                        E("StartTimeInMinutes", None, "480"),
                        E("EndTimeInMinutes", None, "1020"),
                    ),
                ),
            ),
        ),
    )
    kept("legacy-interop", "full", "number, token and flag", ["MS-PRES 7.7"], xml.legacy(9500, "in-presentation", "true"))
    kept(
        "legacy-interop",
        "attribute",
        "an attribute of tomorrow",
        ["MS-PRES 7.7"],
        E("legacyInterop", {"xmlns": MS + "categories", "availability": "3500", "mood": "fine"}),
    )

    # Documents of MS-PRES.
    unknown = E("own", {"xmlns": "urn:example:own", "a": "1"}, E("part", None, "text"), E("x:other", None, "more"))
    kept(
        "categories",
        "watcher",
        "what a watcher gets",
        ["MS-PRES 2.2.2.1"],
        xml.categories(
            IVAN,
            xml.category("state", xml.state(3500), 1, TIME),
            E("category", {"name": "note"}),
            xml.category("services", xml.services(), 0, TIME),
        ),
    )
    kept(
        "categories",
        "self",
        "what the user's own endpoint gets",
        ["MS-PRES 2.2.2.1"],
        xml.categories(
            IVAN,
            E(
                "category",
                {
                    "name": "state",
                    "instance": "268435456",
                    "publishTime": TIME,
                    "container": "2",
                    "version": "7",
                    "expireType": "user",
                    "endpointId": "a8f9",
                    "expires": "600",
                },
                xml.state(3500),
            ),
        ),
    )
    kept(
        "categories",
        "private",
        "private categories pass through",
        ["MS-PRES 2.2.2.7"],
        xml.categories(
            IVAN,
            xml.category(
                "routing",
                E("routing", {"xmlns": "http://schemas.microsoft.com/02/2006/sip/routing", "name": "rtcdefault", "version": "1"}),
                0,
                TIME,
            ),
            xml.category("mwi", E("mwi", {"xmlns": MS + "mwi", "messageWaiting": "true", "unreadVoiceMailCount": "2"}), 0, TIME),
            xml.category(
                "userProperties", E("userProperties", None, E("lines", None, E("line", {"lineType": "Uc"}, "tel:+4930123456"))), 0, TIME
            ),
        ),
    )
    kept(
        "categories",
        "unknown",
        "a category that nobody knows, with its body",
        ["MS-PRES 2.2.2.7"],
        xml.categories(IVAN, xml.category("own", unknown, 3, TIME)),
    )
    kept("categories", "empty", "no categories", ["MS-PRES 2.2.2.1"], xml.categories(IVAN))
    kept(
        "msrtc",
        "full",
        "all of msrtc.pidf",
        ["MS-PRES 9", "MS-SIP 2.2.1"],
        xml.msrtc(
            "ivan@contoso.com",
            300,
            600,
            6500,
            "busy",
            "Ivan Petrov",
            "ivan@contoso.com",
            "+49 30 123456",
            extra=[
                E("userInfo", None, E("note", None, "Back at ten")),
                E(
                    "devices",
                    None,
                    E(
                        "devicePresence",
                        {"epid": "84d3db8c23", "ageOfPresence": "12"},
                        E("availability", {"aggregate": "300"}),
                        E("activity", {"aggregate": "600"}),
                        E("deviceName", {"name": "desk1"}),
                    ),
                ),
            ],
        ),
    )
    kept(
        "xpidf",
        "full",
        "two addresses",
        ["draft-ietf-impp-cpim-pidf"],
        E(
            "presence",
            None,
            E("presentity", {"uri": HANA + ";method=SUBSCRIBE"}),
            E("display", {"name": "Hana Mori"}),
            E(
                "atom",
                {"id": "1"},
                E(
                    "address",
                    {"uri": HANA, "priority": "0.8"},
                    E("status", {"status": "open"}),
                    E("msnsubstatus", {"substatus": "online"}),
                    E("note", None, "here"),
                ),
                E("address", {"uri": "sip:h@example.net", "priority": "0.1"}, E("status", {"status": "closed"})),
            ),
        ),
    )
    kept(
        "rlmi",
        "resubscribe",
        "resources of another pool",
        ["MS-PRES 2.2.2.4", "RFC 4662 5"],
        E(
            "list",
            {"xmlns": "urn:ietf:params:xml:ns:rlmi", "uri": "sip:alice@contoso.com", "version": "0", "fullState": "false"},
            E(
                "resource",
                {"uri": "sip:ivan@contoso.com"},
                E("instance", {"id": "0", "state": "resubscribe", "cid": "ivan@contoso.com", "poolFqdn": "pool2.contoso.com"}),
            ),
            E(
                "resource",
                {"uri": "sip:no@contoso.com"},
                E("instance", {"id": "0", "state": "terminated", "reason": "noresource", "statusCode": "404"}),
            ),
        ),
    )
    kept(
        "watcherinfo",
        "full",
        "an active, a pending and a waiting watcher",
        ["RFC 3858 4"],
        E(
            "watcherinfo",
            {"xmlns": "urn:ietf:params:xml:ns:watcherinfo", "version": "0", "state": "full"},
            E(
                "watcher-list",
                {"resource": "sip:alice@example.com", "package": "presence"},
                E(
                    "watcher",
                    {
                        "id": "w1", "status": "active", "event": "approved", "display-name": "Ivan", "expiration": "3120",
                        "duration-subscribed": "480",
                    },
                    "sip:ivan@contoso.com",
                ),
                E("watcher", {"id": "w2", "status": "pending", "event": "subscribe"}, "sip:h@example.net"),
                E("watcher", {"id": "w3", "status": "waiting", "event": "timeout"}, "sip:anonymous@anonymous.invalid"),
            ),
        ),
    )
    bindings = E(
        "ns-bindings",
        None,
        E("ns-binding", {"prefix": "pidf", "urn": "urn:ietf:params:xml:ns:pidf"}),
        E("ns-binding", {"prefix": "rpid", "urn": "urn:ietf:params:xml:ns:pidf:rpid"}),
    )
    kept(
        "simple-filter",
        "content",
        "content by expression and by namespace, for a resource and a domain",
        ["RFC 4661 3.5"],
        E(
            "filter-set",
            {"xmlns": "urn:ietf:params:xml:ns:simple-filter", "package": "presence"},
            bindings,
            E(
                "filter",
                {"id": "f1", "uri": "sip:alice@example.com"},
                E(
                    "what",
                    None,
                    E("include", None, '/pidf:presence/pidf:tuple[rpid:class="IM" or rpid:class="SMS"]/pidf:status/pidf:basic'),
                    E("include", {"type": "namespace"}, "urn:ietf:params:xml:ns:pidf:rpid"),
                    E("exclude", None, "//rpid:sphere"),
                ),
            ),
            E("filter", {"id": "f2", "domain": "example.net", "enabled": "false"}),
        ),
    )
    kept(
        "simple-filter",
        "triggers",
        "alternatives of changed, added and removed, and a removed filter",
        ["RFC 4661 3.6", "RFC 4660 5.2.2"],
        E(
            "filter-set",
            {"xmlns": "urn:ietf:params:xml:ns:simple-filter"},
            bindings,
            E(
                "filter",
                {"id": "f1"},
                E("trigger", None, E("changed", {"from": "closed", "to": "open"}, "//pidf:basic")),
                E(
                    "trigger",
                    None,
                    E("changed", {"by": "0.5"}, "//pidf:contact/@priority"),
                    E("added", None, "//pidf:tuple"),
                    E("removed", None, "//rpid:activities"),
                ),
            ),
            E("filter", {"id": "f2", "remove": "true"}),
        ),
    )
    kept(
        "category-publish",
        "two",
        "a state published and a note removed",
        ["MS-PRES 2.2.2.2"],
        E(
            "publish",
            {"xmlns": MS + "rich-presence"},
            E(
                "publications",
                {"uri": IVAN},
                E(
                    "publication",
                    {"categoryName": "state", "instance": "805306368", "container": "2", "version": "1", "expireType": "endpoint"},
                    xml.state(3500, type="machineState"),
                ),
                E(
                    "publication",
                    {"categoryName": "note", "instance": "0", "container": "200", "version": "3", "expireType": "static", "expires": "0"},
                ),
            ),
        ),
    )
    kept(
        "batch-subscribe",
        "two",
        "two contacts, three categories",
        ["MS-PRES 2.2.2.4"],
        E(
            "batchSub",
            {"xmlns": "http://schemas.microsoft.com/2006/01/sip/batch-subscribe", "uri": IVAN, "name": "b"},
            E(
                "action",
                {"name": "subscribe", "id": "1"},
                E("adhocList", None, E("resource", {"uri": "sip:a@contoso.com"}), E("resource", {"uri": "sip:b@fabrikam.com"})),
                E(
                    "categoryList",
                    {"xmlns": MS + "categorylist"},
                    *[E("category", {"name": name}) for name in ("state", "note", "contactCard")],
                ),
            ),
        ),
    )
    kept(
        "roaming-list",
        "all",
        "what the user's own endpoint asks for",
        ["MS-PRES 2.2.2.3.1"],
        E(
            "roamingList",
            {"xmlns": MS + "roaming-self"},
            *[E("roaming", {"type": kind}) for kind in ("categories", "containers", "subscribers")],
        ),
    )
    containers = E(
        "containers",
        {"xmlns": MS + "containers"},
        E("container", {"id": "0", "version": "0"}, E("member", {"type": "everyone"})),
        E(
            "container",
            {"id": "200", "version": "4"},
            E("member", {"type": "sameEnterprise"}),
            E("member", {"type": "user", "value": "tom@fabrikam.com"}),
        ),
    )
    subscribers = E(
        "subscribers",
        {"xmlns": MS + "presence-subscribers"},
        E("subscriber", {"user": "tom@fabrikam.com", "displayName": "Tom", "acknowledged": "false", "type": "federated"}),
    )
    kept(
        "roaming-data",
        "all",
        "categories, containers and subscribers",
        ["MS-PRES 2.2.2.3.2"],
        E(
            "roamingData",
            {"xmlns": MS + "roaming-self"},
            E("categories", {"xmlns": MS + "categories", "uri": IVAN}),
            containers,
            subscribers,
        ),
    )
    kept(
        "containers",
        "members",
        "members of every kind",
        ["MS-PRES 2.2.2.5"],
        E(
            "containers",
            {"xmlns": MS + "containers"},
            E(
                "container",
                {"id": "300", "version": "1"},
                *[
                    E("member", {"type": kind, "value": value})
                    for kind, value in (
                        ("user", "tom@fabrikam.com"),
                        ("domain", "fabrikam.com"),
                        ("sameEnterprise", None),
                        ("federated", None),
                        ("publicCloud", None),
                        ("everyone", None),
                    )
                ],
            ),
        ),
    )
    kept(
        "set-container-members",
        "change",
        "members added and removed",
        ["MS-PRES 2.2.2.5.1"],
        E(
            "setContainerMembers",
            {"xmlns": MS + "container-management"},
            E(
                "container",
                {"id": "300", "version": "2"},
                E("member", {"action": "add", "type": "user", "value": "tom@fabrikam.com"}),
                E("member", {"action": "remove", "type": "domain", "value": "fabrikam.com"}),
            ),
        ),
    )
    kept("subscribers", "two", "who subscribes", ["MS-PRES 2.2.2.6"], subscribers)
    kept(
        "fault",
        "version",
        "a publication of an old version",
        ["MS-PRES 2.2.2.2.3"],
        E(
            "Fault",
            None,
            E("Faultcode", None, "Client.BadCall.WrongDelta"),
            E("details", None, E("operation", {"index": "1", "version": "3", "curVersion": "5"})),
        ),
    )
    refused(
        "category-publish",
        "no-version",
        "a publication without version",
        ["MS-PRES 6.3"],
        E(
            "publish",
            {"xmlns": MS + "rich-presence"},
            E(
                "publications",
                {"uri": IVAN},
                E("publication", {"categoryName": "state", "instance": "0", "container": "2", "expireType": "static"}),
            ),
        ),
        "version",
    )
    refused(
        "containers",
        "number",
        "a container beyond 32767",
        ["MS-PRES 2.2.2.5"],
        E("containers", {"xmlns": MS + "containers"}, E("container", {"id": "32768", "version": "0"})),
        "container",
    )
    refused(
        "batch-subscribe",
        "no-uri",
        "a resource without uri",
        ["MS-PRES 2.2.2.4"],
        E(
            "batchSub",
            {"xmlns": "http://schemas.microsoft.com/2006/01/sip/batch-subscribe"},
            E(
                "action",
                {"name": "subscribe"},
                E("adhocList", None, E("resource")),
                E("categoryList", {"xmlns": MS + "categorylist"}, E("category", {"name": "state"})),
            ),
        ),
        "uri",
    )
