#!/usr/bin/env python3
"""Writes the generated golden vectors: `python3 Vectors/generate.py`; running it again gives the same bytes.

With `--check` nothing is written; the exit status is 1 when a file would change. The normative tables are stated in
generator/tables.py from the text of the standard, not read from Mappings/. Handwritten cases beside are left alone.
"""

import os
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "generator"))

import suite as suites  # noqa: E402


def main():
    suite = suites.Suite()
    names = ("normative", "states", "rpid", "details", "simple", "lookups", "refused", "resolution", "aggregation", "exact", "sip", "documents")
    for name in names:
        __import__(name).write(suite)
    if "--check" in sys.argv[1:]:
        stale = []
        for path, content in suite.files.items():
            try:
                with open(os.path.join(ROOT, path), "rb") as file:
                    if file.read() != content:
                        stale.append(path)
            except FileNotFoundError:
                stale.append(path)
        for path in stale:
            print(f"{path} differs from what generate.py writes")
        for path in suite.unread(ROOT):
            stale.append(path)
            print(f"{path} is read by no case")
        return 1 if stale else 0
    suite.write(ROOT)
    for path in suite.unread(ROOT):
        os.remove(path)
    print(f"{suite.count} cases")
    return 0


if __name__ == "__main__":
    sys.exit(main())
