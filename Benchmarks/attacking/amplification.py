"""What one datagram of an outsider brings back: octets out per octet in, and datagrams out per datagram in."""
import select
import socket
import time

from .gateway import Gateway
from .plays import DOMAINS, signed_in_users

#: Longer than a transaction over UDP lives (64 * T1), so that every copy of an answer is counted.
PATIENCE = 34


def minimal(method, own, target="sip:contoso.com", sender="sip:e@d.c", extra=""):
    """The shortest request that RFC 3261 8.1.1 allows, in compact form: what a sender of forged addresses would choose."""
    return (
        f"{method} {target} SIP/2.0\r\nv:SIP/2.0/UDP {own[0]}:{own[1]};branch=z9hG4bK{own[1]}\r\nf:<{sender}>;tag=1\r\nt:<{target}>\r\n"
        f"i:{own[1]}\r\nCSeq:1 {method}\r\nMax-Forwards:9\r\n{extra}l:0\r\n\r\n")


def kinds():
    """Each kind of datagram by name: a function of the sender's address."""
    contact = "m:<sip:e@127.0.0.1>\r\n"
    event = contact + "o:presence\r\n"
    result = {method: (lambda own, method=method: minimal(method, own, extra=contact)) for method in (
        "OPTIONS", "INVITE", "BYE", "CANCEL", "ACK", "MESSAGE", "INFO", "REFER", "FOO", "REGISTER")}
    result |= {method: (lambda own, method=method: minimal(method, own, "sip:a@contoso.com", extra=event)) for method in (
        "SUBSCRIBE", "PUBLISH", "SERVICE", "NOTIFY", "BENOTIFY")}
    result |= {
        "SUBSCRIBE as an enterprise user": lambda own: minimal("SUBSCRIBE", own, "sip:a@contoso.com", "sip:b@contoso.com", event),
        "REGISTER as an enterprise user": lambda own: minimal("REGISTER", own, "sip:contoso.com", "sip:b@contoso.com", contact),
        "SUBSCRIBE as a simple user": lambda own: minimal("SUBSCRIBE", own, "sip:a@example.org", "sip:b@example.org", event),
        "PUBLISH as a simple user": lambda own: minimal("PUBLISH", own, "sip:b@example.org", "sip:b@example.org", event),
        "SUBSCRIBE, unknown event": lambda own: minimal("SUBSCRIBE", own, "sip:a@contoso.com", extra=contact + "o:x\r\n"),
        "OPTIONS with Require": lambda own: minimal("OPTIONS", own, extra="Require:x\r\n"),
        "OPTIONS, Max-Forwards 0": lambda own: minimal("OPTIONS", own).replace("Forwards:9", "Forwards:0"),
        "OPTIONS, SIP/7.0": lambda own: minimal("OPTIONS", own).replace("contoso.com SIP/2.0", "contoso.com SIP/7.0"),
        "OPTIONS without Call-ID": lambda own: minimal("OPTIONS", own).replace(f"i:{own[1]}\r\n", ""),
        "OPTIONS with a broken From": lambda own: minimal("OPTIONS", own).replace("f:<sip:e@d.c>", "f:<<"),
        "OPTIONS with two CSeq": lambda own: minimal("OPTIONS", own, extra="CSeq:2 OPTIONS\r\n"),
        "a response": lambda own: minimal("OPTIONS", own).replace("OPTIONS sip:contoso.com SIP/2.0", "SIP/2.0 200 OK"),
        "CR LF CR LF": lambda own: "\r\n\r\n",
        "no SIP": lambda own: "x" * 100,
    }
    return result


def measure(program):
    """Sends one datagram of each kind, counts what comes back within 34 s, and prints the table."""
    with Gateway(program, DOMAINS, "any", signed_in_users()) as gateway:
        sockets = {}
        for name, make in kinds().items():
            own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            own.bind(("127.0.0.1", 0))
            octets = make(own.getsockname()).encode()
            own.sendto(octets, gateway.datagram)
            sockets[own] = [name, len(octets), 0, 0, "-"]
        end = time.monotonic() + PATIENCE
        while (left := end - time.monotonic()) > 0:
            for ready in select.select(list(sockets), [], [], left)[0]:
                octets = ready.recv(65536)
                sockets[ready][2] += 1
                sockets[ready][3] += len(octets)
                sockets[ready][4] = octets[8:11].decode(errors="replace")
        print(f"\n{'one datagram of an outsider':<34}{'answer':<8}{'octets in':<11}{'datagrams out':<15}{'octets out':<12}octets out per octet in")
        for own, (name, length, datagrams, octets, answer) in sockets.items():
            print(f"{name:<34}{answer:<8}{length:<11}{datagrams:<15}{octets:<12}{octets / length:.1f}", flush=True)
            own.close()
