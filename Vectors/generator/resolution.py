"""Which container a watcher sees (MS-PRES 3.2.5.3)."""

import payloads as xml
from payloads import E

FIONA = "sip:fiona@contoso.com"
TIME = "2026-11-22T09:30:00.000"


def data(containers, categories):
    """containers: number to members, each "type" or "type:value"; categories: pairs of name and container."""
    made = []
    for number, members in containers.items():
        parts = []
        for member in members:
            kind, _, value = member.partition(":")
            parts.append(E("member", {"type": kind, "value": value or None}))
        made.append(E("container", {"id": number, "version": 1}, *parts))
    instances = [
        (
            E(
                "category",
                {"name": name, "instance": 0, "publishTime": TIME, "container": number, "version": 1, "expireType": "static"},
                E("note", {"xmlns": xml.MS + "note"}),
            )
            if name == "note"
            else E(
                "category",
                {"name": name, "instance": 0, "publishTime": TIME, "container": number, "version": 1, "expireType": "static"},
                xml.state(3500, type="userState"),
            )
        )
        for name, number in categories
    ]
    root = E(
        "roamingData",
        {"xmlns": xml.MS + "roaming-self"},
        E("categories", {"xmlns": xml.MS + "categories", "uri": FIONA}, *instances),
        E("containers", {"xmlns": xml.MS + "containers"}, *made),
    )
    return root.document()


def write(suite):
    def case(stem, comment, spec, containers, held, watcher, network, decision, category="state"):
        held = [(name, number) for name, number in held] if held and isinstance(held[0], tuple) else [("state", number) for number in held]
        suite.add(
            f"resolution/{stem}",
            comment,
            spec,
            data(containers, held),
            watcher=watcher,
            network=network,
            category=category,
            decision=decision,
        )

    spec = ["MS-PRES 3.2.5.3"]
    bob, tom, cloud = "sip:bob@contoso.com", "sip:tom@fabrikam.com", "sip:ann@example.net"
    case(
        "user",
        "the watcher as a member beats its class in a container of a higher number",
        ["MS-PRES 3.2.5.3", "MS-PRES 1.3.1.3.8"],
        {1: ["user:bob@contoso.com", "publicCloud"], 2: ["sameEnterprise"]},
        [1, 2],
        bob,
        "sameEnterprise",
        "container 1 (user)",
    )
    case(
        "user-not-held",
        "a container without the category is no candidate: the next rule decides",
        spec,
        {1: ["user:bob@contoso.com"], 2: ["sameEnterprise"]},
        [2],
        bob,
        "sameEnterprise",
        "container 2 (sameEnterprise)",
    )
    case(
        "highest",
        "within a rule the highest number wins",
        ["MS-PRES 3.2.5.3", "MS-PRES 1.3.1.3.6"],
        {100: ["federated"], 200: ["federated"]},
        [100, 200],
        tom,
        "federated",
        "container 200 (federated)",
    )
    case(
        "highest-user",
        "of two containers with the watcher the higher wins",
        spec,
        {3: ["user:bob@contoso.com"], 300: ["user:bob@contoso.com"], 400: ["sameEnterprise"]},
        [3, 300, 400],
        bob,
        "sameEnterprise",
        "container 300 (user)",
    )
    case(
        "highest-numeric",
        "numbers are compared as numbers",
        spec,
        {90: ["federated"], 100: ["federated"]},
        [90, 100],
        tom,
        "federated",
        "container 100 (federated)",
    )
    case(
        "member-order",
        "the order of members does not matter",
        ["MS-PRES 1.3.1.3.6"],
        {200: ["everyone", "sameEnterprise", "user:bob@contoso.com"]},
        [200],
        bob,
        "sameEnterprise",
        "container 200 (user)",
    )
    case(
        "domain",
        "the watcher's domain beats its class",
        spec,
        {300: ["sameEnterprise"], 100: ["domain:contoso.com"]},
        [100, 300],
        bob,
        "sameEnterprise",
        "container 100 (domain)",
    )
    case(
        "domain-case",
        "domains are compared without case",
        ["RFC 3261 19.1.4"],
        {100: ["domain:FABRIKAM.com"]},
        [100],
        tom,
        "federated",
        "container 100 (domain)",
    )
    case(
        "domain-sub",
        "a domain below is another domain",
        ["MS-PRES 3.2.5.3"],
        {100: ["domain:fabrikam.com"]},
        [100],
        "sip:tom@emea.fabrikam.com",
        "federated",
        "blocked (no member matches)",
    )
    case(
        "domain-above",
        "the domain above is another domain",
        spec,
        {100: ["domain:com"]},
        [100],
        tom,
        "federated",
        "blocked (no member matches)",
    )
    case(
        "user-case",
        "the host of a user is compared without case",
        ["RFC 3261 19.1.4"],
        {400: ["user:tom@Fabrikam.COM"]},
        [400],
        tom,
        "federated",
        "container 400 (user)",
    )
    case(
        "same-enterprise",
        "a colleague",
        spec,
        {200: ["sameEnterprise"], 100: ["federated"]},
        [100, 200],
        bob,
        "sameEnterprise",
        "container 200 (sameEnterprise)",
    )
    case(
        "same-enterprise-federated",
        "a federated watcher is no colleague",
        spec,
        {200: ["sameEnterprise"], 100: ["federated"]},
        [100, 200],
        tom,
        "federated",
        "container 100 (federated)",
    )
    case(
        "public-cloud",
        "a watcher of the public cloud",
        spec,
        {100: ["federated"], 50: ["publicCloud"]},
        [100, 50],
        cloud,
        "publicCloud",
        "container 50 (publicCloud)",
    )
    case(
        "public-cloud-user",
        "a friend in the public cloud",
        spec,
        {300: ["user:ann@example.net"], 400: ["publicCloud"]},
        [300, 400],
        cloud,
        "publicCloud",
        "container 300 (user)",
    )
    case(
        "federated-not-cloud",
        "a federated watcher is not of the public cloud",
        spec,
        {50: ["publicCloud"]},
        [50],
        tom,
        "federated",
        "blocked (no member matches)",
    )
    case(
        "default",
        "container 0 has no member list: everybody sees it",
        ["MS-PRES 3.2.5.3", "MS-PRES 1.3.1.3.3"],
        {0: []},
        [0],
        tom,
        "federated",
        "container 0 (default)",
    )
    case(
        "default-last",
        "container 0 is tried last",
        spec,
        {0: ["everyone"], 100: ["federated"]},
        [0, 100],
        tom,
        "federated",
        "container 100 (federated)",
    )
    case(
        "default-other",
        "somebody whom no other container names sees container 0",
        spec,
        {0: ["everyone"], 200: ["sameEnterprise"]},
        [0, 200],
        tom,
        "federated",
        "container 0 (default)",
    )
    case(
        "everyone",
        "a container for everyone counts before container 0",
        ["MS-PRES 1.3.1.3.7"],
        {0: [], 40: ["everyone"]},
        [0, 40],
        tom,
        "federated",
        "container 40 (everyone)",
    )
    case(
        "blocked",
        "nobody names the watcher: blocked",
        spec,
        {200: ["sameEnterprise"]},
        [200],
        tom,
        "federated",
        "blocked (no member matches)",
    )
    case(
        "not-published",
        "no container holds the category",
        spec,
        {200: ["sameEnterprise"]},
        [("note", 200)],
        bob,
        "sameEnterprise",
        "blocked (not published)",
    )
    case(
        "per-category",
        "each category is resolved alone",
        ["MS-PRES 3.2.5.3"],
        {300: ["user:bob@contoso.com"], 200: ["sameEnterprise"]},
        [("state", 300), ("note", 200)],
        bob,
        "sameEnterprise",
        "container 200 (sameEnterprise)",
        category="note",
    )
    case(
        "private",
        "a private category is given to no watcher",
        ["MS-PRES 1.3.1.2", "MS-PRES 3.4.5.1.3"],
        {300: ["user:bob@contoso.com"]},
        [("legacyInterop", 300)],
        bob,
        "sameEnterprise",
        "blocked (private category)",
        category="legacyInterop",
    )
    case(
        "polite",
        "the container for blocked watchers is one like any other, with a number that beats all",
        ["MS-PRES 1.3.1.3.4"],
        {400: ["user:tom@fabrikam.com"], 32000: ["user:tom@fabrikam.com"]},
        [400, 32000],
        tom,
        "federated",
        "container 32000 (user)",
    )
    for number in (1, 2, 3, 100, 200, 300, 400, 32000):
        case(
            f"number-{number}",
            "the containers of deployed clients",
            ["MS-PRES 1.3.1.3"],
            {number: ["user:bob@contoso.com"]},
            [number],
            bob,
            "sameEnterprise",
            f"container {number} (user)",
        )
