"""PIDF to the enhanced model: cards, capabilities, calendars, several services, persons and devices."""

import base64

import payloads as xml
from details import bits
from rpid import AT, DANA, PUBLISH, answer, document
from payloads import E


def address(uri, *parts, id):
    return E("tuple", {"id": id}, E("status"), *parts, E("contact", None, uri))


def write(suite):
    def to_categories(stem, comment, spec, source, expected, loss=(), **more):
        suite.case("simple/" + stem, comment, spec, "pidf", "categories", source.document(), expected.document(), at=AT, loss=loss, **more)

    # CIPID and addresses.
    to_categories(
        "cipid",
        "name, homepage and icon of CIPID are in the card",
        ["RFC 4482 3", "MS-PRES 7.3"],
        document(
            E("ci:display-name", None, "Dana Ruiz"),
            E("ci:homepage", None, "https://www.example.org/~dana/"),
            E("ci:icon", None, "https://www.example.org/dana.png"),
        ),
        answer(
            3500,
            card=xml.card(
                names=["Dana Ruiz"], urls=[("other", "https://www.example.org/~dana/")], photo="https://www.example.org/dana.png"
            ),
        ),
        rows=["CON-homepage", "CON-photo"],
    )
    to_categories(
        "cipid-rest",
        "card, map and sound have no place in a contact card",
        ["RFC 4482 3"],
        document(
            E("ci:card", None, "https://www.example.org/dana.vcf"),
            E("ci:map", None, "https://www.example.org/map.png"),
            E("ci:sound", None, "https://www.example.org/dana.wav"),
        ),
        answer(3500),
        ["FLD-card"],
    )
    to_categories(
        "cipid-in-presence",
        "MS-PRES servers put the name under presence",
        ["MS-PRES 2.2.2.8"],
        xml.pidf(DANA, xml.tuple_("open", id="0"), E("ci:display-name", None, "Dana Ruiz")),
        answer(3500, card=xml.card(names=["Dana Ruiz"])),
    )
    to_categories(
        "cipid-in-tuple",
        "CIPID may stand in a tuple",
        ["RFC 4482 2"],
        document(after=[E("ci:display-name", None, "Dana Ruiz")]),
        answer(3500, card=xml.card(names=["Dana Ruiz"])),
    )
    to_categories(
        "addresses",
        "numbers and mailboxes are tuples without a status",
        ["RFC 3863 4.1.5", "MS-PRES 7.3"],
        xml.pidf(
            DANA,
            xml.tuple_("open", id="im", contact=DANA),
            address("tel:+351210000001", E("rpid:class", None, "work"), id="a"),
            address("tel:+351910000002", E("rpid:class", None, "mobile"), id="b"),
            address("tel:+351210000003", E("rpid:class", None, "home"), id="c"),
            address("tel:+351210000004", id="d"),
            address("tel:+351210000005", E("rpid:relationship", None, E("rpid:assistant")), id="e"),
            address("mailto:dana@example.org", id="f"),
        ),
        answer(
            3500,
            card=xml.card(
                emails=["dana@example.org"],
                phones=[
                    ("work", "tel:+351210000001", None),
                    ("mobile", "tel:+351910000002", None),
                    ("home", "tel:+351210000003", None),
                    ("other", "tel:+351210000004", None),
                    ("other", "tel:+351210000005", None),
                ],
            ),
        ),
        rows=["CON-work", "CON-mobile", "CON-home", "CON-other", "CON-assist", "CON-email"],
    )

    # Capabilities.
    def caps(*pairs):
        return E("caps:servcaps", None, *[E("caps:" + name, None, value) for name, value in pairs])

    to_categories(
        "servcaps",
        "capabilities that both sides know",
        ["RFC 5196 3.2", "MS-PRES 7.5"],
        document(
            after=[
                caps(
                    ("application", "true"),
                    ("audio", "true"),
                    ("control", "true"),
                    ("data", "true"),
                    ("isfocus", "true"),
                    ("message", "true"),
                    ("video", "true"),
                )
            ]
        ),
        answer(
            3500,
            offer=[
                xml.capability(name, 3500)
                for name in ("applicationSharing", "voice", "remoteCallControl", "contentNativeFile", "CCCP", "text", "video")
            ],
        ),
        rows=["CAP-text", "CAP-voice", "CAP-video", "CAP-appshare", "CAP-data", "CAP-focus", "CAP-control"],
    )
    to_categories(
        "servcaps-text",
        "text is real-time text, shown as text",
        ["RFC 5196 3.2.17", "policy"],
        document(after=[caps(("text", "1"))]),
        answer(3500),
        rows=["CAP-text2"],
    )
    to_categories(
        "servcaps-false",
        "a capability that is not supported is neither rendered nor captured",
        ["RFC 5196 3.2"],
        document(after=[caps(("audio", "false"), ("message", "true"), ("video", "0"))]),
        answer(
            3500,
            offer=[
                xml.capability("voice", 3500, "false", "false"),
                xml.capability("text", 3500),
                xml.capability("video", 3500, "false", "false"),
            ],
        ),
    )
    to_categories(
        "servcaps-busy",
        "the availability of the device is the usual number of the class",
        ["MS-PRES 7.5", "policy"],
        document(xml.activities("busy"), after=[caps(("message", "true"))]),
        answer(6500),
    )
    to_categories(
        "services-none", "without capabilities a conversation is offered", ["policy"], document(), answer(3500), rows=["CAP-text"]
    )

    # Timed status.
    def timed(start, end, basic, *names):
        inner = [E("ts:basic", None, basic)] if basic else []
        return E("ts:timed-status", {"from": start, "until": end}, *inner, *([xml.activities(*names)] if names else []))

    def calendar(start, slots):
        return xml.free_busy("dana@example.org", start, base64.b64encode(bits(slots)).decode())

    for stem, basic, names, slot, row, loss in (
        ("busy", "open", ["busy"], 2, "FB-2", []),
        ("appointment", "open", ["appointment"], 1, "FB-1", []),
        ("away", "closed", ["away"], 3, "FB-3", []),
        ("away-open", "open", ["away"], 3, "FB-R7", []),
        ("meeting", "open", ["meeting"], 2, "FB-R1", []),
        ("phone", "open", ["on-the-phone"], 2, "FB-R2", []),
        ("presentation", "open", ["presentation"], 2, "FB-R3", []),
        ("vacation", None, ["vacation"], 3, "FB-R4", []),
        ("holiday", None, ["holiday"], 3, "FB-R5", []),
        ("travel", None, ["travel"], 3, "FB-R6", []),
        ("closed", "closed", [], 3, "FB-R8", []),
        ("open", "open", [], 2, "FB-R9", ["FB-R9"]),
        ("nothing", None, [], 2, "FB-R0", ["FB-R0"]),
    ):
        to_categories(
            f"timed-{stem}",
            "a timed status is busy time, and never the state of now",
            ["RFC 4481 2", "MS-PRES 2.2.2.7.8"],
            document(after=[timed("2026-11-22T14:00:00Z", "2026-11-22T15:00:00Z", basic, *names)]),
            answer(3500, calendar=calendar("2026-11-22T14:00:00Z", [slot] * 4)),
            loss,
            rows=[row],
        )
    to_categories(
        "timed-elsewhere",
        "working elsewhere has no slot in the old encoding and is written busy",
        ["MS-PRES 2.2.2.7.8"],
        document(after=[timed("2026-11-22T14:00:00Z", "2026-11-22T15:00:00Z", "open", "working")]),
        answer(3500, calendar=calendar("2026-11-22T14:00:00Z", [2] * 4)),
        rows=["FB-4"],
    )
    to_categories(
        "timed-several",
        "free time between, and slots that begin inside a quarter of an hour",
        ["RFC 4481 2", "policy"],
        document(
            after=[
                timed("2026-11-22T14:05:00Z", "2026-11-22T14:20:00Z", "open", "busy"),
                timed("2026-11-22T15:00:00Z", "2026-11-22T15:30:00Z", "closed", "away"),
            ]
        ),
        answer(3500, calendar=calendar("2026-11-22T14:00:00Z", [2, 2, 0, 0, 3, 3])),
    )

    # Several services.
    def two(first, second):
        return xml.pidf(DANA, first, second)

    mobile = "sip:dana.mobile@example.org"

    def other(number, contact, **more):
        found = answer(number, **more)
        return (
            found.document()
            .replace(f'uri="{DANA}">', f'uri="{contact}">')
            .replace(
                f'<categories xmlns="{xml.MS}categories" xmlns:xsi="{xml.NAMESPACES["xsi"]}" uri="{contact}">',
                f'<categories xmlns="{xml.MS}categories" xmlns:xsi="{xml.NAMESPACES["xsi"]}" uri="{DANA}">',
            )
        )

    def tuples(stem, comment, spec, source, expected, loss=(), **more):
        suite.case("simple/" + stem, comment, spec, "pidf", "categories", source.document(), expected, at=AT, loss=loss, **more)

    tuples(
        "tuples-open",
        "one open service makes the presentity available",
        ["RFC 3863 4.1.4", "policy"],
        two(xml.tuple_("closed", id="a", contact=DANA, priority="1"), xml.tuple_("open", id="b", contact=mobile, priority="0.1")),
        other(3500, mobile),
        ["FLD-tuples"],
        rows=["CMB-T1"],
    )
    tuples(
        "tuples-priority",
        "of two open services the one of greater priority decides",
        ["RFC 3863 4.1.5", "policy"],
        two(xml.tuple_("open", id="a", contact=DANA, priority="0.2"), xml.tuple_("open", id="b", contact=mobile, priority="0.8")),
        other(3500, mobile),
        ["FLD-tuples"],
        rows=["CMB-T2"],
    )
    tuples(
        "tuples-timestamp",
        "of two equal services the newer decides",
        ["RFC 3863 4.1.7", "policy"],
        two(
            xml.tuple_("open", id="a", contact=DANA, timestamp="2026-11-22T10:00:00Z"),
            xml.tuple_("open", id="b", contact=mobile, timestamp="2026-11-22T11:00:00Z"),
        ),
        other(3500, mobile, time="2026-11-22T11:00:00.000"),
        ["FLD-tuples"],
        rows=["CMB-T3"],
    )
    tuples(
        "tuples-first",
        "of two services that do not differ the first decides",
        ["policy"],
        two(xml.tuple_("open", id="a", contact=mobile), xml.tuple_("open", id="b", contact=DANA)),
        other(3500, mobile),
        ["FLD-tuples"],
    )
    tuples(
        "tuples-closed",
        "two closed services are offline",
        ["RFC 3863 4.1.4"],
        two(xml.tuple_("closed", id="a", contact=DANA), xml.tuple_("closed", id="b", contact=mobile)),
        answer(18500).document(),
        ["FLD-tuples"],
    )
    tuples(
        "tuples-basic-missing",
        "a service that says nothing does not beat one that is closed",
        ["RFC 3863 4.1.4", "policy"],
        two(xml.tuple_(None, id="a", contact=DANA), xml.tuple_("closed", id="b", contact=mobile)),
        answer(18500).document(),
        ["FLD-tuples"],
    )
    tuples(
        "tuples-none",
        "no tuple at all says nothing about services, a person's activity still counts",
        ["RFC 3863 4.1.1", "RFC 4479 3.2"],
        xml.pidf(DANA, xml.person(xml.activities("busy"), id="dana")),
        answer(6500).document(),
    )
    tuples("tuples-empty", "an empty document says nothing", ["RFC 3863 4.1.1"], xml.pidf(DANA), xml.categories(DANA).document())
    tuples(
        "must-understand",
        "a tuple with something that must be understood and is not does not count",
        ["RFC 3863 4.2.4"],
        two(
            xml.tuple_("open", E("x:vital", {"pidf:mustUnderstand": "1"}), id="a", contact=DANA),
            xml.tuple_("closed", id="b", contact=mobile),
        ),
        answer(18500).document(),
        ["FLD-tuples"],
    )
    tuples(
        "must-understand-not",
        "what need not be understood does not hinder",
        ["RFC 3863 4.2.4"],
        xml.pidf(DANA, xml.tuple_("open", E("x:vital", {"pidf:mustUnderstand": "0"}), id="a", contact=DANA)),
        answer(3500).document(),
        ["FLD-ext"],
    )
    tuples(
        "extension",
        "an extension of SIMPLE has no place in the enhanced model",
        ["RFC 3863 4.2.4"],
        xml.pidf(DANA, xml.tuple_("open", E("x:level", None, "7"), id="a", contact=DANA), E("x:moon", None, "full")),
        answer(3500).document(),
        ["FLD-ext"],
    )

    # Persons and devices.
    def persons(*entries):
        """entries: activity, timestamp."""
        made = [
            xml.person(xml.activities(name), E("dm:timestamp", None, time) if time else None, id=f"p{index}")
            for index, (name, time) in enumerate(entries)
        ]
        return xml.pidf(DANA, xml.tuple_("open", id="im", contact=DANA), *made)

    tuples(
        "persons-newest",
        "of two persons the newer counts",
        ["RFC 4479 3.2", "policy"],
        persons(("away", "2026-11-22T10:00:00Z"), ("meeting", "2026-11-22T11:00:00Z")),
        answer(6500, "in-a-meeting", time="2026-11-22T11:00:00.000").document(),
        ["CMB-P1"],
        rows=["CMB-P1"],
    )
    tuples(
        "persons-untimed",
        "a person with a timestamp counts before one without",
        ["policy"],
        persons(("away", None), ("meeting", "2026-11-22T11:00:00Z")),
        answer(6500, "in-a-meeting", time="2026-11-22T11:00:00.000").document(),
        ["CMB-P1"],
    )
    tuples(
        "persons-first",
        "of two persons without timestamps the first counts",
        ["policy"],
        persons(("away", None), ("meeting", None)),
        answer(15500).document(),
        ["CMB-P1"],
    )
    tuples(
        "person-over-tuple",
        "the person's activity counts before a service's",
        ["RFC 4480 3.2", "policy"],
        document(xml.activities("meeting"), after=[xml.activities("away")]),
        answer(6500, "in-a-meeting").document(),
    )
    tuples(
        "activity-in-tuple",
        "an activity in a tuple counts where no person says one",
        ["policy"],
        document(after=[xml.activities("on-the-phone")]),
        answer(6500, "on-the-phone").document(),
    )
    device = E(
        "dm:device",
        {"id": "d"},
        E("caps:devcaps", None, E("caps:mobility", None, E("caps:supported", None, E("caps:mobile")))),
        E("dm:deviceID", None, "urn:uuid:48662e19-5fbf-43fc-a2fd-d23002787599"),
    )
    tuples(
        "device-mobile",
        "a mobile device is the kind of device of a state",
        ["RFC 5196 3.3.2", "MS-PRES 7.2", "policy"],
        xml.pidf(DANA, xml.tuple_("open", id="im", contact=DANA), device),
        answer(3500, device="mobile").document(),
        ["FLD-devices"],
    )
    tuples(
        "timestamp",
        "a tuple's timestamp is the time of publication",
        ["RFC 3863 4.1.7", "MS-PRES 2.2.2.1"],
        document(timestamp="2026-11-22T12:30:15.5+02:00"),
        answer(3500, time="2026-11-22T10:30:15.500").document(),
    )
    # Draft RPID, read wherever it stands.
    for stem, text, number, token in (
        ("away", "away", 15500, None),
        ("busy", "busy", 6500, None),
        ("phone", "on-the-phone", 6500, "on-the-phone"),
    ):
        tuples(
            f"draft-{stem}",
            "draft RPID says its activity as text inside status",
            ["MS-PRES 2.2.2.8"],
            xml.pidf(DANA, xml.tuple_("open", status=xml.draft_status(text), id="0")),
            answer(number, token).document(),
        )
        suite.case(
            f"simple/draft-{stem}-rpid",
            "draft RPID in the words of RFC 4480",
            ["MS-PRES 2.2.2.8", "RFC 4480 3.2"],
            "pidf",
            "pidf",
            xml.pidf(DANA, xml.tuple_("open", status=xml.draft_status(text), id="0")).document(),
            xml.pidf(DANA, xml.tuple_("open", contact=DANA), xml.person(xml.activities(text))).document(),
            at=AT,
        )
    for stem, names, draft, loss in (
        ("meeting", ["meeting"], "busy", []),
        ("phone", ["on-the-phone"], "on-the-phone", []),
        ("meal", ["meal"], "away", []),
        ("plain", [], None, []),
        ("presentation", ["presentation"], "busy", []),
    ):
        suite.case(
            f"simple/to-draft-{stem}",
            "the draft profile has one activity of three",
            ["MS-PRES 2.2.2.8", "MS-PRES 3.7.5.4"],
            "pidf",
            "pidf",
            document(*([xml.activities(*names)] if names else [])).document(),
            xml.pidf(DANA, xml.tuple_("open", status=xml.draft_status(draft), id="0")).document(),
            at=AT,
            profile="rpid-draft",
        )
    linked = E(
        "linked-identities",
        {"primary-id": "dana@example.org"},
        E("secondary-identities", None, E("secondary-identity", None, "dana@example.net")),
    )
    tuples(
        "linked-identities",
        "linked identities are for the home server, not for watchers",
        ["MS-PRES 2.2.2.8.1"],
        xml.pidf(DANA, xml.tuple_("open", id="0"), linked),
        answer(3500).document(),
        ["FLD-draftids"],
    )
