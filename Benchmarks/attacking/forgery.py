"""Answers of a stranger: what a partner is asked over UDP is answered from another address before the partner does."""
import select
import socket
import time

from . import sip

FAR, OUTSIDER = ("127.0.0.4", 16060), "127.0.0.5"
#: The partner, in the configuration of the gateway.
DOMAIN = f'  example.net: {{ side: simple, route: "udp:{FAR[0]}:{FAR[1]}" }}\n'
KINDS = [(200, "OK", ""), (481, "Gone", ""), (408, "Timeout", ""), (503, "Unavailable", ""), (603, "Decline", ""),
         (302, "Moved", "Contact: <sip:elsewhere@127.0.0.5>\r\n")]


def forge_answers(gateway, seconds, count):
    """100 watchers subscribe to users of the partner; a stranger who has learnt the branch answers each first.
    Returns how many watchers did not get the partner's document."""
    partner = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    partner.bind(FAR)
    stranger = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    stranger.bind((OUTSIDER, 0))
    watcher = socket.socket()
    watcher.bind(("127.0.0.1", 0))
    watcher.connect(gateway.stream)
    own, buffer = watcher.getsockname(), b""
    shown, ended = set(), set()
    asked, users = {}, 100
    end = time.monotonic() + seconds
    sent = 0
    while time.monotonic() < end and len(shown | ended) < users:
        if sent < users:
            watcher.sendall(sip.request(
                "SUBSCRIBE", f"sip:p{sent}@example.net", own, sender=f"sip:w{sent}@example.org", transport="TCP", call=f"watch-{sent}",
                extra="Event: presence\r\nAccept: application/pidf+xml\r\nExpires: 3600\r\n"))
            sent += 1
        for ready in select.select([partner, watcher], [], [], 0.02)[0]:
            if ready is partner:
                octets, source = partner.recvfrom(65536)
                if octets.startswith(b"SUBSCRIBE"):
                    # A copy is answered like the first; the document goes out once.
                    place = sip.header(octets, "Call-ID")
                    kind = KINDS[asked.setdefault(place, len(asked)) % len(KINDS)]
                    stranger.sendto(sip.answer(octets, kind[0], kind[1], "forged", kind[2] + "Expires: 3600\r\n"), source)
                    count.value += 1
                    time.sleep(0.001)
                    partner.sendto(sip.answer(octets, 200, "OK", "true", contact() + "Expires: 3600\r\n"), source)
                    partner.sendto(notify(octets), source)
            else:
                octets = watcher.recv(1 << 18)
                if not octets:
                    return "the gateway closed the watchers' connection"
                messages, buffer = sip.frames(buffer + octets)
                for message in messages:
                    if sip.status(message) is None:
                        watcher.sendall(sip.answer(message))
                        place = sip.header(message, "Call-ID")
                        if b"terminated" in message.lower().split(b"\r\n\r\n")[0]:
                            ended.add(place)
                        elif b"the-true-note" in message:
                            shown.add(place)
    return f"forged; {users - len(shown)} of {users} watchers without the partner's document, {len(ended)} ended"


def contact():
    return f"Contact: <sip:server@{FAR[0]}:{FAR[1]}>\r\n"


def notify(subscribe):
    """The partner's NOTIFY with a document, in the dialog that a SUBSCRIBE makes."""
    entity = sip.header(subscribe, "To").split("<")[1].split(">")[0]
    body = (
        f'<presence xmlns="urn:ietf:params:xml:ns:pidf" entity="{entity}"><tuple id="t"><status><basic>open</basic></status>'
        "<note>the-true-note</note></tuple></presence>").encode()
    target = sip.header(subscribe, "Contact").split("<")[1].split(">")[0]
    return sip.request(
        "NOTIFY", target, FAR, sender=sip.header(subscribe, "To") + ";tag=true", to=sip.header(subscribe, "From"),
        call=sip.header(subscribe, "Call-ID"), body=body,
        extra="Event: presence\r\nSubscription-State: active;expires=3600\r\nContent-Type: application/pidf+xml\r\n")
