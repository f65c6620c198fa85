"""RPID to the enhanced model: every activity, many at once, text, time, place, input; and what only PIDF can keep."""

import tables
import payloads as xml
from payloads import E

DANA = "sip:dana@example.org"
AT = "2026-11-22T12:00:00Z"
PUBLISH = "2026-11-22T12:00:00.000"


def document(*inner, basic="open", after=(), **more):
    """One service and one person."""
    return xml.pidf(DANA, xml.tuple_(basic, *after, id="im", contact=DANA, **more), xml.person(*inner, id="dana") if inner else None)


def answer(number, token=None, customs=(), closed=False, note=None, card=None, offer=None, time=PUBLISH, calendar=None, **state):
    """The categories that a watcher of the enhanced model gets."""
    act = xml.activity(token, customs) if token or customs else None
    usual = tables.USUAL[tables.class_of(number)]
    online = number < 18000 and not closed
    offer = offer or [xml.capability("text", usual)]
    return xml.categories(
        DANA,
        xml.category("calendarData", calendar, 0, time) if calendar else None,
        xml.category("contactCard", card, 0, time) if card else None,
        xml.category("note", xml.note(note), 0, time) if note else None,
        xml.category("services", xml.services(DANA, *offer) if online else xml.services(), 0, time),
        xml.category("state", xml.state(number, act, **state), 1 if number < 18000 else 0, time),
    )


def write(suite):
    def to_categories(stem, comment, spec, source, expected, **more):
        suite.case(
            "rpid/" + stem, comment, spec, "pidf", "categories", source.document(), expected.document(), at=more.pop("at", AT), **more
        )

    # Every value, of an open and of a closed service.
    for name, (number, token, custom, row, lossy) in tables.ACTIVITIES.items():
        registered = "RFC 4480 3.2" if name != "lunch" else "policy"
        to_categories(
            f"activity-{name}",
            f"{name} is {number}" + (f" {token}" if token else ""),
            [registered, "policy"],
            document(xml.activities(name)),
            answer(number, token, [(1033, custom)] if custom else ()),
            rows=[row],
            loss=[row] if lossy else [],
        )
    for name, number, token, row, lossy in (
        ("on-the-phone", 6500, "on-the-phone", "R2A-C1", True),
        ("meeting", 18500, None, "R2A-C2", False),
        ("away", 18500, None, "R2A-C2", False),
        ("vacation", 18500, None, "R2A-C2", False),
    ):
        to_categories(
            f"closed-{name}",
            f"{name} of a closed service: a PBX says closed while the line is busy, for the rest closed is offline",
            ["RFC 3863 4.1.4", "policy"],
            document(xml.activities(name), basic="closed"),
            answer(number, token, closed=True),
            rows=[row],
            loss=[row] if lossy else [],
        )
    to_categories(
        "no-activity-open", "open and nothing more is available", ["RFC 3863 4.1.4"], document(), answer(3500), rows=["R2A-none1"]
    )
    to_categories(
        "no-activity-closed",
        "closed and nothing more is offline",
        ["RFC 3863 4.1.4"],
        document(basic="closed"),
        answer(18500),
        rows=["R2A-C2"],
    )
    to_categories(
        "no-basic",
        "a status without basic says nothing: unknown, not offline",
        ["RFC 3863 4.1.4"],
        document(basic=None),
        answer(0),
        rows=["R2A-none2"],
    )
    to_categories(
        "no-basic-unknown",
        "a status without basic and the activity unknown",
        ["RFC 3863 4.1.4", "RFC 4480 3.2"],
        document(xml.activities("unknown"), basic=None),
        answer(0),
        rows=["R2A-unk2"],
    )

    # Texts of other, in the spelling of the table and in another.
    for text, (number, token, custom, row) in tables.OTHERS.items():
        stem = text.replace(" ", "-")
        shown = text if text == "dnd" else text.capitalize()
        to_categories(
            f"other-{stem}",
            f"other with the text '{shown}' names a state",
            ["RFC 4480 3.2", "policy"],
            document(xml.activities(others=[(shown, "en")])),
            answer(number, token, [(1033, custom)] if custom else ()),
            rows=[row],
        )
    to_categories(
        "other-spelling",
        "case and hyphens of the text do not matter",
        ["policy"],
        document(xml.activities(others=["DO-NOT-Disturb"])),
        answer(9500),
        rows=["OTH-01"],
    )
    to_categories(
        "other-free",
        "a text that names no state is the user's own activity text",
        ["RFC 4480 3.2"],
        document(xml.activities(others=[("Feeding the cat", "en-GB")])),
        answer(3500, None, [(2057, "Feeding the cat")]),
        rows=["R2A-oth", "LNG-2057"],
    )
    to_categories(
        "other-free-german",
        "the language of a text is kept as LCID",
        ["RFC 4480 3.2", "MS-LCID 2.2"],
        document(xml.activities(others=[("Füttert die Katze", "de")])),
        answer(3500, None, [(1031, "Füttert die Katze")]),
        rows=["LNG-1031"],
    )
    to_categories(
        "other-no-language",
        "a text without language has no LCID",
        ["RFC 4480 3.2"],
        document(xml.activities(others=["Feeding the cat"])),
        answer(3500, None, [(None, "Feeding the cat")]),
        rows=["R2A-oth"],
    )
    to_categories(
        "other-unknown-language",
        "a language without LCID: the text travels, its language is lost",
        ["MS-LCID 2.2"],
        document(xml.activities(others=[("Nutrisce l'gatto", "art-x-own")])),
        answer(3500, None, [(None, "Nutrisce l'gatto")]),
        rows=["LNG-none"],
        loss=["LNG-none"],
    )
    to_categories(
        "foreign-activity",
        "an activity of another namespace is shown by its name",
        ["RFC 4480 3.2"],
        document(E("rpid:activities", None, E("x:gardening"))),
        answer(3500, None, [(None, "gardening")]),
        rows=["R2A-ext"],
        loss=["R2A-ext"],
    )
    to_categories(
        "later-activity",
        "an RPID element that is not registered is shown by its name",
        ["RFC 4480 3.2"],
        document(xml.activities("teleporting")),
        answer(3500, None, [(None, "teleporting")]),
        rows=["R2A-ext"],
        loss=["R2A-ext"],
    )

    # Many at once.
    for stem, names, number, token, custom in (
        ("meeting-busy", ["meeting", "busy"], 6500, "in-a-meeting", None),
        ("busy-meeting", ["busy", "meeting"], 6500, "in-a-meeting", None),
        ("phone-in-meeting", ["meeting", "on-the-phone"], 6500, "on-the-phone", None),
        ("vacation-away", ["away", "vacation"], 15500, "out-of-office", None),
        ("phone-on-vacation", ["vacation", "on-the-phone", "travel"], 6500, "on-the-phone", None),
        ("presentation-meeting", ["meeting", "presentation", "busy"], 9500, "in-presentation", None),
        ("dinner-meeting", ["dinner", "meeting"], 6500, "in-a-meeting", None),
        ("meal-away", ["meal", "away"], 15500, None, "At a meal"),
        ("driving-phone", ["steering", "on-the-phone"], 6500, "on-the-phone", None),
        ("absent-holiday", ["holiday", "permanent-absence"], 18500, None, None),
    ):
        to_categories(
            f"many-{stem}",
            "of several activities the most telling one is shown: " + ", ".join(names),
            ["RFC 4480 3.2", "policy"],
            document(xml.activities(*names)),
            answer(number, token, [(1033, custom)] if custom else ()),
            rows=["CMB-A1"],
        )
    to_categories(
        "many-elements",
        "activities in two elements count together",
        ["RFC 4480 3.1"],
        document(xml.activities("away"), xml.activities("on-the-phone")),
        answer(6500, "on-the-phone"),
        rows=["CMB-A1"],
    )
    to_categories(
        "many-equal-rank",
        "of two extensions with the same rank, the first stands",
        ["policy"],
        document(E("rpid:activities", None, E("x:gardening"), E("x:painting"))),
        answer(3500, None, [(None, "gardening")]),
        rows=["R2A-ext"],
    )
    to_categories(
        "many-away-other-lunch",
        "an own text with a state's name beats a plain activity",
        ["policy"],
        document(xml.activities("away", others=["Out to lunch"])),
        answer(15500, None, [(1033, "Out to lunch")]),
        rows=["OTH-17"],
    )

    to_categories(
        "many-equal-text",
        "of two texts of the same rank the one with the greater number stands",
        ["policy"],
        document(xml.activities(others=["Urgent interruptions only", "Presenting"])),
        answer(9500, "in-presentation"),
        rows=["CMB-A2", "OTH-12"],
    )

    # Notes inside and outside of activities.
    to_categories(
        "note-in-activities",
        "a note beside a meeting is its subject",
        ["RFC 4480 3.1", "policy"],
        document(xml.activities("meeting", notes=["Quarterly review"])),
        answer(6500, "in-a-meeting", subject="Quarterly review"),
        rows=["R2A-meet"],
    )
    to_categories(
        "note-in-busy",
        "a note beside busy is a note of the user",
        ["RFC 4480 3.1", "policy"],
        document(xml.activities("busy", notes=["Please knock"])),
        answer(6500, note="Please knock"),
        rows=["R2A-busy"],
    )
    to_categories(
        "note-of-person",
        "the person's note is the personal note",
        ["RFC 4479 3.2"],
        document(E("dm:note", {"xml:lang": "en"}, "Back at ten")),
        answer(3500, note="Back at ten"),
        loss=["FLD-notelang"],
    )
    to_categories(
        "note-of-document",
        "a note under presence is the personal note",
        ["RFC 3863 4.1.6"],
        xml.pidf(DANA, xml.tuple_("open", id="im", contact=DANA), E("note", None, "At the fair")),
        answer(3500, note="At the fair"),
    )
    to_categories(
        "note-of-tuple",
        "a note of the service is the personal note where there is no other",
        ["RFC 3863 4.1.6"],
        document(notes=["Chat is best"]),
        answer(3500, note="Chat is best"),
    )
    to_categories(
        "note-person-first",
        "the person's note is shown before the document's",
        ["policy"],
        xml.pidf(
            DANA,
            xml.tuple_("open", id="im", contact=DANA),
            E("note", None, "At the fair"),
            xml.person(E("dm:note", None, "Back at ten"), id="dana"),
        ),
        answer(3500, note="Back at ten"),
        loss=["FLD-notes"],
    )
    to_categories("note-blank", "a note of blanks is no note", ["policy"], document(E("dm:note", None, "   ")), answer(3500))

    # Time.
    window = {"from_": "2026-11-22T11:00:00Z", "until": "2026-11-22T13:00:00Z"}
    for stem, at, number, token in (
        ("before", "2026-11-22T10:59:59Z", 3500, None),
        ("at-from", "2026-11-22T11:00:00Z", 6500, "in-a-meeting"),
        ("within", "2026-11-22T12:00:00Z", 6500, "in-a-meeting"),
        ("last-second", "2026-11-22T12:59:59Z", 6500, "in-a-meeting"),
        ("at-until", "2026-11-22T13:00:00Z", 3500, None),
        ("other-zone", "2026-11-22T13:59:59+02:00", 6500, "in-a-meeting"),
    ):
        time = at.replace("13:59:59+02:00", "11:59:59Z")[:-1] + ".000"
        to_categories(
            f"window-{stem}",
            "from is included, until is not",
            ["RFC 4480 3.1"],
            document(xml.activities("meeting", **window)),
            answer(number, token, time=time),
            at=at,
            loss=["FLD-until"] if token else [],
        )
    to_categories(
        "window-two",
        "of two elements with times the one that is valid now counts",
        ["RFC 4480 3.1"],
        document(
            xml.activities("on-the-phone", from_="2026-11-22T10:00:00Z", until="2026-11-22T11:00:00Z"),
            xml.activities("presentation", from_="2026-11-22T11:30:00Z", until="2026-11-22T12:30:00Z"),
        ),
        answer(9500, "in-presentation"),
        loss=["FLD-until"],
    )
    to_categories(
        "window-open-end",
        "from without until is valid from then on",
        ["RFC 4480 3.1"],
        document(xml.activities("vacation", from_="2026-11-20T00:00:00Z")),
        answer(15500, "out-of-office"),
    )
    to_categories(
        "window-over",
        "an activity that is over leaves an open service",
        ["RFC 4480 3.1"],
        document(xml.activities("vacation", until="2026-11-20T00:00:00Z")),
        answer(3500),
    )
    to_categories(
        "window-sphere",
        "a sphere that is not valid now does not place the user",
        ["RFC 4480 3.1", "RFC 4480 3.11"],
        document(E("rpid:sphere", {"until": "2026-11-22T08:00:00Z"}, E("rpid:work"))),
        answer(3500),
    )

    # Input.
    def used(value, **attributes):
        return E("rpid:user-input", {key.replace("_", "-"): text for key, text in attributes.items()}, value)

    for stem, inner, number, more in (
        ("active", [used("active")], 3500, {}),
        ("idle", [used("idle")], 5000, {}),
        (
            "idle-threshold",
            [used("idle", idle_threshold="600", last_input="2026-11-22T11:40:00Z")],
            5000,
            {"lastActive": "2026-11-22T11:40:00"},
        ),
        ("idle-zone", [used("idle", last_input="2026-11-22T13:40:00.250+02:00")], 5000, {"lastActive": "2026-11-22T11:40:00"}),
        ("active-last-input", [used("active", idle_threshold="600", last_input="2026-11-22T11:59:00Z")], 3500, {}),
        ("idle-busy", [xml.activities("busy"), used("idle")], 8000, {}),
        ("idle-away", [xml.activities("away"), used("idle")], 15500, {}),
        (
            "idle-away-since",
            [xml.activities("away"), used("idle", last_input="2026-11-22T11:40:00Z")],
            15500,
            {"lastActive": "2026-11-22T11:40:00"},
        ),
    ):
        to_categories(
            f"input-{stem}",
            "idle input adds 1500 to Available and Busy, and nothing to the rest",
            ["RFC 4480 3.14", "MS-PRES 3.8.5.1.2.2", "policy"],
            document(*inner),
            answer(number, **more),
        )
    to_categories(
        "input-idle-meeting",
        "idle input in a meeting: the number says busy and idle, the meeting holds up to 8999",
        ["RFC 4480 3.14", "MS-PRES 3.8.5.1.2.3"],
        document(xml.activities("meeting"), used("idle")),
        answer(8000, "in-a-meeting"),
    )
    to_categories(
        "input-idle-dnd",
        "idle input adds nothing to do not disturb",
        ["MS-PRES 3.8.5.1.2.2"],
        document(xml.activities("presentation"), used("idle")),
        answer(9500, "in-presentation"),
    )
    to_categories(
        "input-idle-closed", "idle input adds nothing to offline", ["policy"], document(used("idle"), basic="closed"), answer(18500)
    )
    to_categories(
        "input-of-service",
        "idle input of the service counts where the person says nothing",
        ["RFC 4480 3.14"],
        document(after=[used("idle")]),
        answer(5000),
    )
    to_categories(
        "input-person-over-service",
        "the person's word on input counts before the service's",
        ["policy"],
        document(used("active"), after=[used("idle")]),
        answer(3500),
    )
    devices = [
        E(
            "dm:device",
            {"id": "d1"},
            used("idle", last_input="2026-11-22T11:00:00Z"),
            E("dm:deviceID", None, "urn:uuid:48662e19-5fbf-43fc-a2fd-d23002787599"),
        ),
        E(
            "dm:device",
            {"id": "d2"},
            used("active", last_input="2026-11-22T11:59:00Z"),
            E("dm:deviceID", None, "urn:uuid:6ae9e5ec-b55b-4e0e-8af4-f1a9d1b2c001"),
        ),
    ]
    to_categories(
        "input-devices",
        "a user who is active at one of two devices is active",
        ["RFC 4480 3.14", "RFC 4479 3.4"],
        xml.pidf(DANA, xml.tuple_("open", id="im", contact=DANA), *devices),
        answer(3500),
        loss=["FLD-devices"],
        rows=["CMB-D1"],
    )
    to_categories(
        "input-devices-idle",
        "a user who is idle at both devices is idle since the later input",
        ["RFC 4480 3.14", "RFC 4479 3.4"],
        xml.pidf(
            DANA,
            xml.tuple_("open", id="im", contact=DANA),
            devices[0],
            E(
                "dm:device",
                {"id": "d2"},
                used("idle", last_input="2026-11-22T11:59:00Z"),
                E("dm:deviceID", None, "urn:uuid:6ae9e5ec-b55b-4e0e-8af4-f1a9d1b2c001"),
            ),
        ),
        answer(5000, lastActive="2026-11-22T11:59:00"),
        loss=["FLD-devices", "FLD-devices"],
    )

    # Place and sphere.
    for place in tables.PLACES:
        row = "PLC-" + place[:11]
        to_categories(
            f"place-{place}",
            f"place-type {place} is the location {tables.location_of(place)}",
            ["RFC 4480 3.7", "RFC 4589 5"],
            document(E("rpid:place-type", None, E("lt:" + place))),
            answer(3500, location=tables.location_of(place)),
            rows=[row],
            loss=[row] if place in tables.VEHICLES else [],
        )
    to_categories(
        "place-other",
        "the text of an other place is the location",
        ["RFC 4480 3.7"],
        document(E("rpid:place-type", None, E("rpid:other", None, "Tree house"))),
        answer(3500, location="Tree house"),
    )
    to_categories(
        "place-rpid-child",
        "late drafts had places in RPID's own namespace",
        ["RFC 4480 3.7", "policy"],
        document(E("rpid:place-type", None, E("rpid:office"))),
        answer(3500, location="office"),
        rows=["PLC-office"],
    )
    for sphere, location in (("home", "home"), ("work", "office")):
        to_categories(
            f"sphere-{sphere}",
            f"sphere {sphere} without a place is the location {location}",
            ["RFC 4480 3.11", "policy"],
            document(E("rpid:sphere", None, E("rpid:" + sphere))),
            answer(3500, location=location),
            rows=["PLC-SPH-" + sphere],
        )
    to_categories(
        "sphere-text",
        "a few old senders put bare text in sphere",
        ["RFC 4480 3.11", "policy"],
        document(E("rpid:sphere", None, "work")),
        answer(3500, location="office"),
        rows=["PLC-SPH-work"],
    )
    to_categories(
        "sphere-beside-place",
        "a place counts before a sphere, which is then lost",
        ["policy"],
        document(E("rpid:place-type", None, E("lt:cafe")), E("rpid:sphere", None, E("rpid:work"))),
        answer(3500, location="Cafe"),
        loss=["FLD-sphere"],
    )
    to_categories(
        "sphere-unknown",
        "sphere unknown places nobody",
        ["RFC 4480 3.11"],
        document(E("rpid:sphere", None, E("rpid:unknown"))),
        answer(3500),
        loss=["FLD-sphere"],
    )

    # Time offset.
    for stem, minutes, description, bias, zone, abbreviation, row, loss in (
        ("utc", 0, None, 0, "GMT Standard Time", "GMT", "TZN-23", []),
        ("named", 60, "W. Europe Standard Time", -60, "W. Europe Standard Time", "CET", "TZN-26", []),
        ("west", -480, None, 480, None, None, None, []),
        ("label", 60, "WEST", -60, "WEST", None, None, []),
        ("nowhere", 7, None, -7, None, None, "TZN-any", ["TZN-any"]),
        ("nepal", 345, None, -345, "Nepal Standard Time", "NPT", "TZN-48", []),
    ):
        if stem == "west":
            zone, abbreviation, row = "Alaskan Daylight Time", "AKDT", "TZN-05"
        to_categories(
            f"offset-{stem}",
            f"{minutes} minutes east of UTC is a bias of {bias}",
            ["RFC 4480 3.13", "MS-PRES 2.2.2.7.1"],
            document(E("rpid:time-offset", {"description": description}, minutes)),
            answer(3500, bias=bias, zone=zone, abbreviation=abbreviation),
            rows=[row] if row else [],
            loss=loss,
        )

    # What has no place in the enhanced model, kept in PIDF.
    def kept_and_lost(stem, comment, spec, source, loss, expected=None):
        suite.case(
            f"rpid/kept-{stem}", comment + ", kept from PIDF to PIDF", spec, "pidf", "pidf", source.document(), source.document(), at=AT
        )
        suite.case(
            f"rpid/lost-{stem}",
            comment + ", reported lost to categories",
            spec,
            "pidf",
            "categories",
            source.document(),
            (expected or answer(3500)).document(),
            at=AT,
            loss=loss,
        )

    for start in range(0, len(tables.MOODS), 10):
        group = tables.MOODS[start : start + 10]
        kept_and_lost(
            f"mood-{start // 10}",
            "moods " + ", ".join(group),
            ["RFC 4480 3.5"],
            document(E("rpid:mood", None, *[E("rpid:" + mood) for mood in group])),
            ["FLD-mood"],
        )
    kept_and_lost(
        "mood-other",
        "a mood in own words with a note and times",
        ["RFC 4480 3.5"],
        document(
            E(
                "rpid:mood",
                {"from": "2026-11-22T08:00:00Z", "until": "2026-11-22T20:00:00Z"},
                E("rpid:note", {"xml:lang": "en"}, "Monday"),
                E("rpid:other", {"xml:lang": "en"}, "giddy"),
            )
        ),
        ["FLD-mood"],
    )
    for index, (audio, video, text) in enumerate(
        (("noisy", "toobright", "uncomfortable"), ("ok", "ok", "inappropriate"), ("quiet", "dark", "ok"), ("unknown", "unknown", "unknown"))
    ):
        kept_and_lost(
            f"place-is-{index}",
            f"a place that is {audio}, {video} and {text}",
            ["RFC 4480 3.6"],
            document(
                E(
                    "rpid:place-is",
                    None,
                    E("rpid:audio", None, E("rpid:" + audio)),
                    E("rpid:video", None, E("rpid:" + video)),
                    E("rpid:text", None, E("rpid:" + text)),
                )
            ),
            ["FLD-placeis"],
        )
    for stem, names in (("audio", ["audio"]), ("all", ["audio", "text", "video"]), ("unknown", ["unknown"])):
        kept_and_lost(
            f"privacy-{stem}",
            "privacy of " + ", ".join(names),
            ["RFC 4480 3.8"],
            document(E("rpid:privacy", None, *[E("rpid:" + name) for name in names])),
            ["FLD-privacy"],
        )
    for value in tables.RELATIONSHIPS:
        kept_and_lost(
            f"relationship-{value}",
            f"a service of a {value}",
            ["RFC 4480 3.9"],
            document(after=[E("rpid:relationship", None, E("rpid:" + value))]),
            ["FLD-relat"],
        )
    for value in tables.SERVICE_CLASSES:
        kept_and_lost(
            f"service-class-{value}",
            f"a service of class {value}",
            ["RFC 4480 3.10"],
            document(after=[E("rpid:service-class", None, E("rpid:" + value))]),
            ["FLD-srvcls"],
        )
    kept_and_lost(
        "class",
        "labels of a service and a person",
        ["RFC 4480 3.3"],
        xml.pidf(
            DANA,
            xml.tuple_("open", E("rpid:class", None, "chat"), id="im", contact=DANA),
            xml.person(E("rpid:class", None, "office"), id="dana"),
        ),
        ["FLD-class", "FLD-class"],
    )
    kept_and_lost(
        "status-icon",
        "the icon of a status",
        ["RFC 4480 3.12"],
        document(E("rpid:status-icon", {"from": "2026-11-22T08:00:00Z"}, "https://www.example.org/icons/tea.png")),
        ["FLD-sicon"],
    )
