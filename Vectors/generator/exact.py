"""The lossless extension, the OMA profile, and the last fields that a document cannot say."""

import details
import rpid
import states
import tables
import payloads as xml
from payloads import E

AT = details.AT
GERD = "sip:gerd@contoso.com"


def exact(number, *acts):
    return E("ix:exact", {"availability": number}, *acts)


def write(suite):
    # Categories to PIDF and back is the same document.
    def back(stem, comment, *more, **state):
        source = details.said(*more, **state).document()
        suite.add(
            f"conversion/lossless/{stem}",
            comment + ": nothing is lost on the way to PIDF and back",
            ["policy"],
            source,
            None,
            **{"from": "categories", "to": "pidf"},
            at=AT,
            lossless=True,
            roundtrip=True,
            loss=[],
        )

    for name, ((number, token), _, _) in states.STATES.items():
        back(f"state-{name}", name, number=number, act=xml.activity(token) if token else None, instance=1 if number < 18000 else 0)
    for number in tables.edges():
        back(f"number-{number}", f"the number {number}", number=number)
    back("bounds", "bounds of an activity", number=6900, act=xml.activity("urgent-interruptions-only", (), 6500, 6999))
    back("unbounded", "an activity without upper bound", number=15500, act=xml.activity("out-of-office", (), 12000, "unbounded"))
    back(
        "texts",
        "own texts with LCID",
        act=xml.activity(None, [(1033, "Writing a book"), (1031, "Schreibt ein Buch"), (9999, "unknown language")], 3000, 4499),
    )
    back("token-and-text", "a token and a text", number=6500, act=xml.activity("in-a-meeting", [(1033, "Budget")], 6500, 8999))
    back(
        "zone",
        "place, time zone and device",
        location="office",
        bias=-60,
        zone="W. Europe Standard Time",
        abbreviation="MEZ",
        device="computer",
    )
    back("meeting", "a meeting", number=6500, act=xml.activity("in-a-meeting"), subject=("Budget", 1033), place=("Room 7", 1033))
    back("last-active", "the last activity", number=15500, lastActive="2026-11-22T10:45:00")
    back("manual", "a state of the user", number=9500, type="userState", manual="true")
    for index, number in enumerate(tables.edges()):
        for token in (None, "on-the-phone", "x-own-token"):
            suite.add(
                f"conversion/lossless/legacy-{number}-{token or 'none'}",
                "number and token of legacyInterop to PIDF and back",
                ["policy"],
                xml.legacy(number, token).document(),
                None,
                **{"from": "legacy-interop", "to": "pidf"},
                entity=GERD,
                lossless=True,
                roundtrip=True,
            )
    suite.case(
        "lossless/shape",
        "the extension stands under presence",
        ["policy", "RFC 3863 4.2"],
        "legacy-interop",
        "pidf",
        xml.legacy(6900, "on-the-phone").document(),
        xml.pidf(
            GERD,
            xml.tuple_("open", contact=GERD),
            xml.person(xml.activities("busy", "on-the-phone")),
            exact(6900, E("ix:activity", {"token": "on-the-phone"})),
        ).document(),
        entity=GERD,
        lossless=True,
    )

    def read(stem, comment, document, expected, loss=()):
        suite.case(
            "lossless/" + stem, comment, ["policy"], "pidf", "categories", document.document(), expected.document(), at=AT, loss=loss
        )

    def with_exact(basic, activity, element):
        return xml.pidf(
            rpid.DANA,
            xml.tuple_(basic, id="im", contact=rpid.DANA),
            xml.person(xml.activities(activity), id="dana") if activity else None,
            element,
        )

    usual = E("ix:activity", {"token": "urgent-interruptions-only", "min": 6500, "max": 8999})
    act = xml.activity("urgent-interruptions-only", (), 6500, 8999)
    good = rpid.answer(6900)
    good.children[-1] = xml.category("state", xml.state(6900, act), 1, rpid.PUBLISH)
    read("read", "exact values that agree with the words around them are believed", with_exact("open", "busy", exact(6900, usual)), good)
    read(
        "contradicts-basic",
        "a number of somebody offline in an open document is not believed",
        with_exact("open", None, exact(18500)),
        rpid.answer(3500),
        ["FLD-exact"],
    )
    read(
        "contradicts-activity",
        "a number of somebody away in a document that says busy is not believed",
        with_exact("open", "busy", exact(15500)),
        rpid.answer(6500),
        ["FLD-exact"],
    )
    read(
        "contradicts-token",
        "a token that the words do not say is not believed",
        with_exact("open", "busy", exact(6500, E("ix:activity", {"token": "on-the-phone"}))),
        rpid.answer(6500),
        ["FLD-exact"],
    )
    document = with_exact("open", "busy", exact(6900, usual))
    suite.case(
        "lossless/dropped",
        "without leave the extension is not passed on",
        ["policy"],
        "pidf",
        "pidf",
        document.document(),
        with_exact("open", "busy", None).document(),
        at=AT,
    )
    suite.case(
        "lossless/kept", "with leave it is", ["policy"], "pidf", "pidf", document.document(), document.document(), at=AT, lossless=True
    )
    suite.refused(
        "exact-number",
        "an exact number that is none",
        ["policy"],
        "pidf",
        "categories",
        with_exact("open", None, exact("many")).document(),
        "exact",
    )

    # OMA: willingness.
    for number in tables.USUAL:
        kind = tables.CLASSES[tables.class_of(number)]
        basic, activity, _ = tables.to_pidf(number, None)
        willing = "closed" if kind in ("unknown", "dnd", "offline") else "open"
        idle = [E("rpid:user-input", None, "idle")] if kind in ("idle", "busy-idle") else []
        inner = ([xml.activities(activity)] if activity else []) + idle
        suite.case(
            f"oma/{kind}",
            f"{kind}: willingness of the service is {willing}",
            ["OMA Presence SIMPLE data 1.0", "policy"],
            "categories",
            "pidf",
            details.said(number=number, instance=1 if number < 18000 else 0).document(),
            details.shown(*inner, basic=basic, before=[E("op:willingness", None, E("op:basic", None, willing))]).document(),
            at=AT,
            profile="oma",
        )

    # What is left.
    offer = xml.services(details.ERIK, xml.capability("text", 3500), xml.capability("hologram", 3500))
    suite.case(
        "enhanced/services-unknown",
        "a capability that no row names",
        ["MS-PRES 7.5"],
        "categories",
        "pidf",
        details.said(xml.category("services", offer, 0, details.TIME)).document(),
        details.shown(before=[E("caps:servcaps", None, E("caps:message", None, "true"))]).document(),
        at=AT,
        loss=["FLD-caps2"],
    )
    suite.case(
        "simple/servcaps-automata",
        "a service without a person behind it",
        ["RFC 5196 3.2.3"],
        "pidf",
        "categories",
        rpid.document(after=[E("caps:servcaps", None, E("caps:automata", None, "true"), E("caps:message", None, "true"))]).document(),
        rpid.answer(3500).document(),
        at=AT,
        loss=["FLD-caps2"],
    )
    card = xml.card(urls=[("other", "https://www.contoso.com/erik"), ("other", "https://blog.contoso.com/erik")])
    suite.case(
        "enhanced/card-urls",
        "one page is the homepage",
        ["RFC 4482 3"],
        "categories",
        "pidf",
        details.said(xml.category("contactCard", card, 0, details.TIME)).document(),
        details.shown(E("ci:homepage", None, "https://www.contoso.com/erik")).document(),
        at=AT,
        loss=["FLD-urls"],
    )
    suite.case(
        "enhanced/entity",
        "the caller may name the presentity",
        ["policy"],
        "categories",
        "pidf",
        details.said().document(),
        details.shown().document().replace(details.ERIK, "sip:alias@contoso.com"),
        at=AT,
    )
    suite.files["conversion/enhanced/entity.json"] = suite.files["conversion/enhanced/entity.json"].replace(
        b'"input"', b'"entity": "sip:alias@contoso.com",\n  "input"'
    )
