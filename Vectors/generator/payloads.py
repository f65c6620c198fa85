"""Builds the payloads: elements with prefixes, written the same way every time."""

NAMESPACES = {
    "dm": "urn:ietf:params:xml:ns:pidf:data-model",
    "rpid": "urn:ietf:params:xml:ns:pidf:rpid",
    "lt": "urn:ietf:params:xml:ns:location-type",
    "ci": "urn:ietf:params:xml:ns:pidf:cipid",
    "caps": "urn:ietf:params:xml:ns:pidf:caps",
    "ts": "urn:ietf:params:xml:ns:pidf:timed-status",
    "ep": "urn:ietf:params:xml:ns:pidf:status:rpid-status",
    "et": "urn:ietf:params:xml:ns:pidf:rpid-tuple",
    "op": "urn:oma:xml:prs:pidf:oma-pres",
    "ix": "urn:isthmus:xml:ns:presence-exact",
    "x": "urn:example:extension",
    "xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "pidf": "urn:ietf:params:xml:ns:pidf",
}

PIDF = "urn:ietf:params:xml:ns:pidf"
MS = "http://schemas.microsoft.com/2006/09/sip/"
PRESENTITY = "http://schemas.microsoft.com/2002/09/sip/presence"


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


class E:
    """An element; children are elements, or one text."""

    def __init__(self, name, attributes=None, *children):
        self.name = name
        self.attributes = {key: value for key, value in (attributes or {}).items() if value is not None}
        self.children = [child for child in children if child is not None]

    def prefixes(self, found):
        for name in [self.name, *self.attributes]:
            if ":" in name and not name.startswith("xml"):
                found.add(name.split(":")[0])
        for child in self.children:
            if isinstance(child, E):
                child.prefixes(found)
        return found

    def lines(self, depth):
        start = "  " * depth + "<" + self.name
        for key, value in self.attributes.items():
            start += f' {key}="{escape(str(value))}"'
        if not self.children:
            return [start + "/>"]
        if len(self.children) == 1 and not isinstance(self.children[0], E):
            return [f"{start}>{escape(str(self.children[0]))}</{self.name}>"]
        lines = [start + ">"]
        for child in self.children:
            lines += child.lines(depth + 1)
        return lines + ["  " * depth + f"</{self.name}>"]

    def document(self):
        declared = {f"xmlns:{prefix}": NAMESPACES[prefix] for prefix in sorted(self.prefixes(set()))}
        own = {"xmlns": self.attributes.pop("xmlns")} if "xmlns" in self.attributes else {}
        self.attributes = {**own, **declared, **self.attributes}
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + "\n".join(self.lines(0)) + "\n"


# PIDF and its extensions


def pidf(entity, *children):
    return E("presence", {"xmlns": PIDF, "entity": entity}, *children)


def tuple_(basic, *after, id="{{any}}", contact=None, priority=None, timestamp=None, status=(), notes=()):
    """A tuple: status, extensions, contact, notes, timestamp (RFC 3863 4.1.2)."""
    inner = [E("basic", None, basic)] if basic else []
    parts = [E("status", None, *inner, *status), *after]
    if contact:
        parts.append(E("contact", {"priority": priority}, contact))
    parts += [note if isinstance(note, E) else E("note", None, note) for note in notes]
    if timestamp:
        parts.append(E("timestamp", None, timestamp))
    return E("tuple", {"id": id}, *parts)


def person(*children, id="{{any}}"):
    return E("dm:person", {"id": id}, *children)


def activities(*names, others=(), notes=(), from_=None, until=None):
    """names: RPID elements; others: texts, or pairs of text and language."""
    parts = [note if isinstance(note, E) else E("rpid:note", None, note) for note in notes]
    parts += [E("rpid:" + name) for name in names]
    for other in others:
        text, language = other if isinstance(other, tuple) else (other, None)
        parts.append(E("rpid:other", {"xml:lang": language}, text))
    return E("rpid:activities", {"from": from_, "until": until}, *parts)


def online():
    """Beside activities that are texts only, for liblinphone, which shows any activity as busy without it."""
    return E("online", {"xmlns": "http://www.linphone.org/xsds/pidfonline.xsd"})


def draft_status(activity):
    return [E("ep:activities", None, E("ep:activity", None, activity))] if activity else []


# Documents of MS-PRES


def legacy(availability, token=None, dnd=None, xmlns=MS + "categories"):
    return E("legacyInterop", {"xmlns": xmlns, "availability": availability, "token": token, "dndState": dnd})


def categories(uri, *children):
    return E("categories", {"xmlns": MS + "categories", "uri": uri}, *children)


def category(name, body=None, instance=0, time=None, **more):
    return E("category", {"name": name, "instance": instance, "publishTime": time, **more}, body)


def activity(token=None, customs=(), low=None, high=None):
    """customs: pairs of LCID and text."""
    texts = [E("custom", {"LCID": lcid}, text) for lcid, text in customs]
    return E("activity", {"token": token, "minAvailability": low, "maxAvailability": high}, *texts)


def common(name):
    return E(name, {"xmlns": MS + "commontypes"})


def state(
    availability,
    act=None,
    type="aggregateState",
    location=None,
    subject=None,
    place=None,
    bias=None,
    zone=None,
    abbreviation=None,
    device=None,
    **attributes,
):
    parts = [E("availability", None, availability) if availability is not None else None]
    parts += act if isinstance(act, list) else [act]
    parts.append(E("endpointLocation", None, location) if location is not None else None)
    for name, value in (("meetingSubject", subject), ("meetingLocation", place)):
        if value is not None:
            text, lcid = value if isinstance(value, tuple) else (value, None)
            parts.append(E(name, {"LCID": lcid}, text))
    block = [("timeZoneBias", bias), ("timeZoneName", zone), ("timeZoneAbbreviation", abbreviation), ("device", device)]
    block = [E(name, None, value) for name, value in block if value is not None]
    if block:
        parts += [common("delimiter"), *block, common("end")]
    return E("state", {"xmlns": MS + "state", "xsi:type": type, **attributes}, *parts)


def note(*bodies):
    """bodies: texts, or tuples of text and attributes."""
    made = []
    for body in bodies:
        text, attributes = body if isinstance(body, tuple) else (body, {})
        made.append(E("body", {"type": "personal", "uri": "", **attributes}, text))
    return E("note", {"xmlns": MS + "note"}, *made)


def card(*children, names=(), emails=(), phones=(), urls=(), photo=None):
    """names: texts or pairs of LCID and text; phones: type, URI, text to display."""
    parts = []
    if names or emails:
        texts = [n if isinstance(n, tuple) else (None, n) for n in names]
        parts.append(
            E(
                "identity",
                None,
                E("name", None, *[E("displayName", {"LCID": lcid}, text) for lcid, text in texts]) if texts else None,
                *[E("email", None, email) for email in emails],
            )
        )
    parts += children
    parts += [E("url", {"type": kind}, uri) for kind, uri in urls]
    for kind, uri, display in phones:
        parts.append(E("phone", {"type": kind}, E("uri", None, uri), E("displayString", None, display) if display else None))
    if photo:
        block = E("photo", {"type": "default"}, E("uri", None, photo))
        parts += [common("delimiter"), common("delimiter"), block, common("end")]
    return E("contactCard", {"xmlns": MS + "contactcard"}, *parts)


def services(uri=None, *capabilities):
    """capabilities: elements of one service."""
    if uri is None:
        return E("services", {"xmlns": MS + "service"})
    inner = E("capabilities", {"uri": uri}, *capabilities)
    return E("services", {"xmlns": MS + "service"}, E("service", {"uri": uri}, inner))


def capability(name, availability, render="true", capture="true"):
    return E(name, {"render": render, "capture": capture, "deviceAvailability": availability})


def free_busy(mailbox, start, data, granularity="PT15M", version="1"):
    content = E("freeBusy", {"startTime": start, "granularity": granularity, "encodingVersion": version}, data)
    return E("calendarData", {"xmlns": MS + "calendarData", "mailboxID": mailbox}, content)


def msrtc(uri, available, active, avail, text, name="", email="", phone="", extra=()):
    """available, active: the two aggregate numbers; avail, text: the state, or None."""
    parts = [E("availability", {"aggregate": available}), E("activity", {"aggregate": active})]
    # The document has at least these (MS-PRES 2.2.2.9); what is not known is empty (MS-PRES 3.7.5.5).
    parts.append(E("displayName", {"displayName": name}))
    parts.append(E("email", {"email": email}))
    parts.append(E("phoneNumber", {"number": phone}))
    parts += extra
    if avail is not None:
        leaf = E("state", {"avail": avail, "xsi:type": "userState"}, *([text] if text else []))
        parts.append(E("aggregate", None, E("states", None, leaf)))
    return E("presentity", {"xmlns": PRESENTITY, "uri": uri}, *parts)


def xpidf(uri, status, substatus=None, name=None, note=None, priority=None, atom="{{any}}"):
    address = E(
        "address",
        {"uri": uri, "priority": priority},
        E("status", {"status": status}) if status else None,
        E("msnsubstatus", {"substatus": substatus}) if substatus else None,
        E("note", None, note) if note else None,
    )
    shown = E("display", {"name": name}) if name else None
    return E("presence", None, E("presentity", {"uri": uri + ";method=SUBSCRIBE"}), shown, E("atom", {"id": atom}, address))
