"""`isthmus serve` as a child process, with its files in a directory that goes when it ends."""
import pathlib
import resource
import select
import shutil
import subprocess
import tempfile


class Gateway:
    """A running gateway with default limits on 127.0.0.1; a context manager that stops what it started."""

    def __init__(self, program, settings, authentication="none", users=""):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="isthmus-attack-"))
        try:
            if users:
                (self.directory / "users.yaml").write_text(users)
                (self.directory / "users.yaml").chmod(0o600)
            configuration = self.directory / "isthmus.yaml"
            configuration.write_text(
                "node: { name: edge1.example.net }\n"
                f'listen: [ {{ address: "tcp:127.0.0.1:0", authentication: {authentication} }},\n'
                f'          {{ address: "udp:127.0.0.1:0", authentication: {authentication} }} ]\n'
                + ("directory: { file: users.yaml }\n" if users else "") + settings)
            self.errors = open(self.directory / "errors", "w+b")
            self.process = subprocess.Popen(
                [str(program), "serve", "--config", str(configuration), "--log-level", "error"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors, preexec_fn=raise_descriptors)
        except BaseException:
            shutil.rmtree(self.directory)
            raise
        ready, _, _ = select.select([self.process.stdout], [], [], 60)
        greeting = self.process.stdout.readline().decode() if ready else ""
        ports = dict(word.split(":", 1) for word in greeting.split() if ":" in word)
        if not {"tcp", "udp"} <= ports.keys():
            self.errors.seek(0)
            reason = self.errors.read().decode(errors="replace")
            self.stop()
            raise RuntimeError(f"isthmus is not ready: {greeting!r} {reason}")
        self.stream = ("127.0.0.1", int(ports["tcp"].rsplit(":", 1)[1]))
        self.datagram = ("127.0.0.1", int(ports["udp"].rsplit(":", 1)[1]))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def memory(self, field):
        """A field of /proc/PID/status in MB: VmRSS is the resident memory now, VmHWM the most there ever was."""
        try:
            for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
                if line.startswith(field + ":"):
                    return int(line.split()[1]) / 1024
        except OSError:
            pass
        return float("nan")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()
        shutil.rmtree(self.directory)


def raise_descriptors():
    """Attacks over thousands of connections shall not end at the shell's limit of descriptors."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard < 65536 else 65536, hard))
