"""Rounds of `kill -9` under load, each with the store that the one before has left."""
import contextlib
import pathlib
import random
import select
import signal
import socket
import sqlite3
import subprocess
import time

from attacking import sip
from storing.peer import SETTINGS, Peer, change

PRESENTITIES = 10
WATCHERS = 2
# Stands for the change that a refused poll shows.
REFUSED = -1


class Presentity:
    """What its publisher and its watchers know of a presentity."""

    def __init__(self, user):
        self.user = user
        # Numbers of changes: sent, answered with 200, the greatest that any watcher was notified of, and shown by a poll after the kill.
        self.sent = self.acknowledged = self.notified = self.shown = 0
        # Entity-tag of the newest publication; None while the answer to the newest PUBLISH is missing.
        self.tag = ""
        self.watchers = []


class Dialog:
    """A watcher's subscription."""

    def __init__(self, presentity):
        self.presentity = presentity
        self.is_accepted = False
        self.cseq = self.change = 0


class Rounds:
    """Presentities and dialogs of all rounds, and the rules that were broken."""

    def __init__(self, program, directory, seed, shards):
        self.program, self.directory, self.shards = program, directory, shards
        self.random = random.Random(seed)
        self.peer = Peer("UDP")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            self.peer.gateway = probe.getsockname()
        self.store = directory / "isthmus.db"
        host, port = self.peer.gateway
        (directory / "isthmus.yaml").write_text(
            f"node: {{ name: edge1.example.net, shards: {shards} }}\n"
            f'listen: [ {{ address: "udp:{host}:{port}", authentication: none }} ]\n'
            + SETTINGS.format(store=self.store, route=f"udp:127.0.0.1:{self.peer.own[1]}"))
        self.process = None
        self.presentities = []
        self.dialogs, self.publishes, self.polls = {}, {}, {}
        self.faults = []
        self.acknowledged = self.notifications = self.unanswered = 0

    def fault(self, text):
        self.faults.append(text)
        print(f"  broken: {text}", flush=True)

    # The process

    def start(self):
        self.errors = open(self.directory / "errors", "ab")
        self.process = subprocess.Popen(
            [str(self.program), "serve", "--config", str(self.directory / "isthmus.yaml"), "--log-level", "warning"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors)
        ready, _, _ = select.select([self.process.stdout], [], [], 60)
        if not ready or not self.process.stdout.readline().startswith(b"ready "):
            raise RuntimeError("isthmus is not ready: " + (self.directory / "errors").read_text(errors="replace")[-2000:])

    def end(self, how):
        """Ends the process by a signal, and takes what it had sent before. Returns its exit code."""
        self.process.send_signal(how)
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.errors.close()
        while self.peer.work(0, self.take):
            pass
        return code

    # Messages

    def take(self, message, _):
        call, status = sip.header(message, "Call-ID"), sip.status(message)
        if status is None:
            self.take_notify(call, message)
        elif status >= 200 and call in self.publishes:
            presentity, number = self.publishes.pop(call)
            if status == 200:
                self.acknowledged += 1
                presentity.acknowledged, presentity.tag = number, sip.header(message, "SIP-ETag")
            elif status == 503 and not presentity.acknowledged:
                # Overload, at the start of a process on a busy machine: a first PUBLISH is new work.
                presentity.tag = ""
            elif status != 503:
                self.fault(f"{presentity.user}: PUBLISH of change {number} is answered {status}")
        elif status >= 200 and call in self.dialogs:
            self.dialogs[call].is_accepted = status == 200
        elif status >= 300 and call in self.polls:
            self.polls[call] = REFUSED

    def take_notify(self, call, message):
        shown = change(message)
        if call in self.polls:
            self.polls[call] = shown
            return
        dialog = self.dialogs.get(call)
        if dialog is None:
            return
        self.notifications += 1
        presentity, cseq = dialog.presentity, int(sip.header(message, "CSeq").split()[0])
        if cseq == dialog.cseq:
            return
        if cseq < dialog.cseq:
            self.fault(f"{presentity.user}: CSeq {cseq} after {dialog.cseq}")
        if shown < dialog.change:
            self.fault(f"{presentity.user}: change {shown} is notified after change {dialog.change}")
        if not sip.header(message, "Subscription-State").startswith("active"):
            self.fault(f"{presentity.user}: a watcher is notified of {sip.header(message, 'Subscription-State')}")
        dialog.cseq, dialog.change = cseq, shown
        presentity.notified = max(presentity.notified, shown)

    def publish(self, presentity):
        presentity.sent += 1
        message, call = self.peer.publish(presentity.user, presentity.sent, presentity.tag)
        presentity.tag = None
        self.publishes[call] = (presentity, presentity.sent)
        self.peer.send(message)

    def until(self, seconds, condition):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() >= end:
                return False
            self.peer.work(0.02, self.take)
        return True

    # A round

    def load(self, number):
        """Lets new presentities publish as fast as they are answered, and kills the process at a random moment after the first answer.

        In every second round another process locks the store for a while before, so that commits wait when the process is killed.
        """
        new = [Presentity(f"p{number}-{place}") for place in range(PRESENTITIES)]
        self.presentities += new
        for presentity in new:
            self.publish(presentity)
            for place in range(WATCHERS):
                message, call = self.peer.subscribe(presentity.user, f"w{place}-{presentity.user}")
                dialog = self.dialogs[call] = Dialog(presentity)
                presentity.watchers.append(dialog)
                self.peer.send(message)
        first = time.monotonic() + 60
        while not any(presentity.acknowledged for presentity in new):
            if time.monotonic() > first:
                self.fault(f"no PUBLISH of round {number} is accepted")
                break
            self.until(0.1, lambda: any(presentity.acknowledged for presentity in new))
            for presentity in new:
                if presentity.tag == "":
                    self.publish(presentity)
        end = time.monotonic() + self.random.uniform(0, 0.6)
        locked = end - self.random.uniform(0, 0.1) if number % 2 else end
        with contextlib.closing(sqlite3.connect(self.store, isolation_level=None, timeout=10)) as other:
            is_locked = False
            while (now := time.monotonic()) < end:
                if now >= locked and not is_locked:
                    other.execute("BEGIN IMMEDIATE")
                    is_locked = True
                for presentity in new:
                    if presentity.tag:
                        self.publish(presentity)
                self.peer.work(0.002, self.take)
            self.end(signal.SIGKILL)
        self.unanswered += sum(presentity.tag is None for presentity in new)
        # Answers to what the killed process had not answered never come.
        self.publishes.clear()
        return new

    def poll(self, presentities):
        """Polls presentities, with retransmissions, and once more after a refusal: a process that begins on a busy machine may be
        overloaded. Returns the change that each shows; None without an answer for a minute."""
        found, open_polls = dict.fromkeys(presentities), {}
        end = time.monotonic() + 60
        while time.monotonic() < end and (missing := [presentity for presentity in presentities if found[presentity] is None]):
            for presentity in missing:
                if presentity not in open_polls:
                    open_polls[presentity] = self.peer.poll(presentity.user)
                    self.polls[open_polls[presentity][1]] = None
                self.peer.send(open_polls[presentity][0])
            self.until(0.5, lambda: all(self.polls[open_polls[presentity][1]] is not None for presentity in missing))
            for presentity in missing:
                shown = self.polls[open_polls[presentity][1]]
                if shown == REFUSED:
                    del self.polls[open_polls.pop(presentity)[1]]
                else:
                    found[presentity] = shown
        self.polls.clear()
        return found

    def check(self, presentities):
        """Compares what a new process shows with what was acknowledged and notified before the kill, and changes it once more."""
        for presentity, shown in self.poll(presentities).items():
            user = presentity.user
            if shown is None:
                self.fault(f"{user}: a poll is not answered")
                continue
            if shown < presentity.acknowledged:
                self.fault(f"{user}: change {presentity.acknowledged} was acknowledged, and change {shown} is kept")
            if shown < presentity.notified:
                self.fault(f"{user}: change {presentity.notified} was notified, and change {shown} is kept")
            if shown > presentity.sent:
                self.fault(f"{user}: change {shown} is shown, and change {presentity.sent} is the newest")
            presentity.shown = shown
        changed = {presentity: presentity.tag for presentity in presentities if presentity.tag}
        left = list(changed)
        for _ in range(20):
            for presentity in left:
                presentity.tag = changed[presentity]
                self.publish(presentity)
            self.until(30, lambda: not self.publishes)
            # Refused with 503, which changes nothing.
            left = [presentity for presentity in left if presentity.acknowledged < presentity.sent]
            if self.publishes or not left:
                break
            self.until(0.5, lambda: False)
        for presentity in left:
            self.fault(f"{presentity.user}: change {presentity.sent} is not accepted")
        for presentity in changed:
            presentity.shown = presentity.acknowledged

        def behind():
            return [dialog for presentity in presentities for dialog in presentity.watchers
                    if dialog.is_accepted and dialog.change != presentity.shown]

        if not self.until(30, lambda: not behind()):
            for dialog in behind():
                self.fault(
                    f"{dialog.presentity.user}: a watcher was notified of change {dialog.change}, and change {dialog.presentity.shown} is kept")


def play(program, directory, rounds, seed, shards):
    """Returns whether no rule was broken."""
    play = Rounds(program, pathlib.Path(directory), seed, shards)
    last = []
    try:
        for number in range(rounds):
            play.start()
            play.check(last)
            last = play.load(number)
            if (number + 1) % 20 == 0:
                print(f"  {number + 1} rounds: {play.acknowledged} changes acknowledged, {play.notifications} notifications", flush=True)
        play.start()
        play.check(last)
        # Nothing of any round is lost later.
        for first in range(0, len(play.presentities), PRESENTITIES):
            for presentity, shown in play.poll(play.presentities[first:first + PRESENTITIES]).items():
                if shown != presentity.shown:
                    play.fault(f"{presentity.user}: change {presentity.shown} was kept, and change {shown} is shown at the end")
        if (code := play.end(signal.SIGTERM)) != 0:
            play.fault(f"the last process ends with {code}")
    finally:
        if play.process and play.process.poll() is None:
            play.process.kill()
            play.process.wait()
        play.peer.close()
    print(
        f"{rounds} rounds, {len(play.presentities)} presentities: {play.acknowledged} changes acknowledged, {play.notifications} notifications,"
        f" {play.unanswered} changes in flight at a kill, {len(play.faults)} rules broken")
    return not play.faults
