"""Cards, notes, places, calendars and services, from the enhanced model to PIDF and back."""

import base64

import tables
import payloads as xml
from rpid import DANA, answer, document
from payloads import E

ERIK = "sip:erik@contoso.com"
AT = "2026-11-22T12:00:00Z"
TIME = "2026-11-22T11:00:00.000"
STAMP = "2026-11-22T11:00:00Z"


def said(*more, number=3500, act=None, instance=1, type="aggregateState", **state):
    """A categories document with a state and more."""
    return xml.categories(ERIK, *more, xml.category("state", xml.state(number, act, type, **state), instance, TIME))


def shown(*inner, basic="open", before=(), tuples=(), stamp=STAMP, contact=ERIK, last=(), online=False):
    """The PIDF for a watcher: one service, addresses, one person."""
    parts = [*inner, *last]
    if parts and stamp:
        parts.append(E("dm:timestamp", None, stamp))
    status = [xml.online()] if online else []
    tuple_ = xml.tuple_(basic, *before, contact=contact, timestamp=stamp, status=status)
    return xml.pidf(ERIK, tuple_, *tuples, xml.person(*parts) if parts else None)


def bits(slots, width=2):
    """Slots packed with the first in the lowest bits, as deployed clients do."""
    number = 0
    for index, slot in enumerate(slots):
        number |= slot << (index * width)
    return number.to_bytes((len(slots) * width + 7) // 8, "little")


def write(suite):
    def to_pidf(stem, comment, spec, source, expected, loss=(), **more):
        suite.case(
            "enhanced/" + stem, comment, spec, "categories", "pidf", source.document(), expected.document(), at=AT, loss=loss, **more
        )

    # Activities in own words.
    act = xml.activity(None, [(1033, "Writing a book"), (1031, "Schreibt ein Buch"), (1036, "Écrit un livre")], 3000, 4499)
    to_pidf(
        "custom-texts",
        "own texts in three languages are three texts of other",
        ["MS-PRES 2.2.2.7.1", "RFC 4480 3.2"],
        said(act=act),
        shown(xml.activities(others=[("Writing a book", "en-US"), ("Schreibt ein Buch", "de-DE"), ("Écrit un livre", "fr-FR")]), online=True),
        ["FLD-bounds"],
        rows=["LNG-1033", "LNG-1031", "LNG-1036"],
    )
    to_pidf(
        "custom-out-of-bounds",
        "an own text outside of its range does not hold",
        ["MS-PRES 3.8.5.1.2.3"],
        said(number=6500, act=xml.activity(None, [(1033, "Writing a book")], 3000, 4499)),
        shown(xml.activities("busy")),
        ["FLD-bounds", "FLD-custom"],
    )
    to_pidf(
        "custom-busy",
        "an own text while busy stands beside busy",
        ["MS-PRES 2.2.2.7.1"],
        said(number=6500, act=xml.activity(None, [(None, "Deep work")])),
        shown(xml.activities("busy", others=["Deep work"])),
    )
    for token, (low, high, value, text, row) in tables.TOKENS.items():
        for label, number in (("low", low), ("high", high)):
            basic, activity, table_row = tables.to_pidf(number, token)
            names = [activity] + ([value] if value and value != activity else [])
            # For readers that know busy and not on-the-phone.
            names = (["busy"] if activity == "on-the-phone" else []) + names
            kind = tables.CLASSES[tables.class_of(number)]
            idle = [E("rpid:user-input", None, "idle")] if kind in ("idle", "busy-idle") else []
            loss = [table_row] if table_row in tables.LOSSY_TO_PIDF else ["FLD-number"] if number not in tables.USUAL else []
            to_pidf(
                f"token-{token}-{label}",
                f"token {token} at {number}: the normative activity first, then what the token says",
                ["MS-PRES 3.7.5.4", "MS-PRES 7.2", "policy"],
                said(number=number, act=xml.activity(token)),
                shown(xml.activities(*names, others=[text] if text else []), *idle),
                loss + (["TOK-02"] if token == "in-a-conference" else []),
                rows=[row, table_row],
            )
    to_pidf(
        "token-out-of-class",
        "a token in a class where it does not hold is not said",
        ["MS-PRES 7.2", "policy"],
        said(number=3500, act=xml.activity("in-presentation")),
        shown(xml.activities(others=["in-presentation"]), online=True),
        ["TOK-98"],
        rows=["TOK-98"],
    )
    to_pidf(
        "token-out-of-bounds",
        "a token outside of the bounds it came with is not said",
        ["MS-PRES 3.8.5.1.2.3"],
        said(number=15500, act=xml.activity("in-a-meeting", (), 6500, 8999)),
        shown(xml.activities("away")),
        ["FLD-bounds", "TOK-99"],
        rows=["TOK-99"],
    )
    to_pidf(
        "token-own",
        "a token that nobody enumerates is written as the text of other",
        ["MS-PRES 7.2"],
        said(number=6500, act=xml.activity("x-own-token")),
        shown(xml.activities("busy", others=["x-own-token"])),
        ["TOK-98"],
        rows=["TOK-98"],
    )

    # Notes.
    to_pidf(
        "note-personal",
        "the personal note is the person's note",
        ["RFC 4479 3.2"],
        said(xml.category("note", xml.note("Back at ten"), 0, TIME)),
        shown(E("dm:note", None, "Back at ten")),
    )
    to_pidf(
        "note-oof",
        "the out-of-office note is the person's note, its type is lost",
        ["RFC 4479 3.2"],
        said(
            xml.category("note", xml.note(("In Lisbon until Friday", {"type": "OOF"}), "Back at ten"), 0, TIME),
            number=15500,
            act=xml.activity("out-of-office"),
        ),
        shown(
            xml.activities("away", others=["Out of office"]),
            E("dm:note", None, "In Lisbon until Friday"),
            E("dm:note", None, "Back at ten"),
        ),
        ["FLD-oof"],
    )
    to_pidf(
        "note-times",
        "the times of a note are lost",
        ["RFC 3863 4.1.6"],
        said(
            xml.category(
                "note",
                xml.note(("In Lisbon", {"type": "OOF", "startTime": "2026-11-20T00:00:00Z", "endTime": "2026-11-28T00:00:00Z"})),
                0,
                TIME,
            )
        ),
        shown(E("dm:note", None, "In Lisbon")),
        ["FLD-oof", "FLD-notetime"],
    )
    to_pidf("note-empty", "an empty note is no note", ["MS-PRES 4.2"], said(xml.category("note", xml.note(), 0, TIME)), shown())
    to_pidf(
        "note-markup",
        "characters that mean something in XML are escaped again",
        ["XML 1.0 2.4"],
        said(xml.category("note", xml.note('1 < 2 & "3" > 2'), 0, TIME)),
        shown(E("dm:note", None, '1 < 2 & "3" > 2')),
    )
    to_pidf(
        "note-unicode",
        "text beyond the basic plane",
        ["RFC 3629"],
        said(xml.category("note", xml.note("Tea 🍵 at 三時 — Ωραία"), 0, TIME)),
        shown(E("dm:note", None, "Tea 🍵 at 三時 — Ωραία")),
    )

    # The card.
    phones = [
        ("work", "tel:+4930123456", "+49 30 123456"),
        ("mobile", "tel:+491701234567", None),
        ("home", "tel:+4930999", None),
        ("other", "tel:+4930777", None),
        ("custom1", "tel:+4930888", None),
    ]
    card = xml.card(
        E("company", None, "Contoso"),
        E("department", None, "Bridges"),
        E("title", {"LCID": 1033}, "Builder"),
        E("office", None, "4/1130"),
        names=[(1033, "Erik Holm"), (1031, "Erik Holm (DE)")],
        emails=["erik@contoso.com"],
        phones=phones,
        urls=[
            ("other", "https://www.contoso.com/erik"),
            ("sharepoint", "https://my.contoso.com/erik"),
            ("voicemail", "sip:erik@contoso.com;opaque=app:voicemail"),
        ],
        photo="https://www.contoso.com/erik.png",
    )
    address = [xml.tuple_(None, E("rpid:class", None, kind) if kind != "other" else None, contact=uri) for kind, uri, _ in phones]
    address = [E("tuple", {"id": "{{any}}"}, *[part for part in element.children if part is not None]) for element in address]
    to_pidf(
        "card",
        "names, addresses and numbers of a card",
        ["RFC 4482 3", "MS-PRES 7.3"],
        said(xml.category("contactCard", card, 0, TIME)),
        shown(
            E("ci:display-name", None, "Erik Holm"),
            E("ci:homepage", None, "https://www.contoso.com/erik"),
            E("ci:icon", None, "https://www.contoso.com/erik.png"),
            tuples=[*address, xml.tuple_(None, contact="mailto:erik@contoso.com")],
        ),
        ["FLD-names", "FLD-dial", "CON-site", "CON-voicemail", "FLD-title", "FLD-company", "FLD-dept", "FLD-office"],
        rows=["CON-work", "CON-mobile", "CON-home", "CON-other", "CON-custom1", "CON-email", "CON-homepage", "CON-photo"],
    )
    to_pidf(
        "card-two",
        "the user's own card adds to the directory's",
        ["MS-PRES 3.2.6.2"],
        said(
            xml.category("contactCard", xml.card(phones=[("mobile", "tel:+491701234567", None)]), 5, TIME),
            xml.category("contactCard", xml.card(names=["Erik Holm"]), 0, TIME),
        ),
        shown(
            E("ci:display-name", None, "Erik Holm"),
            tuples=[E("tuple", {"id": "{{any}}"}, E("status"), E("rpid:class", None, "mobile"), E("contact", None, "tel:+491701234567"))],
        ),
    )
    where = E("address", {"type": "work"}, E("street", None, "Bridge Road 1"), E("city", None, "Berlin"), E("countryCode", None, "DE"))
    to_pidf(
        "card-address",
        "a postal address has no place in PIDF",
        ["RFC 4482 3"],
        said(xml.category("contactCard", xml.card(where), 0, TIME)),
        shown(),
        ["FLD-address"],
    )

    # Place, time zone, meeting, device, last activity.
    for location, place in (
        ("office", "office"),
        ("home", "residence"),
        ("mobile", "underway"),
        ("none", "unknown"),
        ("Office", "office"),
        *[(tables.location_of(place), place) for place, word in tables.PLACES.items() if word is None],
    ):
        row = {"none": "LOC-none", "office": "LOC-office", "Office": "LOC-office", "home": "LOC-home", "mobile": "LOC-mobile"}.get(
            location, "LOC-" + place[:11]
        )
        to_pidf(
            "location-" + (place if location != "Office" else "office-capital"),
            f"endpointLocation {location} is the place {place}",
            ["MS-PRES 7.2", "RFC 4480 3.7", "RFC 4589 5"],
            said(location=location),
            shown(E("rpid:place-type", None, E("lt:" + place))),
            [row] if location == "none" else [],
            rows=[row],
        )
    to_pidf(
        "location-free",
        "a location in own words is an other place",
        ["MS-PRES 7.2", "RFC 4480 3.7"],
        said(location="Tree house"),
        shown(E("rpid:place-type", None, E("rpid:other", None, "Tree house"))),
        rows=["LOC-other"],
    )
    to_pidf("location-empty", "an empty location is none", ["MS-PRES 3.8.5.1.2.6"], said(location=""), shown())
    to_pidf(
        "meeting",
        "subject and place of a meeting are notes beside the meeting and the place",
        ["MS-PRES 7.2", "RFC 4480 3.1", "policy"],
        said(number=6500, act=xml.activity("in-a-meeting"), location="office", subject=("Budget", 1033), place=("Room 7", 1033)),
        shown(
            xml.activities("busy", "meeting", notes=[E("rpid:note", {"xml:lang": "en-US"}, "Budget")]),
            E("rpid:place-type", None, E("rpid:note", {"xml:lang": "en-US"}, "Room 7"), E("lt:office")),
        ),
    )
    to_pidf(
        "meeting-nowhere",
        "a meeting's place without a place of the user",
        ["RFC 4480 3.7", "policy"],
        said(number=6500, act=xml.activity("in-a-meeting"), place="Room 7"),
        shown(
            xml.activities("busy", "meeting"), E("rpid:place-type", None, E("rpid:note", None, "Room 7"), E("rpid:other", None, "Room 7"))
        ),
    )
    for device in ("computer", "deskphone", "mobile", "web"):
        to_pidf(f"device-{device}", "the kind of the device is lost", ["MS-PRES 7.2"], said(device=device), shown(), ["FLD-device"])
    for number, kind in ((5000, "idle"), (8000, "busy-idle")):
        to_pidf(
            f"last-active-{kind}",
            "the last activity is the last input",
            ["MS-PRES 3.8.5.1.2.4", "RFC 4480 3.14"],
            said(number=number, lastActive="2026-11-22T10:45:00"),
            shown(xml.activities("away"), E("rpid:user-input", {"last-input": "2026-11-22T10:45:00Z"}, "idle")),
            ["A2P-03" if number == 5000 else "A2P-06"],
        )

    for number, kind, activity in ((12500, "brb", "away"), (15500, "away", "away"), (18500, "offline", None)):
        to_pidf(
            f"last-active-{kind}",
            "who has a last activity is not active now",
            ["MS-PRES 3.8.5.1.2.4", "RFC 4480 3.14"],
            said(number=number, lastActive="2026-11-22T10:45:00", instance=1),
            shown(
                *([xml.activities(activity)] if activity else []),
                E("rpid:user-input", {"last-input": "2026-11-22T10:45:00Z"}, "idle"),
                basic="open" if activity else "closed",
            ),
            ["A2P-08"] if number == 12500 else [],
        )

    # Free and busy.
    day = [0] * 4 + [2] * 4 + [1] * 2 + [0] * 2 + [3] * 4
    calendar = xml.free_busy("erik@contoso.com", "2026-11-22T12:00:00Z", base64.b64encode(bits(day)).decode())

    def timed(start, end, basic, activity):
        return E("ts:timed-status", {"from": start, "until": end}, E("ts:basic", None, basic), xml.activities(activity))

    blocks = [
        timed("2026-11-22T13:00:00Z", "2026-11-22T14:00:00Z", "open", "busy"),
        timed("2026-11-22T14:00:00Z", "2026-11-22T14:30:00Z", "open", "appointment"),
        timed("2026-11-22T15:00:00Z", "2026-11-22T16:00:00Z", "closed", "away"),
    ]
    to_pidf(
        "free-busy",
        "busy, tentative and out-of-office slots are timed statuses",
        ["MS-PRES 2.2.2.7.8", "RFC 4481 3"],
        said(xml.category("calendarData", calendar, 0, TIME)),
        shown(before=blocks),
        rows=["FB-0", "FB-1", "FB-2", "FB-3"],
    )
    past = xml.free_busy("erik@contoso.com", "2026-11-22T10:00:00Z", base64.b64encode(bits([2] * 4 + [0] * 8 + [2] * 4)).decode())
    to_pidf(
        "free-busy-past",
        "what is over is left out",
        ["RFC 4481 3"],
        said(xml.category("calendarData", past, 0, TIME)),
        shown(before=[timed("2026-11-22T13:00:00Z", "2026-11-22T14:00:00Z", "open", "busy")]),
        ["FLD-cal2"],
    )
    half = xml.free_busy("erik@contoso.com", "2026-11-22T12:00:00Z", "Cg==")
    to_pidf(
        "free-busy-known",
        "thirty minutes busy are Cg== when the first slot is in the lowest bits",
        ["MS-PRES 2.2.2.7.8"],
        said(xml.category("calendarData", half, 0, TIME)),
        shown(before=[timed("2026-11-22T12:00:00Z", "2026-11-22T12:30:00Z", "open", "busy")]),
    )
    new = bytes([5]) + bits([0, 4, 4, 2] + [0] * 380, 3)
    elsewhere = xml.free_busy("erik@contoso.com", "2026-11-22T12:00:00Z", base64.b64encode(new).decode())
    to_pidf(
        "free-busy-elsewhere",
        "the newer encoding, marked by 01 in the top bits of the instance number, knows working elsewhere",
        ["MS-PRES 2.2.2.7.8"],
        said(xml.category("calendarData", elsewhere, 0x40000001, TIME)),
        shown(
            before=[
                timed("2026-11-22T12:15:00Z", "2026-11-22T12:45:00Z", "open", "working"),
                timed("2026-11-22T12:45:00Z", "2026-11-22T13:00:00Z", "open", "busy"),
            ]
        ),
        rows=["FB-4"],
    )
    old = xml.free_busy("erik@contoso.com", "2026-11-22T12:00:00Z", "Cg==")
    to_pidf(
        "free-busy-old-number",
        "samples of 2008 have a number of the new encoding over data of the old",
        ["MS-PRES 4.3.3"],
        said(xml.category("calendarData", old, 0x7F50572D, TIME)),
        shown(before=[timed("2026-11-22T12:00:00Z", "2026-11-22T12:30:00Z", "open", "busy")]),
    )
    types = "http://schemas.microsoft.com/exchange/services/2006/types"
    hours = E(
        "calendarData",
        {"xmlns": xml.MS + "calendarData", "mailboxID": "erik@contoso.com"},
        E(
            "WorkingHours",
            {"xmlns": types},
            E("TimeZone", None, E("Bias", None, 480)),
            E(
                "WorkingPeriodArray",
                None,
                E(
                    "WorkingPeriod",
                    None,
                    E("DayOfWeek", None, "Monday Tuesday"),
                    E("StartTimeInMinutes", None, 480),
                    E("EndTimeInMinutes", None, 1020),
                ),
            ),
        ),
    )
    to_pidf(
        "working-hours",
        "working hours cannot be said in PIDF",
        ["MS-PRES 2.2.2.7.8"],
        said(xml.category("calendarData", hours, 0, TIME)),
        shown(),
        ["FLD-hours"],
    )

    # Services.
    names = {
        "text": "message",
        "voice": "audio",
        "video": "video",
        "applicationSharing": "application",
        "contentNativeFile": "data",
        "CCCP": "isfocus",
        "remoteCallControl": "control",
    }
    order = ["application", "audio", "control", "data", "isfocus", "message", "video"]
    offer = xml.services(ERIK, *[xml.capability(name, 3500) for name in names])
    to_pidf(
        "services",
        "capabilities that both sides know",
        ["MS-PRES 7.5", "RFC 5196 3.2"],
        said(xml.category("services", offer, 0, TIME)),
        shown(before=[E("caps:servcaps", None, *[E("caps:" + name, None, "true") for name in order])]),
        rows=["CAP-text", "CAP-voice", "CAP-video", "CAP-appshare", "CAP-data", "CAP-focus", "CAP-control"],
    )
    only = {
        "calendar": "CAP-calendar",
        "gifInk": "CAP-gifInk",
        "isfInk": "CAP-isfInk",
        "breakthrough": "CAP-breakthrou",
        "ucs": "CAP-ucs",
        "containerIntegrity": "CAP-containerI",
        "contentWhiteboard": "CAP-contentWhi",
        "contentPoll": "CAP-contentPol",
        "contentPowerPoint": "CAP-contentPow",
        "contentSharedNotes": "CAP-contentSha",
    }
    offer = xml.services(ERIK, *[xml.capability(name, 3500) for name in only])
    to_pidf(
        "services-unsayable",
        "capabilities that RFC 5196 does not know",
        ["MS-PRES 7.5"],
        said(xml.category("services", offer, 0, TIME)),
        shown(),
        list(only.values()),
    )
    offer = xml.services(ERIK, xml.capability("text", 3500), xml.capability("voice", 3500, "false", "false"))
    to_pidf(
        "services-false",
        "neither render nor capture is a capability that is not there",
        ["MS-PRES 7.5"],
        said(xml.category("services", offer, 0, TIME)),
        shown(before=[E("caps:servcaps", None, E("caps:audio", None, "false"), E("caps:message", None, "true"))]),
    )

    # Which state counts.
    def states(*entries):
        """entries: type, number, instance, publishTime, attributes."""
        return xml.categories(
            ERIK,
            *[
                xml.category("state", xml.state(number, None, type, **more), instance, time)
                for type, number, instance, time, more in entries
            ],
        )

    older, newer = "2026-11-22T10:00:00.000", "2026-11-22T11:00:00.000"
    for stem, comment, entries, basic, activity, loss, stamp, idle in (
        (
            "aggregate",
            "the aggregate counts before what it was made from",
            [("userState", 9500, 2, newer, {"manual": "true"}), ("aggregateState", 3500, 1, older, {})],
            "open",
            None,
            [],
            older,
            False,
        ),
        ("user-only", "a userState alone", [("userState", 9500, 2, newer, {"manual": "true"})], "open", "busy", ["A2P-07"], newer, False),
        ("machine-only", "a machineState alone", [("machineState", 5000, 3, newer, {})], "open", "away", ["A2P-03"], newer, True),
        (
            "greatest",
            "without an aggregate the greatest number wins",
            [("userState", 3500, 2, newer, {}), ("calendarState", 6500, 4, older, {})],
            "open",
            "busy",
            [],
            older,
            False,
        ),
        (
            "manual",
            "what is older than a manual state does not count",
            [("userState", 3500, 2, newer, {"manual": "true"}), ("calendarState", 6500, 4, older, {})],
            "open",
            None,
            [],
            newer,
            False,
        ),
        (
            "manual-older",
            "what is newer than a manual state counts",
            [("userState", 3500, 2, older, {"manual": "true"}), ("calendarState", 6500, 4, newer, {})],
            "open",
            "busy",
            [],
            newer,
            False,
        ),
        (
            "machine-aggregate",
            "the aggregated machine is never too old",
            [("userState", 3500, 2, newer, {"manual": "true"}), ("aggregateMachineState", 15500, 268435456, older, {})],
            "open",
            "away",
            [],
            older,
            False,
        ),
        (
            "start-time",
            "a start time is the age of a state",
            [("userState", 3500, 2, newer, {"manual": "true", "startTime": "2026-11-22T09:00:00Z"}), ("calendarState", 6500, 4, older, {})],
            "open",
            "busy",
            [],
            older,
            False,
        ),
    ):
        to_pidf(
            "states-" + stem,
            comment,
            ["MS-PRES 3.8.5.1.2.2"],
            states(*entries),
            shown(
                *([xml.activities(activity)] if activity else []),
                *([E("rpid:user-input", None, "idle")] if idle else []),
                basic=basic,
                stamp=stamp.replace(".000", "Z"),
            ),
            loss,
        )
    idle_busy = states(("userState", 6500, 2, newer, {}), ("aggregateMachineState", 5000, 268435456, newer, {}))
    to_pidf(
        "states-idle-busy",
        "an idle machine adds 1500 to busy",
        ["MS-PRES 3.8.5.1.2.2"],
        idle_busy,
        shown(xml.activities("away"), E("rpid:user-input", None, "idle"), stamp=newer.replace(".000", "Z")),
        ["A2P-06"],
    )
    to_pidf(
        "nothing",
        "an empty document says nothing; a watcher of PIDF is told offline",
        ["MS-PRES 3.2.5.3", "MS-PRES 3.7.5.4", "policy"],
        xml.categories(ERIK),
        shown(basic="closed", stamp=None),
        [],
    )
    to_pidf(
        "blocked",
        "empty markers are what a blocked watcher gets",
        ["MS-PRES 3.2.5.3"],
        xml.categories(ERIK, E("category", {"name": "state"}), E("category", {"name": "note"})),
        shown(basic="closed", stamp=None),
        [],
    )
    to_pidf(
        "legacy-inside",
        "a legacyInterop beside the state decides what PIDF says",
        ["MS-PRES 3.7.5.1", "MS-PRES 3.7.5.4"],
        said(xml.category("legacyInterop", E("legacyInterop", {"availability": 6500, "token": "on-the-phone"}), 1, TIME), number=3500),
        shown(xml.activities("busy", "on-the-phone")),
        rows=["A2P-04"],
    )
    to_pidf(
        "dnd-state",
        "the flag of a legacyInterop is not said apart",
        ["MS-PRES 2.2.2.7.6"],
        xml.categories(ERIK, xml.category("legacyInterop", E("legacyInterop", {"availability": 9500, "dndState": "true"}), 1, TIME)),
        shown(xml.activities("busy"), stamp=None),
        ["A2P-07", "FLD-dnd"],
    )
    to_pidf(
        "unknown-category",
        "a category that we do not know is left out and reported",
        ["MS-PRES 2.2.2.7"],
        said(xml.category("x-own", E("own", {"xmlns": "urn:example:own"}, "data"), 0, TIME)),
        shown(),
        ["FLD-cat"],
    )
    to_pidf(
        "private-categories",
        "private categories have no place in PIDF",
        ["MS-PRES 2.2.2.7"],
        said(
            xml.category("userProperties", E("userProperties", None, E("telephonyMode", None, "Uc")), 0, TIME),
            xml.category("mwi", E("mwi", {"xmlns": xml.MS + "mwi", "messageWaiting": "true"}), 0, TIME),
        ),
        shown(),
        ["FLD-cat"],
    )
