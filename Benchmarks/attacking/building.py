"""The program that is measured when none is named."""
import subprocess
import sys
import tempfile


def build(root):
    """Builds the program in release mode, as the other benchmarks do, and returns its path."""
    flags = subprocess.check_output(["sh", "-c", ". scripts/release-flags; echo $release_flags"], cwd=root, text=True).split()
    command = ["swift", "build", "-c", "release", *flags, "--scratch-path", ".build-release", "--product", "isthmus"]
    with tempfile.TemporaryFile() as log:
        if subprocess.call(command, cwd=root, stdout=log, stderr=log) != 0:
            log.seek(0)
            sys.stderr.buffer.write(log.read())
            sys.exit(1)
    return root / ".build-release/release/isthmus"
