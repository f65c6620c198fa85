"""All formats to all formats, for states that both models know."""

import tables
import payloads as xml

CARL = "sip:carl@contoso.com"
NAME = "Carl Berg"
TIME = "2026-11-22T09:30:00.000"
AT = "2026-11-22T12:00:00Z"
AT_PUBLISH = "2026-11-22T12:00:00.000"


class State:
    """What one document says: number and token, and, of a SIMPLE document, its own words."""

    def __init__(self, number, token=None, custom=None, words=None, rows=(), loss=()):
        self.number = number
        self.token = token
        # Text of ours for what has no token.
        self.custom = custom
        # basic, activities, texts of other, idle (None where nothing is said)
        self.words = words
        self.rows = list(rows)
        self.loss = list(loss)


# name: number, token; the PIDF words that mean it and what they are read as; the xpidf words and what they are read as.
# Reading is policy: rpid-to-availability, other-text-to-availability, xpidf-to-availability.
STATES = {
    "available": ((3500, None), ("open", [], [], None), ("open", "online", 3500, None, None, "X2A-14")),
    "idle": ((5000, None), ("open", [], [], True), ("open", "idle", 5000, None, None, "X2A-07")),
    "busy": ((6500, None), ("open", ["busy"], [], None), ("inuse", None, 6500, None, None, "X2A-09")),
    "on-the-phone": (
        (6500, "on-the-phone"),
        ("open", ["on-the-phone"], [], None),
        ("inuse", "onthephone", 6500, "on-the-phone", None, "X2A-03"),
    ),
    "meeting": ((6500, "in-a-meeting"), ("open", ["meeting"], [], None), ("open", "busy", 6500, None, None, "X2A-06")),
    "conference": ((7000, "in-a-conference"), ("open", ["meeting"], ["In a conference"], None), ("busy", None, 6500, None, None, "X2A-10")),
    "urgent": (
        (6900, "urgent-interruptions-only"),
        ("open", ["busy"], ["Urgent interruptions only"], None),
        ("open", "busy", 6500, None, None, "X2A-06"),
    ),
    "busy-idle": ((8000, None), ("open", ["busy"], [], True), ("inactive", None, 5000, None, None, "X2A-11")),
    "dnd": ((9500, None), ("open", ["busy"], ["Do not disturb"], None), ("idle", None, 5000, None, None, "X2A-12")),
    "presenting": ((9500, "in-presentation"), ("open", ["presentation"], [], None), ("away", None, 15500, None, None, "X2A-13")),
    "brb": ((12500, None), ("open", ["away"], ["Be right back"], None), ("open", "berightback", 12500, None, None, "X2A-05")),
    "away": ((15500, None), ("open", ["away"], [], None), ("open", "away", 15500, None, None, "X2A-08")),
    "out-of-office": (
        (15500, "out-of-office"),
        ("open", ["away"], ["Out of office"], None),
        ("open", "outtolunch", 15500, None, "Out to lunch", "X2A-04"),
    ),
    "off-work": ((15500, "off-work"), ("open", ["away"], ["Off work"], None), ("open", "hide", 18500, None, None, "X2A-02")),
    "offline": ((18500, None), ("closed", [], [], None), ("closed", None, 18500, None, None, "X2A-01")),
    "unknown": ((0, None), (None, [], [], None), ("strange", None, 0, None, None, "X2A-99")),
}
# How the xpidf words read in SIMPLE words.
XPIDF_ACTIVITY = {
    "X2A-03": "on-the-phone",
    "X2A-04": "meal",
    "X2A-05": "away",
    "X2A-06": "busy",
    "X2A-07": "away",
    "X2A-08": "away",
    "X2A-09": "busy",
    "X2A-10": "busy",
    "X2A-11": "away",
    "X2A-12": "away",
    "X2A-13": "away",
}
XPIDF_CLOSED = {"X2A-01", "X2A-02", "X2A-99"}


def source(format, name):
    """The document of a state in a format, and what it says."""
    (number, token), words, (status, substatus, x_number, x_token, x_custom, x_row) = STATES[name]
    if format == "categories":
        act = xml.activity(token) if token else None
        document = xml.categories(
            CARL,
            xml.category("contactCard", xml.card(names=[(1033, NAME)]), 0, TIME),
            xml.category("state", xml.state(number, act), 1, TIME),
        )
        return document, State(number, token)
    if format == "legacy-interop":
        return xml.legacy(number, token), State(number, token)
    if format == "msrtc":
        avail, text, available, active, _ = tables.to_msrtc(number, token)
        document = xml.msrtc(CARL[4:], available, active, avail, text, name=NAME)
        return document, State(avail, token)
    if format == "pidf":
        basic, names, others, idle = words
        inner = [xml.activities(*names, others=others)] if names or others else []
        inner += [xml.E("rpid:user-input", None, "idle")] if idle else []
        document = xml.pidf(
            CARL, xml.tuple_(basic, id="im", contact=CARL), xml.person(*inner, xml.E("ci:display-name", None, NAME), id="carl")
        )
        return document, State(number, token, words=words)
    document = xml.xpidf(CARL, status, substatus, name=NAME, atom="7")
    activity = XPIDF_ACTIVITY.get(x_row)
    # idle of xpidf is what user-input says in RPID.
    idle = tables.CLASSES[tables.class_of(x_number)] == "idle"
    said = ("closed" if x_row in XPIDF_CLOSED else "open", [activity] if activity else [], [], idle)
    return document, State(x_number, x_token, x_custom, words=said, rows=[x_row])


def person_parts(said, origin):
    """basic and the children of person, in profile rpid."""
    if said.words:
        basic, names, others, idle = said.words
        return basic, names, others, idle
    basic, activity, _ = tables.to_pidf(said.number, said.token)
    names = [activity] if activity else []
    others = []
    # A state says its token as well; a legacyInterop says the normative table and no more.
    if said.token and origin != "legacy-interop":
        low, high, value, text, _ = tables.TOKENS[said.token]
        if low <= said.number <= high:
            names += [value] if value not in names else []
            others += [text] if text else []
    # For readers that know busy and not on-the-phone.
    names = (["busy"] if activity == "on-the-phone" else []) + names
    # A state says that nobody touches the keys; a legacyInterop does not tell idle from away.
    idle = origin == "categories" and tables.CLASSES[tables.class_of(said.number)] in ("idle", "busy-idle")
    return basic, names, others, idle


def target(format, said, origin):
    named = origin != "legacy-interop"
    time = TIME if origin == "categories" else AT_PUBLISH
    if format == "categories":
        usual = tables.USUAL[tables.class_of(said.number)]
        act = xml.activity(said.token) if said.token else None
        if said.custom:
            act = xml.activity(None, [(1033, said.custom)])
        online = said.number < 18000 and not (said.words and said.words[0] == "closed")
        offer = xml.services(CARL, xml.capability("text", usual)) if online else xml.services()
        return xml.categories(
            CARL,
            xml.category("contactCard", xml.card(names=[NAME]), 0, time) if named else None,
            xml.category("services", offer, 0, time),
            xml.category("state", xml.state(said.number, act), 1 if said.number < 18000 else 0, time),
        )
    if format == "legacy-interop":
        return xml.legacy(said.number, said.token)
    if format == "msrtc":
        avail, text, available, active, _ = tables.to_msrtc(said.number, said.token)
        return xml.msrtc(CARL[4:], available, active, avail, text, name=NAME if named else "")
    if format == "pidf":
        basic, names, others, idle = person_parts(said, origin)
        stamp = "2026-11-22T09:30:00Z" if origin == "categories" else None
        parts = [xml.activities(*names, others=others)] if names or others else []
        parts += [xml.E("rpid:user-input", None, "idle")] if idle else []
        parts += [xml.E("ci:display-name", None, NAME)] if named else []
        parts += [xml.E("dm:timestamp", None, stamp)] if stamp and parts else []
        return xml.pidf(CARL, xml.tuple_(basic, contact=CARL, timestamp=stamp), xml.person(*parts) if parts else None)
    status, substatus, _ = tables.to_xpidf(said.number, said.token)
    return xml.xpidf(CARL, status, substatus, name=NAME if named else None)


FORMATS = ["categories", "legacy-interop", "msrtc", "pidf", "xpidf"]
SPEC = {
    ("legacy-interop", "pidf"): ["MS-PRES 3.7.5.4"],
    ("categories", "pidf"): ["MS-PRES 3.7.5.4", "RFC 4480 3.2"],
    ("legacy-interop", "msrtc"): ["MS-PRES 3.7.5.5"],
    ("categories", "msrtc"): ["MS-PRES 3.7.5.5"],
}


def write(suite):
    for name in STATES:
        for origin in FORMATS:
            document, said = source(origin, name)
            text = document.document()
            for format in FORMATS:
                if format == origin:
                    suite.case(
                        f"states/{name}-{origin}-again",
                        f"{name}, read and written in the same format, says the same",
                        ["policy"],
                        origin,
                        format,
                        text,
                        text,
                        entity=CARL,
                        at=AT,
                        input_name=f"{name}-{origin}",
                    )
                    continue
                suite.case(
                    f"states/{name}-{origin}-{format}",
                    f"{name}, said in {origin}, as {format}",
                    SPEC.get((origin, format), ["policy"]),
                    origin,
                    format,
                    text,
                    target(format, said, origin).document(),
                    entity=CARL,
                    at=AT,
                    input_name=f"{name}-{origin}",
                )
