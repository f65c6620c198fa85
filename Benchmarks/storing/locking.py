"""What users see of a gateway while another process has locked its store."""
import collections
import pathlib
import select
import shutil
import sqlite3
import tempfile
import time

from attacking import sip
from attacking.gateway import Gateway
from storing.peer import SETTINGS, Peer

USERS = 20
HEADING = (
    f"{'program':<28} {'store':<7} {'requests':<9} {'sent':>6} {'50 %':>8} {'99 %':>8} {'greatest':>9} {'answered':<24} lost\n"
    "                                       milliseconds from the time at which a request was due to its answer")


class Meter:
    """Requests of one kind in one phase: their times, and how they were answered."""

    def __init__(self):
        self.sent, self.times, self.statuses = 0, [], collections.Counter()

    def row(self):
        times = sorted(self.times)

        def at(share):
            return f"{times[min(len(times) - 1, int(len(times) * share))] * 1000:.1f}" if times else "-"

        answered = ", ".join(f"{count} x {status}" for status, count in sorted(self.statuses.items()))
        lost = self.sent - sum(self.statuses.values())
        return f"{self.sent:>6} {at(0.5):>8} {at(0.99):>8} {at(1):>9} {answered:<24} {lost}"


class Asker:
    """Sends requests at even intervals, whether or not the earlier ones are answered, and measures their answers."""

    def __init__(self, peer):
        self.peer = peer
        # By Call-ID: meter, time at which it was due, and whether its answer is a NOTIFY.
        self.open = {}

    def send(self, request, meter, due, is_poll=False):
        message, call = request
        self.open[call] = (meter, due, is_poll)
        meter.sent += 1
        self.peer.send(message)

    def take(self, message, now):
        call, status = sip.header(message, "Call-ID"), sip.status(message)
        if call not in self.open or status is not None and status < 200:
            return
        meter, due, is_poll = self.open[call]
        # A poll that is accepted is answered by its NOTIFY.
        if is_poll and status is not None and status < 300:
            return
        del self.open[call]
        meter.times.append(now - due)
        meter.statuses[status or 200] += 1


def play(program, name, seconds, rounds, rate):
    """Measures OPTIONS and polls while the store is free, and while it is locked for `seconds`, `rounds` times each.
    Returns whether every request was answered."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="isthmus-locked-"))
    try:
        store = directory / "isthmus.db"
        with Gateway(program, SETTINGS.format(store=store, route="tcp:127.0.0.1:9")) as gateway:
            peers = [Peer("TCP", gateway.stream) for _ in range(2)]
            phases = measure(peers, store, seconds, rounds, rate)
            for phase, meters in phases.items():
                for kind, meter in sorted(meters.items()):
                    print(f"{name:<28} {phase:<7} {kind:<9} {meter.row()}", flush=True)
            for peer in peers:
                peer.close()
        return all(meter.sent == len(meter.times) for meters in phases.values() for meter in meters.values())
    finally:
        shutil.rmtree(directory)


def measure(peers, store, seconds, rounds, rate):
    askers = [Asker(peer) for peer in peers]
    phases = {phase: collections.defaultdict(Meter) for phase in ("free", "locked")}
    warm = Meter()
    for user in range(USERS):
        for prefix in ("polled", "busy"):
            askers[1].send(peers[1].publish(f"{prefix}{user}", 1), warm, time.monotonic())
    settle(askers, 30)
    # The first poll of a watcher is kept by the gateway, later ones change nothing.
    for user in range(USERS):
        askers[0].send(peers[0].poll(f"polled{user}"), warm, time.monotonic(), is_poll=True)
    settle(askers, 30)
    if warm.statuses != {200: 3 * USERS}:
        raise RuntimeError(f"publications and first polls are answered {dict(warm.statuses)}")
    number = 1
    for _ in range(rounds):
        for phase, meters in phases.items():
            lock = None
            if phase == "locked":
                lock = sqlite3.connect(store, isolation_level=None, timeout=10)
                lock.execute("BEGIN IMMEDIATE")
            start, sent = time.monotonic(), 0
            while True:
                due = start + sent / rate
                while (left := due - time.monotonic()) > 0:
                    work(askers, left)
                if due >= start + seconds:
                    break
                # One request in ten changes a presentity that nobody asks for, the others are OPTIONS and polls in turn.
                number += 1
                if sent % 10 == 0:
                    askers[1].send(peers[1].publish(f"busy{sent // 10 % USERS}", number), meters["PUBLISH"], due)
                elif sent % 2:
                    askers[0].send(peers[0].options(), meters["OPTIONS"], due)
                else:
                    askers[0].send(peers[0].poll(f"polled{number % USERS}"), meters["poll"], due, is_poll=True)
                sent += 1
            if lock:
                lock.execute("ROLLBACK")
                lock.close()
            settle(askers, 15)
            # A gateway that has failed a commit tries again a second later.
            pause(askers, 1.5)
    return phases


def work(askers, seconds):
    """Waits for messages for at most this time, and takes those that have arrived."""
    ready, _, _ = select.select([asker.peer.socket for asker in askers], [], [], max(0, seconds))
    for asker in askers:
        if asker.peer.socket in ready:
            asker.peer.work(0, asker.take)


def settle(askers, seconds):
    """Waits for the answers that are missing."""
    end = time.monotonic() + seconds
    while any(asker.open for asker in askers) and time.monotonic() < end:
        work(askers, 0.01)


def pause(askers, seconds):
    """Takes what arrives for this time."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        work(askers, left)
