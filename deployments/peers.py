"""Programs and stand-ins for the tests of the folders beside this file. Everything listens on 127.0.0.1 only."""
import os
import random
import re
import select
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from xml.sax.saxutils import quoteattr

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATIENCE = 15.0


class Failure(Exception):
    """A sentence that says what is wrong."""


class Checks:
    """Counts checks and prints each."""

    def __init__(self):
        self.passed = self.failed = 0
        self.cases = []

    def __call__(self, name, holds, detail=""):
        self.cases.append((name, bool(holds)))
        if holds:
            self.passed += 1
            print(f"passed: {name}", flush=True)
        else:
            self.failed += 1
            print(f"FAILED: {name}", flush=True)
            if detail:
                print("    " + str(detail).replace("\n", "\n    "), flush=True)
        return bool(holds)


def program(name, package, *places):
    """Path of a program; a Failure names its Debian package where it is missing."""
    for place in (*places, "/usr/sbin", "/usr/bin", "/usr/local/bin"):
        path = os.path.join(place, name)
        if os.access(path, os.X_OK):
            return path
    found = shutil.which(name)
    if not found:
        raise Failure(f"the program {name} is missing: install the Debian package {package}")
    return found


def isthmus():
    """Program under test: $ISTHMUS, or the one that `make build` writes, or the installed one."""
    named = os.environ.get("ISTHMUS")
    built = os.path.join(ROOT, ".build/debug/isthmus")
    path = named or (built if os.access(built, os.X_OK) else shutil.which("isthmus"))
    if not path or not os.access(path, os.X_OK):
        raise Failure("there is no program isthmus: run `make build`, or name it in the variable ISTHMUS")
    return os.path.abspath(path)


def kamailio_modules():
    for place in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"):
        if os.path.isdir(f"{place}/kamailio/modules"):
            return f"{place}/kamailio/modules/"
    raise Failure("the modules of Kamailio are missing: install the Debian package kamailio")


def free_port():
    """A port that is free for TCP and UDP, below those that Linux gives to connections (32768 on): it stays free until it is listened on."""
    for _ in range(100):
        port = random.randint(20000, 32000)
        with socket.socket() as stream, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagram:
            try:
                stream.bind(("127.0.0.1", port))
                datagram.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise Failure("no port is free on 127.0.0.1")


def until(condition, seconds=PATIENCE):
    """Waits until a condition holds; returns its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.05)


class Stage:
    """A scratch directory and the processes of one test. Its end stops them by their process ids, and removes the directory."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="isthmus-deployment-")
        self.processes, self.neighbours = [], []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for neighbour in self.neighbours:
            neighbour.close()
        for process in reversed(self.processes):
            self.stop(process)
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def adapted(self, source, changes, name=None):
        """Copies a file of the deployment with other addresses. Each text to replace must be there, so that the file that is tested is the
        file that is documented."""
        with open(source, encoding="utf-8") as file:
            text = file.read()
        for old, new in changes.items():
            if old not in text:
                raise Failure(f"{source} does not contain {old!r}, which the test replaces")
            text = text.replace(old, new)
        target = self.path(name or os.path.basename(source))
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)
        return target

    def start(self, words, name):
        with open(self.path(f"{name}.out"), "w", encoding="utf-8") as out, open(self.path(f"{name}.log"), "w", encoding="utf-8") as log:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=log, cwd=self.folder, start_new_session=True)
        process.name = name
        self.processes.append(process)
        return process

    def output(self, name):
        with open(self.path(f"{name}.out"), encoding="utf-8") as file:
            return file.read()

    def log(self, name, octets=3000):
        with open(self.path(f"{name}.log"), encoding="utf-8", errors="replace") as file:
            return file.read()[-octets:]

    def stop(self, process):
        """Ends one process, and returns its exit code; None where it had to be killed."""
        if process in self.processes:
            self.processes.remove(process)
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            return process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            # The children of Kamailio outlive it: end its process group, which start() made.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None

    def run(self, words, seconds=60):
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="backslashreplace", cwd=self.folder, timeout=seconds)
        return done.returncode, done.stdout

    def gateway(self, configuration, name="isthmus"):
        """Starts Isthmus; returns when it says that it is ready."""
        process = self.start([isthmus(), "serve", "--config", configuration], name)
        if not until(lambda: process.poll() is not None or "ready" in self.output(name)) or process.poll() is not None:
            raise Failure(f"isthmus did not start: {self.log(name)}")
        return process

    def kamailio(self, configuration, port, name="kamailio"):
        """Starts Kamailio; returns when it accepts on a TCP port."""
        words = [program("kamailio", "kamailio"), "-DD", "-E", "-f", configuration, "-P", self.path(f"{name}.pid"), "-Y", self.folder,
                 "-w", self.folder, "-m", "64", "-M", "8", "-L", kamailio_modules()]
        process = self.start(words, name)

        def accepts():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        if not until(lambda: process.poll() is not None or accepts()) or process.poll() is not None:
            raise Failure(f"kamailio did not start: {self.log(name)}")
        return process

    def certificates(self, names):
        """Makes an authority and a certificate for each name; returns the folder, with roots.pem, NAME.pem and NAME.key."""
        tool = program("openssl", "openssl")
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

        def make(*words):
            code, output = self.run([tool, *words])
            if code:
                raise Failure(f"openssl failed: {output}")

        make("req", "-x509", *key, "-keyout", "roots.key", "-out", "roots.pem", "-days", "90", "-subj", "/CN=Test Authority",
             "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign")
        for name in names:
            with open(self.path("extensions"), "w", encoding="utf-8") as file:
                file.write(f"subjectAltName=DNS:{name}\nextendedKeyUsage=serverAuth,clientAuth\n")
            make("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
            make("x509", "-req", "-in", f"{name}.csr", "-CA", "roots.pem", "-CAkey", "roots.key", "-CAcreateserial", "-days", "90",
                 "-extfile", "extensions", "-out", f"{name}.pem")
        return self.folder


class Message:
    """A SIP message: first line, header fields in order, body."""

    def __init__(self, start, headers, body=b""):
        self.start, self.headers, self.body = start, headers, body

    @classmethod
    def parsed(cls, octets, body):
        lines = re.sub(r"\r\n[ \t]+", " ", octets.decode("utf-8", "replace")).split("\r\n")
        return cls(lines[0], [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:] if ":" in line], body)

    def all(self, name):
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def get(self, name, default=""):
        return (self.all(name) or [default])[0]

    @property
    def status(self):
        return int(self.start.split()[1]) if self.start.startswith("SIP/2.0 ") else None

    @property
    def method(self):
        return None if self.status else self.start.split()[0]

    @property
    def target(self):
        """Request-URI."""
        return self.start.split()[1]

    @property
    def text(self):
        return self.body.decode("utf-8", "replace")

    @property
    def routes(self):
        """Record-Route in the order of the message."""
        return [route.strip() for value in self.all("Record-Route") for route in value.split(",")]

    @property
    def contact(self):
        return re.search(r"<([^>]+)>", self.get("Contact")).group(1)

    def encoded(self):
        head = [self.start] + [f"{key}: {value}" for key, value in self.headers if key.lower() != "content-length"]
        return ("\r\n".join(head + [f"Content-Length: {len(self.body)}"]) + "\r\n\r\n").encode() + self.body

    def __str__(self):
        return self.encoded().decode("utf-8", "replace")


class Neighbour:
    """A SIP server over TLS or TCP as a stand-in: it listens, connects to one next hop, answers what arrives by `answer`, and keeps it.

    `answer(request)` returns a status, or a Message, or None for no answer.
    """

    counter = 0

    def __init__(self, stage, name, hop, certificate=True, answer=lambda request: 200):
        self.name, self.hop, self.answer = name, hop, answer
        self.received = []
        self.responses = {}
        self.changed = threading.Condition()
        self.lock = threading.Lock()
        self.line = None
        self.sockets, self.threads = [], []
        self.client = self.server = None
        if certificate is not None:
            self.client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            self.client.check_hostname = False
            self.client.load_verify_locations(stage.path("roots.pem"))
            self.server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.server.verify_mode = ssl.CERT_REQUIRED
            self.server.load_verify_locations(stage.path("roots.pem"))
            self.server.load_cert_chain(stage.path(f"{name}.pem"), stage.path(f"{name}.key"))
            if certificate:
                self.client.load_cert_chain(stage.path(f"{name}.pem"), stage.path(f"{name}.key"))
        self.transport = "tcp" if certificate is None else "tls"
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen()
        self.port = self.listener.getsockname()[1]
        self.uri = f"sip:127.0.0.1:{self.port};transport={self.transport}"
        self._run(self._accept)
        stage.neighbours.append(self)

    # Connections

    def _run(self, function, *words):
        thread = threading.Thread(target=function, args=words, daemon=True)
        self.threads.append(thread)
        thread.start()

    def _accept(self):
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            self._run(self._serve, plain)

    def _serve(self, plain):
        try:
            plain.settimeout(PATIENCE / 3)
            line = self.server.wrap_socket(plain, server_side=True) if self.server else plain
            line.setblocking(False)
        except OSError:
            plain.close()
            return
        self.sockets.append(line)
        self._read(line)

    def _connected(self):
        line = self.line
        if line is None:
            plain = socket.create_connection(("127.0.0.1", self.hop), timeout=PATIENCE)
            line = self.client.wrap_socket(plain) if self.client else plain
            line.setblocking(False)
            self.line = line
            self.sockets.append(line)
            self._run(self._read, line)
        return line

    def _read(self, line):
        buffer = b""
        while True:
            octets = self._received(line)
            if not octets:
                with self.changed:
                    if line is self.line:
                        self.line = None
                    self.changed.notify_all()
                line.close()
                return
            buffer += octets
            while True:
                buffer = buffer.lstrip(b"\r\n")
                head, found, rest = buffer.partition(b"\r\n\r\n")
                if not found:
                    break
                length = int((re.search(rb"(?im)^(?:content-length|l)[ \t]*:[ \t]*(\d+)", head) or [0, b"0"])[1])
                if len(rest) < length:
                    break
                buffer = rest[length:]
                self._take(Message.parsed(head, rest[:length]), line)

    def _received(self, line):
        """The next octets; none at the end. OpenSSL does not allow a read and a write of one connection at the same time."""
        while True:
            try:
                select.select([line], [], [], 0.2)
                with self.lock:
                    return line.recv(65536)
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                continue
            except (OSError, ValueError):
                return b""

    def _write(self, line, octets):
        while octets:
            try:
                with self.lock:
                    octets = octets[line.send(octets):]
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                select.select([], [line], [], 0.2)

    def _take(self, message, line):
        if message.status:
            with self.changed:
                self.responses.setdefault((message.get("Call-ID"), message.get("CSeq")), []).append(message)
                self.changed.notify_all()
            return
        answer = None if message.method == "ACK" else self.answer(message)
        if answer is not None:
            response = answer if isinstance(answer, Message) else self.reply(message, answer)
            self._write(line, response.encoded())
        with self.changed:
            self.received.append(message)
            self.changed.notify_all()

    def close(self):
        """Ends listener and connections. The threads that read close the connections: a descriptor must not be reused while they read."""
        for line in [self.listener, *self.sockets]:
            try:
                line.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self.threads:
            thread.join(PATIENCE)
        self.listener.close()

    # Messages

    @classmethod
    def token(cls):
        cls.counter += 1
        return f"{os.getpid()}x{cls.counter}"

    def reply(self, request, status, headers=(), body=b"", tag="there"):
        kept = [(key, value) for key, value in request.headers if key.lower() in ("via", "record-route", "from", "to", "call-id", "cseq")]
        kept = [(key, value + f";tag={tag}" if key.lower() == "to" and "tag=" not in value else value) for key, value in kept]
        contact = [] if any(key == "Contact" for key, _ in headers) else [("Contact", f"<{self.uri}>")]
        return Message(f"SIP/2.0 {status} Answer", kept + contact + list(headers), body)

    def request(self, method, target, sender, to, headers=(), body=b"", call=None, number=1):
        """A request of this neighbour: sender and to with their tags, if any."""
        return Message(f"{method} {target} SIP/2.0", [
            ("Via", f"SIP/2.0/{self.transport.upper()} 127.0.0.1:{self.port};branch=z9hG4bK{self.token()}"), ("Max-Forwards", "70"),
            ("From", sender), ("To", to), ("Call-ID", call or self.token() + "@127.0.0.1"), ("CSeq", f"{number} {method}"),
            ("Contact", f"<sip:{re.search(r'sip:([^@>]+)', sender).group(1)}@127.0.0.1:{self.port};transport={self.transport}>"),
            *headers], body)

    def send(self, request):
        self._write(self._connected(), request.encoded())

    def ask(self, request, seconds=PATIENCE):
        """Sends a request, and returns its final response, or None."""
        self.send(request)
        key = (request.get("Call-ID"), request.get("CSeq"))
        end = time.monotonic() + seconds
        with self.changed:
            while True:
                for response in self.responses.get(key, []):
                    if response.status >= 200:
                        return response
                if not self.changed.wait(max(0, end - time.monotonic())) and time.monotonic() > end:
                    return None

    def wait(self, condition, seconds=PATIENCE):
        """The first request received for which a condition holds, or None."""
        end = time.monotonic() + seconds
        with self.changed:
            while True:
                for request in self.received:
                    if condition(request):
                        return request
                if not self.changed.wait(max(0, end - time.monotonic())) and time.monotonic() > end:
                    return None


def finish(checks):
    """Writes the report that the command line names, prints the counts, and ends the program."""
    if len(sys.argv) > 1:
        suite = os.path.basename(os.path.dirname(os.path.abspath(sys.argv[0])))
        with open(sys.argv[1], "w", encoding="utf-8") as report:
            report.write(f'<testsuites>\n<testsuite name="deployments/{suite}" tests="{len(checks.cases)}" failures="{checks.failed}" '
                         'errors="0" skipped="0">\n')
            for name, holds in checks.cases:
                case = f'<testcase classname="deployments/{suite}" name={quoteattr(name)}'
                report.write(case + ("/>\n" if holds else "><failure/></testcase>\n"))
            report.write("</testsuite>\n</testsuites>\n")
    print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
    sys.exit(1 if checks.failed or not checks.passed else 0)


def main(test):
    """Runs a test function with its checks and stage. What is missing, or does not start, is a failure with a sentence."""
    def ended(number, _):
        raise SystemExit(128 + number)

    # So that its processes are stopped when it is.
    signal.signal(signal.SIGTERM, ended)
    checks = Checks()
    try:
        with Stage() as stage:
            test(checks, stage)
    except Failure as failure:
        checks("the test could run", False, failure)
    except (OSError, subprocess.SubprocessError) as failure:
        checks("the test could run", False, f"{type(failure).__name__}: {failure}")
    finish(checks)
