"""Publishers and watchers of hosted presentities, over one socket and in one thread."""
import re
import selectors
import socket
import time

from attacking import sip

DOMAIN = "example.com"
SETTINGS = """\
timing: {{ notify-spacing-ms: 0 }}
store: {{ sqlite: "{store}" }}
domains:
  example.com: {{ side: simple, hosted: true, unruled: allow, peers: [ 127.0.0.1 ] }}
  watchers.example.net: {{ side: simple, route: "{route}" }}
"""


def document(user, change):
    """A PIDF document that names the number of the change."""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><presence xmlns="urn:ietf:params:xml:ns:pidf" entity="sip:{user}@{DOMAIN}">'
        f"<tuple id=\"t1\"><status><basic>open</basic></status><note>change {change}.</note></tuple></presence>").encode()


def change(message):
    """The number of the newest change that a document shows; 0 if it shows none."""
    return max((int(number) for number in re.findall(rb"change (\d+)\.", message)), default=0)


class Peer:
    """A socket on loopback that answers every NOTIFY with 200 and hands all messages to `take`."""

    def __init__(self, transport, gateway=None):
        self.transport, self.gateway, self.rest = transport, gateway, b""
        if transport == "TCP":
            self.socket = socket.create_connection(gateway)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        else:
            # Not connected: the end of the gateway is no error of this socket.
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
            self.socket.bind(("127.0.0.1", 0))
        self.own = self.socket.getsockname()
        self.socket.setblocking(False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.socket, selectors.EVENT_READ)

    def close(self):
        self.selector.close()
        self.socket.close()

    def send(self, message):
        if self.transport == "TCP":
            self.socket.setblocking(True)
            self.socket.sendall(message)
            self.socket.setblocking(False)
        else:
            self.socket.sendto(message, self.gateway)

    def options(self):
        return self._request("OPTIONS", f"sip:{DOMAIN}", "sip:probe@watchers.example.net")

    def poll(self, user, watcher="poller"):
        return self._subscribe(user, watcher, 0)

    def subscribe(self, user, watcher):
        return self._subscribe(user, watcher, 3600)

    def publish(self, user, number, tag=""):
        extra = "Event: presence\r\nExpires: 3600\r\nContent-Type: application/pidf+xml\r\n"
        return self._request(
            "PUBLISH", f"sip:{user}@{DOMAIN}", f"sip:{user}@{DOMAIN}", extra + (f"SIP-If-Match: {tag}\r\n" if tag else ""),
            document(user, number))

    def _subscribe(self, user, watcher, expires):
        return self._request(
            "SUBSCRIBE", f"sip:{user}@{DOMAIN}", f"sip:{watcher}@watchers.example.net",
            f"Event: presence\r\nAccept: application/pidf+xml\r\nExpires: {expires}\r\n")

    def _request(self, method, uri, sender, extra="", body=b""):
        """Returns a request and its Call-ID."""
        message = sip.request(method, uri, self.own, sender=sender, transport=self.transport, extra=extra, body=body)
        return message, sip.header(message, "Call-ID")

    def work(self, seconds, take):
        """Waits for messages for at most this time, and takes those that have arrived.
        Returns whether there were any."""
        if not self.selector.select(max(0, seconds)):
            return False
        for message in self._received():
            if message.startswith((b"NOTIFY ", b"OPTIONS ")):
                self.send(sip.answer(message))
            take(message, time.monotonic())
        return True

    def _received(self):
        found = []
        while True:
            try:
                octets = self.socket.recv(1 << 18)
            except BlockingIOError:
                return found
            if self.transport != "TCP":
                found.append(octets)
                continue
            if not octets:
                raise ConnectionError("the gateway has closed the connection")
            messages, self.rest = sip.frames(self.rest + octets)
            found += messages
