"""The honest user: asks for presence at a steady rate over a connection or port of its own, and takes the time of each answer."""
import select
import socket
import time

from . import sip


class HonestUser:
    """Fetches the presence of a hosted presentity (SUBSCRIBE with Expires 0): work that is new to the gateway each time.

    Requests leave at their appointed times, whether or not earlier ones have been answered; a delay counts from the appointed time.
    """

    def __init__(self, gateway, address, transport="TCP", credentials=None):
        self.credentials = credentials
        self.isStream = transport == "TCP"
        self.transport = transport
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM if self.isStream else socket.SOCK_DGRAM)
        self.socket.bind((address, 0))
        self.socket.connect(gateway.stream if self.isStream else gateway.datagram)
        if self.isStream:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.own = self.socket.getsockname()
        self.buffer = b""
        self.waiting = {}  # Call-ID: the appointed time
        self.delays, self.refused, self.sent = [], {}, 0
        if credentials:
            self.challenged = False
            self.ask(time.monotonic())
            self.listen(lambda: not self.waiting, 5)
            self.delays, self.refused, self.sent = [], {}, 0

    def ask(self, due):
        uri = "sip:alice@example.org"
        extra = "Event: presence\r\nAccept: application/pidf+xml\r\nExpires: 0\r\n"
        if self.credentials:
            extra += self.credentials.header("SUBSCRIBE", uri)
        message = sip.request("SUBSCRIBE", uri, self.own, sender="sip:bob@example.org", transport=self.transport, extra=extra)
        self.waiting[sip.header(message, "Call-ID")] = due
        self.sent += 1
        self.socket.sendall(message)

    def take(self, message):
        code = sip.status(message)
        if code is None:
            # A NOTIFY: answered as any user agent does.
            self.socket.sendall(sip.answer(message))
            return
        due = self.waiting.pop(sip.header(message, "Call-ID"), None)
        if due is None or code < 200:
            return
        if code in (401, 407) and self.credentials:
            # A challenge is no refusal: the nonce has ended, and the request goes out once more.
            self.credentials.take(message)
            self.sent -= 1
            self.ask(due)
        elif code // 100 == 2:
            self.delays.append(time.monotonic() - due)
        else:
            self.refused[code] = self.refused.get(code, 0) + 1

    def listen(self, isDone, seconds):
        """Takes what comes until `isDone`, at most for `seconds`."""
        end = time.monotonic() + seconds
        while not isDone() and (left := end - time.monotonic()) > 0:
            if not select.select([self.socket], [], [], min(left, 0.01))[0]:
                continue
            try:
                octets = self.socket.recv(1 << 18)
            except ConnectionError:
                octets = b""
            if not octets:
                if self.isStream:
                    return
                continue
            if self.isStream:
                messages, self.buffer = sip.frames(self.buffer + octets)
            else:
                messages = [octets]
            for message in messages:
                self.take(message)

    def live(self, rate, isOver, seconds):
        """Asks `rate` times a second until `isOver`, at most for `seconds`, and waits at most 10 s for the last answers."""
        self.delays, self.refused, self.sent = [], {}, 0
        begin = time.monotonic()
        number = 0
        while not isOver() and time.monotonic() - begin < seconds:
            due = begin + number / rate
            self.listen(lambda: time.monotonic() >= due, 5)
            try:
                self.ask(due)
            except OSError:
                self.waiting[f"unsent-{number}"] = due
            number += 1
        self.listen(lambda: not self.waiting, 10)
        unanswered = len(self.waiting)
        self.waiting = {}
        return Figures(self.sent, sorted(self.delays), dict(self.refused), unanswered)

    def close(self):
        self.socket.close()


class Figures:
    """What an honest user saw in one phase."""

    def __init__(self, sent, delays, refused, unanswered):
        self.sent, self.delays, self.refused, self.unanswered = sent, delays, refused, unanswered

    def milliseconds(self, part):
        if not self.delays:
            return "-"
        return f"{self.delays[min(len(self.delays) - 1, int(part * len(self.delays)))] * 1000:.1f}"

    def columns(self):
        refused = str(sum(self.refused.values()))
        if self.refused:
            refused += " (" + ", ".join(map(str, sorted(self.refused))) + ")"
        return [str(self.sent), self.milliseconds(0.5), self.milliseconds(0.99), self.milliseconds(1), refused, str(self.unanswered)]
