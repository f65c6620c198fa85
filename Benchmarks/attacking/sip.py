"""As much of SIP as the attacks and the honest user need: messages as text, frames of a stream, Digest of RFC 7616."""
import hashlib
import itertools
import re

counter = itertools.count(1)


def request(method, uri, own, *, sender, to=None, transport="UDP", extra="", body=b"", length=None, call=None, cseq=1, branch=None):
    """A request outside a dialog, or in one where `call`, `cseq`, and tags within `sender` and `to` say so."""
    number = next(counter)
    host = f"{own[0]}:{own[1]}"
    head = (
        f"{method} {uri} SIP/2.0\r\n"
        f"Via: SIP/2.0/{transport} {host};branch={branch or f'z9hG4bK-{own[1]}-{number}'};rport\r\n"
        "Max-Forwards: 70\r\n"
        f"From: {sender if '<' in sender else f'<{sender}>;tag=t{number}'}\r\n"
        f"To: {to or f'<{uri}>'}\r\n"
        f"Call-ID: {call or f'c{number}-{own[1]}@{own[0]}'}\r\n"
        f"CSeq: {cseq} {method}\r\n"
        f"Contact: <sip:user@{host};transport={transport.lower()}>\r\n"
        f"{extra}"
        f"Content-Length: {len(body) if length is None else length}\r\n\r\n")
    return head.encode() + body


def header(message, name):
    """The first value of a header of a message, or an empty text."""
    found = re.search(rb"(?im)^" + name.encode() + rb"[ \t]*:[ \t]*(.*?)\r?$", message)
    return found.group(1).decode(errors="replace") if found else ""


def status(message):
    """The status of a response, or None of a request."""
    return int(message[8:11]) if message.startswith(b"SIP/2.0 ") else None


def answer(received, code=200, reason="OK", tag="", extra="", body=b""):
    """A response to a request that was received, with the headers that RFC 3261 8.2.6.2 has it copy."""
    lines = [f"SIP/2.0 {code} {reason}"]
    for line in received.split(b"\r\n\r\n")[0].decode(errors="replace").split("\r\n")[1:]:
        name = line.split(":")[0].strip().lower()
        if name in ("via", "from", "call-id", "cseq"):
            lines.append(line)
        elif name == "to":
            lines.append(line if not tag or "tag=" in line else f"{line};tag={tag}")
    return ("\r\n".join(lines) + f"\r\n{extra}Content-Length: {len(body)}\r\n\r\n").encode() + body


def frames(buffer):
    """Takes whole messages out of the octets of a stream.
    Returns the messages and what is left."""
    found = []
    while True:
        buffer = buffer.lstrip(b"\r\n")
        end = buffer.find(b"\r\n\r\n")
        if end < 0:
            return found, buffer
        total = end + 4 + int(header(buffer[:end + 2], "Content-Length") or 0)
        if len(buffer) < total:
            return found, buffer
        found.append(buffer[:total])
        buffer = buffer[total:]


class DigestAnswers:
    """The credentials of one user for the challenge taken last; the nonce is used again with a growing count."""

    def __init__(self, user, password):
        self.user, self.password = user, password
        self.challenge, self.count = None, 0

    def take(self, response):
        """Keeps the challenge of a 401 or 407; prefers MD5, which every version offers."""
        for line in response.split(b"\r\n\r\n")[0].decode().split("\r\n"):
            if line.lower().startswith(("www-authenticate: digest", "proxy-authenticate: digest")) and "sha-256" not in line.lower():
                self.challenge = dict(re.findall(r'(\w+)="?([^",]*)"?', line.split(" ", 2)[2]))
                self.challenge["header"] = "Authorization" if line.lower().startswith("www") else "Proxy-Authorization"
                self.count = 0

    def header(self, method, uri):
        """The header with credentials for one request, or an empty text before the first challenge."""
        if self.challenge is None:
            return ""
        self.count += 1

        def md5(text):
            return hashlib.md5(text.encode()).hexdigest()

        realm, nonce, count = self.challenge["realm"], self.challenge["nonce"], f"{self.count:08x}"
        response = md5(":".join(
            [md5(f"{self.user}:{realm}:{self.password}"), nonce, count, "0a4f113b", "auth", md5(f"{method}:{uri}")]))
        opaque = f', opaque="{self.challenge["opaque"]}"' if "opaque" in self.challenge else ""
        return (
            f'{self.challenge["header"]}: Digest username="{self.user}", realm="{realm}", nonce="{nonce}", uri="{uri}", '
            f'response="{response}", algorithm=MD5, qop=auth, nc={count}, cnonce="0a4f113b"{opaque}\r\n')
