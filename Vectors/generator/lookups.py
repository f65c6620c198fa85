"""Languages and time zones, both ways; and what each of the small formats cannot say."""

import json
import os

import details
import rpid
import tables
import payloads as xml
from payloads import E

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Mappings")
AT = "2026-11-22T12:00:00Z"


def rows(name):
    """Registered names and numbers: these two tables are lists of other registries, with nothing to decide in them."""
    with open(os.path.join(ROOT, name + ".json"), encoding="utf-8") as file:
        return json.load(file)["rows"]


def write(suite):
    # One own text per language, sixteen to a case.
    languages = [row for row in rows("languages") if "lcid" in row]
    for start in range(0, len(languages), 16):
        group = languages[start : start + 16]
        customs = [(row["lcid"], f"text {row['lcid']}") for row in group]
        suite.case(
            f"languages/from-lcid-{start // 16}",
            "LCID to language tag",
            ["MS-LCID 2.2", "RFC 5646"],
            "categories",
            "pidf",
            details.said(act=xml.activity(None, customs)).document(),
            details.shown(xml.activities(others=[(f"text {row['lcid']}", row["tag"]) for row in group]), online=True).document(),
            at=AT,
            loss=[],
            rows=[row["id"] for row in group],
        )
    # An aggregate has the texts of one activity, so one language per document is read back.
    for row in languages:
        suite.case(
            f"languages/to-lcid-{row['tag']}",
            f"{row['tag']} is LCID {row['lcid']}",
            ["MS-LCID 2.2", "RFC 5646"],
            "pidf",
            "categories",
            rpid.document(xml.activities(others=[("In the garden", row["tag"])])).document(),
            rpid.answer(3500, None, [(row["lcid"], "In the garden")]).document(),
            at=AT,
            loss=[],
            rows=[row["id"]],
        )
    for tag, lcid in (("en", 1033), ("de", 1031), ("pt", None), ("zh", None), ("EN-gb", 2057), ("fr-ZZ", 1036)):
        if lcid is None:
            continue
        suite.case(
            f"languages/to-lcid-near-{tag}",
            "a tag without region, in another case or of an unknown region",
            ["RFC 4647 3.4", "policy"],
            "pidf",
            "categories",
            rpid.document(xml.activities(others=[("In the garden", tag)])).document(),
            rpid.answer(3500, None, [(lcid, "In the garden")]).document(),
            at=AT,
            loss=[],
        )
    suite.case(
        "languages/from-lcid-unknown",
        "an LCID without row: the text travels",
        ["MS-LCID 2.2"],
        "categories",
        "pidf",
        details.said(act=xml.activity(None, [(9999, "text")])).document(),
        details.shown(xml.activities(others=["text"]), online=True).document(),
        at=AT,
        loss=["LNG-none"],
        rows=["LNG-none"],
    )

    for row in rows("time-zones"):
        if "bias" not in row:
            continue
        stem = row["name"].lower().replace(" ", "-").replace(".", "")
        offset = E("rpid:time-offset", {"description": row["name"]}, -row["bias"])
        suite.case(
            f"time-zones/{stem}",
            f"{row['name']} has a bias of {row['bias']}: {-row['bias']} minutes east of UTC",
            ["MS-PRES 2.2.2.7.1", "RFC 4480 3.13"],
            "categories",
            "pidf",
            details.said(bias=row["bias"], zone=row["name"], abbreviation=row["abbreviation"]).document(),
            details.shown(offset).document(),
            at=AT,
            loss=[],
            rows=[row["id"]],
        )
    for stem, comment, state, offset, loss in (
        ("bias-only", "a bias without a name", {"bias": -60}, E("rpid:time-offset", None, 60), []),
        (
            "name-only",
            "a name without a bias",
            {"zone": "Tokyo Standard Time"},
            E("rpid:time-offset", {"description": "Tokyo Standard Time"}, 540),
            [],
        ),
        (
            "unknown-name",
            "a zone of another name",
            {"bias": -60, "zone": "Middle Earth Time"},
            E("rpid:time-offset", {"description": "Middle Earth Time"}, 60),
            [],
        ),
        ("unknown-bias", "a bias that no zone has", {"bias": -61}, E("rpid:time-offset", None, 61), ["TZN-any"]),
        (
            "impossible",
            "a bias of the standard's own sample that no zone can have: the name tells",
            {"bias": 999, "zone": "Pacific Standard Time"},
            E("rpid:time-offset", {"description": "Pacific Standard Time"}, -480),
            [],
        ),
        ("impossible-unknown", "neither the bias nor the name is known", {"bias": 999, "zone": "Middle Earth Time"}, None, ["FLD-tzname"]),
        (
            "abbreviation",
            "an abbreviation that is not the zone's own is lost",
            {"bias": -60, "zone": "W. Europe Standard Time", "abbreviation": "MEZ"},
            E("rpid:time-offset", {"description": "W. Europe Standard Time"}, 60),
            ["FLD-tzname"],
        ),
    ):
        suite.case(
            f"time-zones/{stem}",
            comment,
            ["MS-PRES 2.2.2.7.1", "RFC 4480 3.13"],
            "categories",
            "pidf",
            details.said(**state).document(),
            details.shown(*([offset] if offset else [])).document(),
            at=AT,
            loss=loss,
        )

    # A rich document of each side in the formats that can say little.
    full = details.said(
        xml.category("note", xml.note("Back at ten"), 0, details.TIME),
        xml.category(
            "contactCard",
            xml.card(
                E("company", None, "Contoso"),
                E("department", None, "Bridges"),
                E("title", None, "Builder"),
                E("office", None, "4/1130"),
                names=["Erik Holm", "E. Holm"],
                emails=["erik@contoso.com"],
                phones=[("work", "tel:+4930123456", "+49 30 123456"), ("mobile", "tel:+491701234567", None)],
                urls=[("other", "https://www.contoso.com/erik")],
                photo="https://www.contoso.com/erik.png",
            ),
            0,
            details.TIME,
        ),
        xml.category("services", xml.services(details.ERIK, xml.capability("text", 3500)), 0, details.TIME),
        xml.category("calendarData", xml.free_busy("erik@contoso.com", "2026-11-22T12:00:00Z", "Cg=="), 0, details.TIME),
        number=8000,
        act=xml.activity("in-a-meeting", (), 6500, 8999),
        location="office",
        subject="Budget",
        place="Room 7",
        bias=-60,
        zone="W. Europe Standard Time",
        abbreviation="CET",
        device="computer",
        lastActive="2026-11-22T10:45:00",
    ).document()
    shared = [
        "FLD-title",
        "FLD-company",
        "FLD-dept",
        "FLD-office",
        "FLD-device",
        "FLD-caps",
        "FLD-tz",
        "FLD-place",
        "FLD-meet",
        "FLD-active",
        "FLD-cal",
        "FLD-note",
        "FLD-url",
        "FLD-icon",
        "FLD-bounds",
    ]
    spec = ["MS-PRES 2.2.2.7", "policy"]
    suite.case(
        "small/rich-legacy-interop",
        "a rich document as legacyInterop",
        ["MS-PRES 2.2.2.7.6"],
        "categories",
        "legacy-interop",
        full,
        xml.legacy(8000, "in-a-meeting").document(),
        at=AT,
        loss=shared + ["FLD-name", "FLD-names", "FLD-email", "FLD-phone"],
    )
    suite.case(
        "small/rich-msrtc",
        "a rich document as msrtc.pidf",
        ["MS-PRES 3.7.5.5"],
        "categories",
        "msrtc",
        full,
        xml.msrtc(
            "erik@contoso.com", 300, 100, 15500, "in-a-meeting", name="Erik Holm", email="erik@contoso.com", phone="+49 30 123456"
        ).document(),
        at=AT,
        loss=shared + ["FLD-names", "FLD-phones", "A2M-06"],
    )
    suite.case(
        "small/rich-draft",
        "a rich document in the draft profile",
        ["MS-PRES 2.2.2.8"],
        "categories",
        "pidf",
        full,
        xml.pidf(
            details.ERIK, xml.tuple_("open", status=xml.draft_status("away"), id="0"), E("ci:display-name", None, "Erik Holm")
        ).document(),
        at=AT,
        profile="rpid-draft",
        loss=shared + ["FLD-names", "FLD-email", "FLD-phone", "FLD-token", "A2P-06"],
    )
    suite.case(
        "small/rich-xpidf",
        "a rich document as xpidf",
        spec,
        "categories",
        "xpidf",
        full,
        xml.xpidf(details.ERIK, "open", "idle", name="Erik Holm").document(),
        at=AT,
        loss=shared + ["FLD-names", "FLD-email", "FLD-phone", "FLD-token", "A2X-06"],
    )
    for format, expected, losses in (
        ("legacy-interop", xml.legacy(3500), ["FLD-custom"]),
        ("msrtc", xml.msrtc("erik@contoso.com", 300, 400, 3500, "online"), ["FLD-custom"]),
        ("xpidf", xml.xpidf(details.ERIK, "open", "online"), ["FLD-custom"]),
    ):
        suite.case(
            f"small/custom-{format}",
            "own texts of an activity have no place",
            ["MS-PRES 2.2.2.7.1"],
            "categories",
            format,
            details.said(act=xml.activity(None, [(1033, "Writing a book")])).document(),
            expected.document(),
            at=AT,
            loss=losses,
        )

    simple = xml.pidf(
        rpid.DANA,
        xml.tuple_(
            "open",
            E("rpid:class", None, "chat"),
            E("rpid:privacy", None, E("rpid:audio")),
            E("rpid:relationship", None, E("rpid:self")),
            E("rpid:service-class", None, E("rpid:electronic")),
            E("caps:servcaps", None, E("caps:message", None, "true")),
            id="im",
            contact=rpid.DANA,
        ),
        xml.tuple_("closed", id="voice", contact="sip:dana.voice@example.org"),
        xml.person(
            xml.activities("meeting", "busy", from_="2026-11-22T11:00:00Z", until="2026-11-22T13:00:00Z"),
            E("rpid:mood", None, E("rpid:happy")),
            E("rpid:place-is", None, E("rpid:audio", None, E("rpid:noisy"))),
            E("rpid:place-type", None, E("lt:cafe")),
            E("rpid:sphere", None, E("rpid:work")),
            E("rpid:status-icon", None, "https://www.example.org/tea.png"),
            E("rpid:time-offset", None, 0),
            E("ci:card", None, "https://www.example.org/dana.vcf"),
            E("ci:display-name", None, "Dana Ruiz"),
            E("ci:homepage", None, "https://www.example.org/~dana/"),
            E("ci:icon", None, "https://www.example.org/dana.png"),
            E("dm:note", {"xml:lang": "en"}, "Back at ten"),
            id="dana",
        ),
        E("dm:device", {"id": "d"}, E("dm:deviceID", None, "urn:uuid:48662e19-5fbf-43fc-a2fd-d23002787599")),
    ).document()
    lost = [
        "CMB-A1",
        "FLD-until",
        "FLD-mood",
        "FLD-placeis",
        "FLD-privacy",
        "FLD-sphere",
        "FLD-relat",
        "FLD-srvcls",
        "FLD-class",
        "FLD-sicon",
        "FLD-tuples",
        "FLD-devices",
        "FLD-card",
        "FLD-note",
        "FLD-url",
        "FLD-icon",
        "FLD-caps",
        "FLD-tz",
        "FLD-place",
    ]
    suite.case(
        "small/simple-legacy-interop",
        "a rich PIDF as legacyInterop",
        ["MS-PRES 2.2.2.7.6"],
        "pidf",
        "legacy-interop",
        simple,
        xml.legacy(6500, "in-a-meeting").document(),
        at=AT,
        loss=lost + ["FLD-name"],
    )
    suite.case(
        "small/simple-msrtc",
        "a rich PIDF as msrtc.pidf",
        ["MS-PRES 2.2.2.9"],
        "pidf",
        "msrtc",
        simple,
        xml.msrtc("dana@example.org", 300, 600, 6500, "in-a-meeting", name="Dana Ruiz").document(),
        at=AT,
        loss=lost,
    )
    suite.case(
        "small/simple-xpidf",
        "a rich PIDF as xpidf",
        spec,
        "pidf",
        "xpidf",
        simple,
        xml.xpidf(rpid.DANA, "open", "busy", name="Dana Ruiz").document(),
        at=AT,
        loss=lost + ["FLD-token"],
    )
    suite.case(
        "small/simple-draft",
        "a rich PIDF in the draft profile",
        ["MS-PRES 2.2.2.8"],
        "pidf",
        "pidf",
        simple,
        xml.pidf(
            rpid.DANA, xml.tuple_("open", status=xml.draft_status("busy"), id="0"), E("ci:display-name", None, "Dana Ruiz")
        ).document(),
        at=AT,
        profile="rpid-draft",
        loss=lost + ["FLD-rpid", "FLD-token"],
    )

    # msrtc.pidf of servers without a state: every band of both numbers.
    bands = (
        (0, 0, 18500, None, None, "M2A-01"),
        (0, 400, 18500, None, None, "M2A-01"),
        (99, 400, 18500, None, None, "M2A-01"),
        (100, 400, 3500, None, None, "M2A-07"),
        (300, 0, 3500, None, None, "M2A-02"),
        (300, 99, 3500, None, None, "M2A-02"),
        (300, 100, 15500, None, None, "M2A-03"),
        (300, 149, 15500, None, None, "M2A-03"),
        (300, 150, 15500, None, "Out to lunch", "M2A-04"),
        (300, 199, 15500, None, "Out to lunch", "M2A-04"),
        (300, 200, 5000, None, None, "M2A-05"),
        (300, 299, 5000, None, None, "M2A-05"),
        (300, 300, 12500, None, None, "M2A-06"),
        (300, 399, 12500, None, None, "M2A-06"),
        (300, 400, 3500, None, None, "M2A-07"),
        (300, 499, 3500, None, None, "M2A-07"),
        (300, 500, 6500, "on-the-phone", None, "M2A-08"),
        (300, 599, 6500, "on-the-phone", None, "M2A-08"),
        (300, 600, 6500, None, None, "M2A-09"),
        (300, 699, 6500, None, None, "M2A-09"),
        (300, 700, 15500, None, None, "M2A-10"),
        (300, 799, 15500, None, None, "M2A-10"),
        (300, 800, 3500, None, None, "M2A-11"),
        (300, 999, 3500, None, None, "M2A-11"),
        (999, 600, 6500, None, None, "M2A-09"),
    )
    for available, active, number, token, custom, row in bands:
        suite.case(
            f"small/aggregates-{available}-{active}",
            f"availability {available} and activity {active} are {number}",
            ["MS-SIP 2.2.1", "policy"],
            "msrtc",
            "categories",
            xml.msrtc("dana@example.org", available, active, None, None).document(),
            rpid.answer(number, token, [(1033, custom)] if custom else ()).document(),
            at=AT,
            loss=[],
            rows=[row],
        )
    # xpidf: every row, both ways.
    for status, sub, number, token, custom, row, loss in (
        ("closed", None, 18500, None, None, "X2A-01", []),
        ("closed", "online", 18500, None, None, "X2A-01", []),
        ("open", "hide", 18500, None, None, "X2A-02", []),
        ("open", "onthephone", 6500, "on-the-phone", None, "X2A-03", []),
        ("open", "outtolunch", 15500, None, "Out to lunch", "X2A-04", []),
        ("open", "berightback", 12500, None, None, "X2A-05", []),
        ("open", "busy", 6500, None, None, "X2A-06", []),
        ("open", "idle", 5000, None, None, "X2A-07", []),
        ("open", "away", 15500, None, None, "X2A-08", []),
        ("inuse", None, 6500, None, None, "X2A-09", []),
        ("busy", None, 6500, None, None, "X2A-10", []),
        ("inactive", None, 5000, None, None, "X2A-11", []),
        ("idle", None, 5000, None, None, "X2A-12", []),
        ("away", None, 15500, None, None, "X2A-13", []),
        ("open", None, 3500, None, None, "X2A-14", []),
        (None, "online", 3500, None, None, "X2A-15", []),
        ("strange", None, 0, None, None, "X2A-99", ["X2A-99"]),
    ):
        closed = row in ("X2A-01", "X2A-02", "X2A-99")
        suite.case(
            f"small/xpidf-{status or 'none'}-{sub or 'none'}",
            f"xpidf {status or 'without status'}, {sub or 'without substatus'} is {number}",
            ["policy"],
            "xpidf",
            "categories",
            xml.xpidf(rpid.DANA, status, sub, atom="1").document(),
            rpid.answer(number, token, [(1033, custom)] if custom else (), closed=closed).document(),
            at=AT,
            loss=loss,
            rows=[row],
        )
    for number in tables.edges():
        for token in (None, "on-the-phone"):
            status, sub, row = tables.to_xpidf(number, token)
            loss = [row] if row in tables.LOSSY_TO_XPIDF else [] if number in tables.USUAL else ["FLD-number"]
            if token and sub != "onthephone":
                loss = loss + ["FLD-token"]
            suite.case(
                f"small/to-xpidf-{number}-{'phone' if token else 'none'}",
                f"{number} is xpidf {status}, {sub}",
                ["policy"],
                "legacy-interop",
                "xpidf",
                xml.legacy(number, token).document(),
                xml.xpidf(rpid.DANA, status, sub).document(),
                entity=rpid.DANA,
                loss=loss,
                rows=[row],
            )
