"""The attacks: each plays in a process of its own beside the honest user, bounded in time and in number of messages."""
import hashlib
import multiprocessing
import select
import socket
import time

from . import forgery, sip
from .gateway import Gateway, raise_descriptors
from .honest import HonestUser

#: Domains of the gateway in each play; everything else has its default.
DOMAINS = (
    "domains:\n"
    "  example.org: { side: simple, hosted: true, unruled: allow }\n"
    "  contoso.com: { side: enterprise, hosted: true }\n")
STRANGER, MEMBER, HONEST = "127.0.0.3", "127.0.0.1", "127.0.0.2"
PASSWORD = "correct horse"


class Attack:
    """What an attack needs of the gateway, and what its process does."""

    def __init__(self, run, settings=DOMAINS, authentication="none", users=None, honest=HONEST, credentials=None):
        self.run, self.settings, self.authentication = run, settings, authentication
        self.users, self.honest, self.credentials = users, honest, credentials


def pace(seconds, rate, most):
    """Yields numbers, `rate` a second for `seconds`, at most `most` of them; catches up when it is late."""
    begin = time.monotonic()
    number = 0
    while number < most and (elapsed := time.monotonic() - begin) < seconds:
        if number < elapsed * rate:
            yield number
            number += 1
        else:
            time.sleep(0.001)


def flood_invites(gateway, seconds, count):
    """INVITEs of 170 octets or so over UDP, 4.3 Mbit/s, from 64 ports of one host, with no answer to what comes back."""
    sockets = []
    for _ in range(64):
        own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        own.bind((STRANGER, 0))
        own.setblocking(False)
        sockets.append((own, own.getsockname()[1]))
    for number in pace(seconds, 3200, 400_000):
        own, port = sockets[number % len(sockets)]
        octets = (
            f"INVITE sip:a@b.c SIP/2.0\r\nv:SIP/2.0/UDP {STRANGER}:{port};branch=z9hG4bK{number};rport\r\nf:<sip:e@d.c>;tag=1\r\n"
            f"t:<sip:a@b.c>\r\ni:{number}\r\nCSeq:1 INVITE\r\nm:<sip:e@{STRANGER}>\r\nMax-Forwards:9\r\nl:0\r\n\r\n").encode()
        try:
            own.sendto(octets, gateway.datagram)
            count.value += 1
        except BlockingIOError:
            pass


def forge_digest(gateway, seconds, count):
    """Made-up credentials in datagrams that carry the address of the honest user's site: five a second."""
    own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    own.bind((MEMBER, 0))
    own.setblocking(False)
    for number in pace(seconds, 5, 2_000):
        forged = (
            f'Authorization: Digest username="bob", realm="example.org", nonce="{number:032x}", uri="sip:alice@example.org", '
            f'response="{number:032x}", algorithm=MD5, qop=auth, nc=00000001, cnonce="1"\r\nEvent: presence\r\nExpires: 0\r\n')
        own.sendto(
            sip.request("SUBSCRIBE", "sip:alice@example.org", own.getsockname(), sender="sip:bob@example.org", extra=forged),
            gateway.datagram)
        count.value += 1
        try:
            while own.recv(65536):
                pass
        except BlockingIOError:
            pass


def send_halves(gateway, seconds, count):
    """2,000 connections of one address, each with a body of 262,144 octets of which the last one never comes."""
    raise_descriptors()
    end = time.monotonic() + seconds
    body = b"x" * 262_143
    held = []
    for _ in range(2_000):
        if time.monotonic() > end:
            break
        own = socket.socket()
        own.bind((STRANGER, 0))
        try:
            own.settimeout(max(0.1, min(5, end - time.monotonic())))
            own.connect(gateway.stream)
            own.sendall(sip.request(
                "PUBLISH", "sip:alice@example.org", own.getsockname(), sender="sip:eve@example.net", transport="TCP", body=body,
                extra="Event: presence\r\nContent-Type: application/pidf+xml\r\n", length=262_144))
            count.value += 1
            held.append(own)
        except OSError:
            own.close()
    time.sleep(max(0, min(5, end - time.monotonic())))


def rich_document(number, version):
    """A PIDF document of about 58 KB, a third of it notes and two thirds extensions; all differ from those of other publications."""
    notes = "".join(f"<note>n{number}-{version}-{index}</note>" for index in range(800))
    extensions = "".join(f'<x:e xmlns:x="urn:example:e" n="{number}-{version}-{index}"/>' for index in range(800))
    return (
        '<?xml version="1.0"?><presence xmlns="urn:ietf:params:xml:ns:pidf" entity="sip:eve@example.org">'
        f'<tuple id="t{number}"><status><basic>open</basic></status></tuple>{notes}{extensions}</presence>').encode()


def publish_big(gateway, seconds, count):
    """One user with one watcher holds up to 20 publications of 58 KB, then modifies one after the other, each as soon as the last is answered."""
    end = time.monotonic() + seconds
    user = Conversation(gateway, "127.0.0.1")
    own = user.own
    watcher = Conversation(gateway, "127.0.0.1")
    watcher.exchange(sip.request(
        "SUBSCRIBE", "sip:eve@example.org", watcher.own, sender="sip:dave@example.org", transport="TCP",
        extra="Event: presence\r\nAccept: application/pidf+xml\r\nExpires: 3600\r\n"), end)
    tags = {}
    for number in range(400):
        if time.monotonic() > end:
            break
        place = number % 20
        extra = "Event: presence\r\nContent-Type: application/pidf+xml\r\nExpires: 600\r\n"
        if place in tags:
            extra += f"SIP-If-Match: {tags[place]}\r\n"
        response = user.exchange(sip.request(
            "PUBLISH", "sip:eve@example.org", own, sender="sip:eve@example.org", transport="TCP", extra=extra,
            body=rich_document(place, number // 20)), end)
        count.value += 1
        if response and sip.status(response) == 200:
            tags[place] = sip.header(response, "SIP-ETag")
        watcher.take(0)


def search_wide(gateway, seconds, count):
    """One signed-in user searches a directory of 50,000 with 1,000 conditions, of which the last alone excludes everybody: two a second."""
    user = Conversation(gateway, "127.0.0.1")
    rows = '<m:row m:attrib="givenName" m:value="G"/>' * 999 + '<m:row m:attrib="givenName" m:value="Gx"/>'
    body = (
        '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>'
        '<m:directorySearch xmlns:m="http://schemas.microsoft.com/winrtc/2002/11/sip"><m:filter m:href="#f"/>'
        '<m:maxResults>50</m:maxResults></m:directorySearch>'
        '<m:Array xmlns:m="http://schemas.microsoft.com/winrtc/2002/11/sip" m:id="f">'
        f'{rows}</m:Array></e:Body></e:Envelope>').encode()
    for _ in pace(seconds, 2, 600):
        user.socket.sendall(sip.request(
            "SERVICE", "sip:contoso.com", user.own, sender="sip:u1@contoso.com", transport="TCP", body=body,
            extra="Content-Type: application/SOAP+xml\r\n"))
        count.value += 1
        user.take(0)


class Conversation:
    """A TCP connection that answers the gateway's requests with 200."""

    def __init__(self, gateway, address):
        self.socket = socket.socket()
        self.socket.bind((address, 0))
        self.socket.connect(gateway.stream)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.own = self.socket.getsockname()
        self.buffer = b""

    def take(self, seconds):
        """Reads what comes within `seconds`; returns the final responses."""
        responses = []
        while select.select([self.socket], [], [], seconds)[0]:
            octets = self.socket.recv(1 << 18)
            if not octets:
                raise ConnectionResetError("the gateway closed the connection")
            messages, self.buffer = sip.frames(self.buffer + octets)
            for message in messages:
                if sip.status(message) is None:
                    self.socket.sendall(sip.answer(message))
                elif sip.status(message) >= 200:
                    responses.append(message)
            if responses:
                return responses
        return responses

    def exchange(self, message, end):
        """Sends a request and returns its final response, or None when the time is over."""
        self.socket.sendall(message)
        while (left := end - time.monotonic()) > 0:
            for response in self.take(min(left, 1)):
                if sip.header(response, "Call-ID") == sip.header(message, "Call-ID"):
                    return response
        return None


def signed_in_users():
    """A directory with two users of example.org who have a password."""
    text = "users:\n"
    for user in ("alice", "bob"):
        secret = f"{user}:example.org:{PASSWORD}".encode()
        verifiers = f"v1 {user} example.org nt={'0' * 32} md5={hashlib.md5(secret).hexdigest()} sha256={hashlib.sha256(secret).hexdigest()}"
        text += f'  sip:{user}@example.org: {{ display-name: {user}, verifiers: "{verifiers}" }}\n'
    return text


def large_directory():
    """A directory of 50,000 users of contoso.com."""
    return "users:\n" + "".join(f"  sip:u{number}@contoso.com: {{ given-name: G{number} }}\n" for number in range(50_000))


ATTACKS = {
    "invite-flood": Attack(flood_invites),
    "forged-digest": Attack(
        forge_digest, authentication="digest", users=signed_in_users, honest=MEMBER, credentials=lambda: sip.DigestAnswers("bob", PASSWORD)),
    "half-messages": Attack(send_halves),
    "big-publications": Attack(publish_big),
    "directory-search": Attack(search_wide, users=large_directory),
    "forged-answers": Attack(forgery.forge_answers, settings=DOMAINS + forgery.DOMAIN),
}
COLUMNS = (18, 10, 6, 9, 9, 9, 14, 11, 8, 8)
HEADING = "".join(
    name.ljust(width) for name, width in zip(
        ("attack", "phase", "sent", "50 % ms", "99 % ms", "most ms", "refused", "unanswered", "RSS MB", "peak MB"), COLUMNS)
) + "attack messages"


def play(name, program, seconds, rate):
    """Plays one attack and prints a line of the honest user's figures before it, and one during it."""
    attack = ATTACKS[name]
    raise_descriptors()
    with Gateway(program, attack.settings, attack.authentication, attack.users() if attack.users else "") as gateway:
        transport = "UDP" if attack.credentials else "TCP"
        honest = HonestUser(gateway, attack.honest, transport, attack.credentials() if attack.credentials else None)
        show(name, "silence", honest.live(rate, lambda: False, 5), gateway, gateway.memory("VmRSS"), "")
        before = gateway.memory("VmRSS")
        count = multiprocessing.Value("q", 0)
        notes = multiprocessing.Array("c", 400)
        attacker = multiprocessing.Process(target=run, args=(attack.run, gateway, seconds, count, notes))
        attacker.start()
        # A second more, so that what the attack leaves behind is seen too.
        overtime = []

        def is_over():
            if not attacker.is_alive() and not overtime:
                overtime.append(time.monotonic() + 1)
            return bool(overtime) and time.monotonic() > overtime[0]

        figures = honest.live(rate, is_over, seconds + 30)
        if attacker.is_alive():
            attacker.terminate()
        attacker.join()
        show(name, "attack", figures, gateway, before, f"{count.value} {notes.value.decode()}".strip())
        honest.close()


def run(attack, gateway, seconds, count, notes):
    try:
        note = attack(gateway, seconds, count) or ""
    except OSError as error:
        note = f"ended early: {error}"
    notes.value = note.encode()[:399]


def show(name, phase, figures, gateway, before, messages):
    fields = [name, phase, *figures.columns(), f"{before:.0f}", f"{gateway.memory('VmHWM'):.0f}"]
    print("".join(field.ljust(width) for field, width in zip(fields, COLUMNS)) + messages, flush=True)
