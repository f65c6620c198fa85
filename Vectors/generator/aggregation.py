"""What the server computes of the states and devices that clients publish (MS-PRES 3.8.5), stated here once more."""

import payloads as xml
from payloads import E

GINA = "sip:gina@contoso.com"
DESK = "6B29FC40-CA47-1067-B31D-00DD010662DA"
PHONE = "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0"
AT = "2026-11-22T12:00:00Z"
NOW = "2026-11-22T12:00:00.000"
MACHINE = 0x10000000
ORIGIN = 9 * 3600
UNBOUNDED = 1 << 32


def clock(seconds, fraction=True):
    """A moment counted from nine o'clock, in the form of publishTime, or of lastActive."""
    hours, rest = divmod(ORIGIN + seconds, 3600)
    return "2026-11-22T%02d:%02d:%02d" % (hours, *divmod(rest, 60)) + (".000" if fraction else "")


# Inputs: dictionaries from which both the document and the expectation are made.


def state(number, type="userState", instance=0x20000000, container=2, at=0, expire="static", endpoint=None, **more):
    """more: acts, manual, start, location, subject, place, zone (bias, name, abbreviation), device."""
    return {"is": "state", "number": number, "type": type, "instance": instance, "container": container, "at": at} | {
        "expire": expire,
        "endpoint": endpoint,
        **more,
    }


def machine(number, endpoint=DESK, instance=0x30000001, expire="endpoint", **more):
    return state(number, "machineState", instance, expire=expire, endpoint=endpoint, **more)


def act(token=None, low=None, high=None, texts=()):
    return {"token": token, "low": low, "high": high, "texts": list(texts)}


def device(endpoint=DESK, instance=1, *lists):
    """lists: pairs of address and capabilities."""
    return {"is": "device", "endpoint": endpoint, "instance": instance, "lists": lists}


def can(name, render=True, capture=True, publish=False, version=None):
    return {"name": name, "render": render, "capture": capture, "publish": publish, "version": version}


# The rules.


def since(one):
    return one["at"] if one.get("start") is None else one["start"]


def holds(activity, number):
    low = 0 if activity["low"] is None else activity["low"]
    high = UNBOUNDED if activity["high"] in (None, "unbounded") else activity["high"]
    return low <= number <= high and bool(activity["token"] or activity["texts"])


def aggregate(states, now):
    """The figures and the text of 3.8.5.1.2.1 to 3.8.5.1.2.6 over the states of one container."""
    machines = [one for one in states if one["type"] == "machineState" and one["expire"] == "endpoint"]
    winner = min(machines, key=lambda one: (one["number"], -one["at"], one["instance"]), default=None)
    bottom = winner["number"] if winner else 18500
    pool = [one for one in states if one["type"] not in ("machineState", "aggregateMachineState", "aggregateState")]
    by_hand = [since(one) for one in pool if one.get("manual")]
    if by_hand:
        pool = [one for one in pool if since(one) >= max(by_hand)]
    number = max([bottom] + [one["number"] for one in pool])
    if 4500 <= bottom <= 5999 and 6000 <= number <= 7499:
        number += 1500
    candidates = []
    for one in pool + ([winner] if winner else []):
        for activity in one.get("acts", ()):
            if holds(activity, number):
                candidates.append((activity["low"] or 0, since(one), -one["instance"], activity))
    best = max(candidates, key=lambda found: found[:3])[3] if candidates else None
    inactive = 4500 <= number <= 5999 or 7500 <= number <= 8999 or number >= 12000
    calendars = [
        one for one in states if one["type"] == "calendarState" and (one.get("subject") is not None or one.get("place") is not None)
    ]
    subject = place = None
    if len(calendars) == 1:
        subject, place = calendars[0].get("subject"), calendars[0].get("place")
    elif calendars:
        subject = place = ""
    seen = winner if winner and number < 12000 else {}
    return {
        "winner": winner,
        "number": number,
        "act": {"token": best["token"], "texts": best["texts"]} if best else None,
        "last": (clock(winner["at"], False) if winner else now[:19]) if inactive else None,
        "subject": subject,
        "place": place,
        "location": seen.get("location") or None,
        "zone": seen.get("zone"),
        "device": seen.get("device"),
    }


# Of which container, into which, what (3.8.5.1.2.7).
TABLE = [
    (2, 2, {"act", "location", "meeting", "last", "zone", "device"}, False),
    (2, 100, set(), True),
    (2, 200, {"act", "last", "device"}, True),
    (2, 400, {"act", "location", "last", "zone", "device"}, True),
    (3, 3, {"act", "location", "meeting", "last", "zone", "device"}, False),
    (3, 300, {"act", "location", "meeting", "last", "zone", "device"}, True),
]


def shown_state(found, details):
    def of(name, key=None):
        return found[name] if (key or name) in details else None

    bias, zone, abbreviation = of("zone") or (None, None, None)
    return xml.state(
        found["number"],
        xml.activity(found["act"]["token"], [(1033, text) for text in found["act"]["texts"]]) if of("act") else None,
        location=of("location"),
        subject=of("subject", "meeting"),
        place=of("place", "meeting"),
        bias=bias,
        zone=zone,
        abbreviation=abbreviation,
        device=of("device"),
        lastActive=of("last"),
    )


def machines_of(states):
    """Endpoint to its most active machine."""
    found = {}
    for one in sorted(states, key=lambda one: one["instance"]):
        if one["type"] == "machineState" and one["expire"] == "endpoint":
            key = one["endpoint"].lower()
            if key not in found or (one["number"], -one["at"]) < (found[key]["number"], -found[key]["at"]):
                found[key] = one
    return found


def services(devices, states):
    """The winners per address and capability, in the order in which they are met (3.8.5.2.2)."""
    machines = machines_of(states)
    winners = {}
    for one in sorted(devices, key=lambda one: one["instance"]):
        current = machines.get(one["endpoint"].lower())
        if not current:
            continue
        for address, capabilities in one["lists"]:
            for capability in capabilities:
                key = (address, capability["name"])
                if key not in winners:
                    winners[key] = (capability, current)
                    continue
                old, before = winners[key]
                more_active = (current["number"], -current["at"]) < (before["number"], -before["at"])
                if capability["publish"]:
                    version, other = capability["version"] or 0, old["version"] or 0
                    better = version > other or version == other and more_active
                else:
                    better = more_active or not old["render"] and not old["capture"]
                if better:
                    winners[key] = (capability, current)
    return winners


def word(value):
    return None if value is None else "true" if value else "false"


def services_document(winners, own):
    addresses = {}
    for (address, _), (capability, current) in winners.items():
        if capability["publish"] and not own:
            continue
        attributes = {"render": word(capability["render"]), "capture": word(capability["capture"])}
        if own:
            attributes |= {"publish": word(capability["publish"]), "version": capability["version"]}
            attributes["preferredEndpointId"] = current["endpoint"].lower()
        attributes["deviceAvailability"] = current["number"]
        addresses.setdefault(address, []).append(E(capability["name"], attributes))
    made = [E("service", {"uri": address}, E("capabilities", None, *parts)) for address, parts in addresses.items()]
    return E("services", {"xmlns": xml.MS + "service"}, *made)


def do_not_disturb(states):
    numbers = [one["number"] for one in states if one["type"] in ("userState", "presentingState")]
    found = any(9000 <= number <= 11999 for number in numbers)
    return xml.state(9500 if found else None, type="userState", manual="true")


def expectation(inputs, hours=None, kept=None):
    """Every computed instance, by category, container and number. kept: key to version and time of what was there already."""
    made = {}

    def put(name, container, instance, expire, body):
        version, time = (kept or {}).get((name, container, instance), (1, NOW))
        made[name, container, instance] = xml.category(
            name, body, instance, time, container=container, version=version, expireType=expire
        )

    by_container = {number: [one for one in inputs if one["is"] == "state" and one["container"] == number] for number in (2, 3)}
    for source, states in by_container.items():
        if not states:
            continue
        found = aggregate(states, NOW)
        instance, expire = (1, "user") if found["winner"] else (0, "static")
        if source == 2 and found["winner"]:
            acts = [
                xml.activity(one["token"], [(1033, text) for text in one["texts"]], one["low"], one["high"])
                for one in found["winner"].get("acts", ())
            ]
            endpoint = found["winner"]["endpoint"].lower()
            body = xml.state(found["winner"]["number"], acts, type="aggregateMachineState", endpointId=endpoint)
            put("state", 2, MACHINE, "user", body)
        for origin, container, details, is_for_watchers in TABLE:
            if origin != source:
                continue
            put("state", container, instance, expire, shown_state(found, details))
            if is_for_watchers:
                token = found["act"]["token"] if found["act"] and "act" in details else None
                put("legacyInterop", container, instance, expire, xml.legacy(found["number"], token))
        for container in (0, 2, 100, 200, 400) if source == 2 else (3, 300):
            put("dndState", container, 0, "static", do_not_disturb(states))
    winners = services([one for one in inputs if one["is"] == "device"], by_container[2])
    if winners:
        for container in (2, 100, 200, 300, 400):
            put("services", container, 0, "user", services_document(winners, container == 2))
    if hours is not None:
        put("workingHours", 1, 0, "static", hours)
    return xml.categories(GINA, *[made[key] for key in sorted(made)])


# The documents.


def written(one):
    common = {"version": 1, "expireType": one.get("expire", "endpoint"), "endpointId": one["endpoint"]}
    if one["is"] == "device":
        lists = []
        for address, capabilities in one["lists"]:
            parts = [
                E(
                    each["name"],
                    {
                        "capture": word(each["capture"]),
                        "render": word(each["render"]),
                        "publish": word(each["publish"]),
                        "version": each["version"],
                    },
                )
                for each in capabilities
            ]
            lists.append(E("capabilities", {"preferred": "false", "uri": address}, *parts))
        body = E("device", {"xmlns": xml.MS + "device", "endpointId": one["endpoint"]}, *lists)
        return xml.category("device", body, one["instance"], clock(0), container=2, **common)
    bias, zone, abbreviation = one.get("zone") or (None, None, None)
    acts = [
        xml.activity(each["token"], [(1033, text) for text in each["texts"]], each["low"], each["high"]) for each in one.get("acts", ())
    ]
    body = xml.state(
        one["number"],
        acts,
        type=one["type"],
        location=one.get("location"),
        subject=one.get("subject"),
        place=one.get("place"),
        bias=bias,
        zone=zone,
        abbreviation=abbreviation,
        device=one.get("device"),
        manual=word(one.get("manual")),
        startTime=None if one.get("start") is None else clock(one["start"], False) + "Z",
    )
    return xml.category("state", body, one["instance"], clock(one["at"]), container=one["container"], **common)


def hours_of(*inner):
    types = "http://schemas.microsoft.com/exchange/services/2006/types"
    period = [E("DayOfWeek", None, "Monday Tuesday"), E("StartTimeInMinutes", None, 480), E("EndTimeInMinutes", None, 1020)]
    parts = [E("TimeZone", None, E("Bias", None, 480)), E("WorkingPeriodArray", None, E("WorkingPeriod", None, *period))]
    hours = E("WorkingHours", {"xmlns": types}, *parts)
    return E("calendarData", {"xmlns": xml.MS + "calendarData", "mailboxID": "gina@contoso.com"}, hours, *inner)


def write(suite):
    def case(stem, comment, section, *inputs, more=(), hours=None, kept=None, **members):
        document = xml.categories(GINA, *[written(one) for one in inputs], *more)
        suite.add(
            "aggregation/" + stem,
            comment,
            [f"MS-PRES {part}" for part in section.split(", ")],
            document.document(),
            expectation(inputs, hours, kept).document(),
            at=AT,
            **members,
        )

    machine_rules(case)
    availability_rules(case)
    activity_rules(case)
    detail_rules(case)
    service_rules(case)
    derived_rules(case)
    stored_rules(case)
    suite.add(
        "aggregation/refused/no-categories",
        "what holds no categories is refused",
        ["MS-PRES 6.2"],
        xml.state(3500, type="userState").document(),
        result="invalid",
        error="categories",
        at=AT,
    )


def machine_rules(case):
    section = "3.8.5.1.2.1"
    case("machine/none", "without a machine the user is offline and the instances are static", section, state(3500))
    case("machine/one", "a machine alone is the user", section, machine(3500))
    for expire in ("static", "user"):
        case(f"machine/unbound-{expire}", "a machineState that is bound to no endpoint is ignored", section, machine(3500, expire=expire))
    case("machine/lowest", "the lowest number is the most active machine", section, machine(5000, at=60), machine(3500, PHONE, 0x30000002))
    for label, times in (("first", (60, 0)), ("second", (0, 60))):
        case(
            f"machine/latest-{label}",
            "of equal machines the one published later is taken",
            section,
            machine(3500, at=times[0], device="computer"),
            machine(3500, PHONE, 0x30000002, at=times[1], device="mobile"),
        )
    case(
        "machine/copied",
        "aggregateMachineState has availability, activities with their bounds, and the endpoint in lower case",
        "3.8.5.1.2.7",
        machine(3500, acts=[act("on-the-phone", 3000, 8999)], location="office", device="computer"),
    )


def availability_rules(case):
    section = "3.8.5.1.2.2"
    for bottom in (4499, 4500, 5000, 5999, 6000):
        for number in (3500, 5999, 6000, 6900, 7499, 7500, 9000, 12000):
            case(
                f"idle/{bottom}-{number}",
                "a busy user at an idle machine gets 1500 more, and no one else",
                section,
                machine(bottom, at=30),
                state(number, manual=True),
            )
    for kind in ("userState", "calendarState", "phoneState", "presentingState"):
        case(f"maximum/{kind.lower()}", "every type counts alike", section, machine(3500), state(6500, kind), state(3000, kind, 7))
    case(
        "maximum/computed",
        "what servers computed, and machines that did not win, are no part of the set",
        section,
        machine(3500),
        machine(15500, PHONE, 0x30000002),
        state(18500, "aggregateState", 7),
        state(15500, "aggregateMachineState", 8),
    )
    for label, at in (("older", -60), ("equal", 0), ("newer", 60)):
        case(
            f"manual/{label}",
            "what is older than a state set by hand does not count",
            section,
            machine(3500),
            state(3500, manual=True),
            state(6500, "calendarState", 7, at=at),
        )
    for label, at, start in (("start-newer", -60, 60), ("start-older", 60, -60)):
        case(
            f"manual/{label}",
            "the start of a state is its age",
            section,
            machine(3500),
            state(3500, manual=True),
            state(6500, "calendarState", 7, at=at, start=start),
        )
    case(
        "manual/start-of-manual",
        "the start of the state set by hand too",
        section,
        machine(3500),
        state(3500, manual=True, start=90),
        state(6500, "calendarState", 7, at=60),
    )
    case(
        "manual/several",
        "of several states set by hand the newest decides",
        section,
        machine(3500),
        state(9500, manual=True),
        state(6500, instance=0x24000000, at=60, manual=True),
        state(12500, "calendarState", 7, at=30),
    )
    case("manual/machine", "the machine counts however old it is", section, machine(15500, at=-3600), state(3500, manual=True))
    case("manual/false", "a state not set by hand makes nothing void", section, machine(3500), state(3500, manual=False), state(6500, "phoneState", 7, at=-60))


def activity_rules(case):
    section = "3.8.5.1.2.3"
    for number in (6499, 6500, 7499, 7500):
        case(
            f"activity/bounds-{number}",
            "an activity holds within its bounds, both included",
            section,
            machine(3500),
            state(number, "phoneState", acts=[act("on-the-phone", 6500, 7499)]),
        )
    for label, low, high in (("none", None, None), ("low", 6500, None), ("high", None, 6500), ("unbounded", 6500, "unbounded")):
        case(
            f"activity/open-{label}",
            "a bound that is not there does not bind",
            section,
            machine(3500),
            state(6500, "phoneState", acts=[act("on-the-phone", low, high)]),
        )
    case(
        "activity/after-idle",
        "the bounds are those after the idle rule",
        "3.8.5.1.2.3, 4.3.1",
        machine(5000),
        state(6900, manual=True, acts=[act("urgent-interruptions-only", 6900, 8999), act("in-a-conference", 6901, 7499)]),
    )
    case("activity/empty", "an activity without token and text is none", section, machine(3500), state(6500, acts=[act(low=6000)]))
    case("activity/text", "an activity may be a text", section, machine(3500), state(6500, acts=[act(low=6000, texts=["Interviewing"])]))
    case(
        "activity/highest",
        "the highest lower bound wins, whatever is newer",
        section,
        machine(3500),
        state(6500, "phoneState", 7, acts=[act("on-the-phone", 6500)]),
        state(6500, "calendarState", 8, at=60, acts=[act("in-a-meeting", 6000)]),
        state(6500, "userState", 9, at=90, acts=[act("off-work")]),
    )
    for label, at, start in (("published", 90, None), ("older", 0, None), ("started", 0, 90), ("started-older", 90, 0)):
        case(
            f"activity/tie-{label}",
            "of equal bounds the later state wins, by its start if it has one",
            section,
            machine(3500),
            state(6500, "phoneState", 7, at=at, start=start, acts=[act("on-the-phone", 6500)]),
            state(6500, "calendarState", 8, at=60, acts=[act("in-a-meeting", 6500)]),
        )
    case(
        "activity/void",
        "the activity of a state that one set by hand makes void is void",
        section,
        machine(3500),
        state(3500, manual=True),
        state(3500, "calendarState", 7, at=-60, acts=[act("in-a-meeting", 3000)]),
    )
    case("activity/machine", "the machine has activities too", section, machine(6500, at=-60, acts=[act("on-the-phone", 6000)]), state(3500, manual=True))


def detail_rules(case):
    zone = (480, "Pacific Standard Time", "PST")
    everything = {"location": "office", "zone": zone, "device": "computer"}
    for name, more in (
        ("location", {"location": "office"}),
        ("zone", {"zone": zone}),
        ("device", {"device": "computer"}),
        ("activity", {"acts": [act("on-the-phone")]}),
        ("nothing", {"location": ""}),
    ):
        case(
            f"detail/{name}",
            "which containers show it",
            "3.8.5.1.2.7",
            machine(3500, **more),
            machine(3500, container=3, **more),
        )
    meeting = {"subject": "Budget", "place": "Room 7"}
    for source in (2, 3):
        rest = {"container": source}
        calendar = state(6900, "calendarState", 7, acts=[act("in-a-meeting", 6500, 8999)], **meeting, **rest)
        case(f"table/machine-{source}", "every element of every container", "3.8.5.1.2.7", machine(5000, **everything, **rest), calendar)
        case(f"table/offline-{source}", "without a machine, static instances 0", "3.8.5.1.2.7", calendar)
    case("table/both", "the containers do not mix", "3.8.5.1.2.7", machine(5000), machine(3500, container=3), state(9500, container=3))
    for number in (2999, 3000, 4499, 4500, 5999, 6000, 7499, 7500, 8999, 9000, 11999, 12000, 17999, 18000):
        case(
            f"last-active/{number}",
            "who is idle or not there was last active when his machine said so",
            "3.8.5.1.2.4",
            machine(2000, at=90),
            state(number, manual=True),
        )
    case("last-active/machine", "the most active machine's time", "3.8.5.1.2.4", machine(15500, at=90), machine(5000, PHONE, 2, at=30))
    for number in (11999, 12000):
        case(f"place/{number}", "who is not there is nowhere", "3.8.5.1.2.6", machine(3500, **everything), state(number))
    case(
        "place/winner",
        "place and device are those of the most active machine",
        "3.8.5.1.2.6",
        machine(5000, **everything),
        machine(3500, PHONE, 2, location="mobile", device="mobile"),
    )

    def calendar(instance, subject=None, place=None, type="calendarState"):
        return state(3500, type, instance, subject=subject, place=place)

    section = "3.8.5.1.2.5"
    case("meeting/one", "the meeting of the only calendar with one", section, machine(3500), calendar(7, "Budget", "Room 7"), calendar(8))
    case("meeting/subject", "a subject without a place", section, machine(3500), calendar(7, "Budget"))
    case("meeting/place", "a place without a subject", section, machine(3500), calendar(7, None, "Room 7"))
    case("meeting/two", "of two meetings none", section, machine(3500), calendar(7, "Budget"), calendar(8, None, "Room 7"))
    case("meeting/none", "a calendar without a meeting", section, machine(3500), calendar(7))
    case("meeting/other", "only a calendar has meetings", section, machine(3500), calendar(7, "Budget", type="userState"))
    busy = state(9500, at=60, manual=True)
    case("meeting/lost", "also when another state decides", section, machine(3500), calendar(7, "Budget", "Room 7"), busy)


def service_rules(case):
    section = "3.8.5.2.2"
    at_desk, at_phone = machine(3500), machine(5000, PHONE, 0x30000002)

    def both(stem, comment, first, second, machines=(at_desk, at_phone)):
        case(f"services/{stem}", comment, section, *machines, device(DESK, 1, (GINA, [first])), device(PHONE, 2, (GINA, [second])))

    many = [can("text"), can("gifInk", capture=False), can("breakthrough", False, False, True), can("voice", version=4)]
    case("services/one", "what watchers see, and what the own endpoints see", section, at_desk, device(DESK, 1, (GINA, many)))
    line = ("tel:+4930123456", [can("remoteCallControl", False, False, True)])
    case("services/hidden", "an address of which nothing is for watchers is not named to them", section, at_desk, device(DESK, 1, (GINA, many[:1]), line))
    case("services/own-only", "nothing for watchers is an empty list", section, at_desk, device(DESK, 1, line))
    case(
        "services/addresses",
        "one service for each address, with what any device can do there",
        section,
        at_desk,
        at_phone,
        device(DESK, 1, (GINA, [can("text")]), ("tel:+4930123456", [can("voice")])),
        device(PHONE, 2, (GINA, [can("text"), can("video")])),
    )
    case("services/case", "endpoints are compared without case", section, machine(3500, DESK.lower()), device(DESK, 1, (GINA, [can("text")])))
    case("services/no-machine", "a device without a machine counts for nothing", section, at_phone, device(DESK, 1, (GINA, [can("text")])))
    case("services/some-machine", "the others count", section, at_phone, device(DESK, 1, (GINA, [can("text")])), device(PHONE, 2, (GINA, [can("text", True, False)])))
    both("first", "the first stays when none is better", can("text", True, False), can("text"))
    both("first-equal", "equal is not better", can("text"), can("text", True, False), (at_desk, machine(3500, PHONE, 0x30000002)))
    both("active", "the more active machine is better", can("text"), can("text"), (machine(5000), machine(3500, PHONE, 0x30000002)))
    both("later", "of equal machines the later one is more active", can("text"), can("text"), (at_desk, machine(3500, PHONE, 0x30000002, at=60)))
    both("useless", "what can do nothing gives way", can("text", False, False), can("text", True, False))
    for render, capture in ((True, False), (False, True)):
        stem = "half-render" if render else "half-capture"
        both(stem, "what can do one of two does not give way", can("text", render, capture), can("text"))

    def private(version):
        return can("calendar", False, False, True, version)

    both("version-higher", "for the own devices the higher version wins", private(1), private(2))
    both("version-lower", "a lower version does not", private(2), private(1), (machine(5000), machine(3500, PHONE, 0x30000002)))
    both("version-missing", "a missing version is 0", private(None), private(1))
    both("version-tie", "of one version the more active machine wins", private(7), private(7), (machine(5000), machine(3500, PHONE, 0x30000002)))
    both("version-tie-first", "or the first", private(7), private(7))


def derived_rules(case):
    for kind in ("userState", "presentingState", "phoneState"):
        for number in (8999, 9000, 11999, 12000):
            case(
                f"dnd/{kind.lower()}-{number}",
                "who is not to be disturbed, by his own word or while presenting",
                "3.8.5.4",
                state(number, kind),
                state(number, kind, container=3),
            )
    case("dnd/container-3", "each input container for its own", "3.8.5.4", state(3500), state(9500, container=3))
    calendar = xml.category("calendarData", hours_of(), 0, clock(0), container=1, version=1, expireType="static")
    case("working-hours/made", "the working hours of a calendar", "3.8.5.3", more=[calendar], hours=hours_of())
    elsewhere = [
        xml.category("calendarData", hours_of(), instance, clock(0), container=container, version=1, expireType="static")
        for instance, container in ((7, 1), (0, 200))
    ]
    case("working-hours/elsewhere", "of another instance or container, none", "3.8.5.3", more=elsewhere)
    empty = E("calendarData", {"xmlns": xml.MS + "calendarData", "mailboxID": "gina@contoso.com"})
    case(
        "working-hours/none",
        "a calendar without working hours",
        "3.8.5.3",
        more=[xml.category("calendarData", empty, 0, clock(0), container=1, version=1, expireType="static")],
    )


def stored_rules(case):
    before = clock(0)

    def stored(container, number, instance=1, expire="user", version=4, type="aggregateState", **more):
        body = xml.state(number, type=type, **more)
        return xml.category("state", body, instance, before, container=container, version=version, expireType=expire)

    numbers = {(name, number, 1): (4, before) for name in ("state", "legacyInterop") for number in (100, 200, 300, 400)}
    kept = {**numbers, ("state", 2, 1): (4, before), ("state", 3, 1): (4, before), ("state", 2, MACHINE): (4, before)}

    def legacy(container, number, instance=1, expire="user"):
        return xml.category("legacyInterop", xml.legacy(number), instance, before, container=container, version=4, expireType=expire)

    computed = [stored(container, 3500) for container in (2, 3, 100, 200, 300, 400)]
    computed += [stored(2, 3500, MACHINE, type="aggregateMachineState", endpointId=DESK.lower())]
    computed += [legacy(container, 3500) for container in (100, 200, 300, 400)]
    section = "3.8.5.1.1, 3.8.5.1.2.7"
    case(
        "stored/same",
        "what comes out as before keeps version and publishTime",
        section,
        machine(3500),
        machine(3500, container=3),
        more=computed,
        kept=kept,
    )
    other = {key: (5, NOW) if key[1] in (2, 100, 200, 400) else value for key, value in kept.items()}
    case(
        "stored/changed",
        "what changed has the next version and the time of the change",
        section,
        machine(6500),
        machine(3500, container=3),
        more=computed,
        kept=other,
    )
    offline = [stored(container, 18500, 0, "static", lastActive="2026-11-22T08:00:00") for container in (2, 3, 200, 300, 400)]
    offline += [stored(100, 18500, 0, "static")] + [legacy(container, 18500, 0, "static") for container in (100, 200, 300, 400)]
    case("stored/sign-in", "a machine replaces the static instances", section, machine(3500), machine(3500, container=3), more=offline)
    case("stored/sign-out", "its end replaces them back", "3.8.5.1.2.7, 4.4.2", state(3500), state(3500, container=3), more=computed)
    odd = E("state", {"xmlns": xml.MS + "state", "xsi:type": "userState"}, E("availability", None, "much"))
    body = xml.category("state", odd, 9, before, container=2, version=1, expireType="static")
    case("stored/unreadable", "a state that cannot be read is ignored", "2.2.2.7", machine(3500), more=[body], result="tolerated")
