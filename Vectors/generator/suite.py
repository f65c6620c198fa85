"""Collects cases and writes them: one stem per case, payloads beside it."""

import json
import os

EXTENSIONS = {"sip": "sip"}


class Suite:
    def __init__(self):
        self.files = {}
        # Documents that several cases of one folder read.
        self.inputs = {}

    def put(self, path, content):
        if isinstance(content, str):
            content = content.encode("utf-8")
        if self.files.get(path, content) != content:
            raise SystemExit(f"two cases write {path}")
        self.files[path] = content

    def payload(self, path, content):
        """The path of an input; an equal input of the same folder is used again."""
        key = (os.path.dirname(path), content)
        return self.inputs.setdefault(key, path)

    def add(self, id, comment, spec, input, expected=None, result="valid", extension="xml", input_name=None, **members):
        """Adds one case.

        id: suite/stem. input, expected: payloads. input_name: of an input that other cases read too.
        members: those of the format that are set, as they are.
        """
        id = id.lower()
        case = {"id": id, "comment": comment, "spec": spec, "source": "generated"}
        for name in ("format", "from", "to", "profile", "at", "lossless", "entity", "stream", "watcher", "network", "category", "decision"):
            if members.get(name) is not None:
                case[name] = members[name]
        folder = os.path.dirname(id)
        path = self.payload(f"{folder}/{input_name}.in.{extension}" if input_name else f"{id}.in.{extension}", input)
        self.put(path, input)
        case["input"] = os.path.relpath(path, folder)
        if expected is not None and expected == input:
            case["expected"] = case["input"]
        elif expected is not None:
            case["expected"] = os.path.basename(f"{id}.out.{extension}")
            self.put(f"{id}.out.{extension}", expected)
        case["result"] = result
        for name in ("error", "loss", "rows", "roundtrip"):
            if members.get(name) is not None and members.get(name) != []:
                case[name] = members[name]
        if members.get("loss") == [] and id.startswith("mapping/"):
            case["loss"] = []
        lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in case.items()]
        self.put(id + ".json", "{\n" + ",\n".join(lines) + "\n}\n")

    def case(self, stem, comment, spec, origin, target, input, expected, *, loss=None, entity=None, suite=None, **members):
        """A conversion; with `loss` it goes to mapping/, whose losses are exact, else to conversion/."""
        suite = suite or ("conversion" if loss is None else "mapping")
        if loss is not None:
            members["loss"] = sorted(set(loss))
        if origin == "legacy-interop":
            members["entity"] = entity
        self.add(f"{suite}/{stem}", comment, spec, input, expected, **{"from": origin, "to": target}, **members)

    def refused(self, stem, comment, spec, origin, target, input, error, **members):
        self.add(
            f"conversion/refused/{stem}", comment, spec, input, result="invalid", error=error, **{"from": origin, "to": target}, **members
        )

    def write(self, root):
        """Writes the files and removes generated ones that no case has any more."""
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                relative = os.path.relpath(path, root)
                if relative in self.files or not name.endswith(".json") or os.sep not in relative:
                    continue
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                if '"source": "generated"' not in text:
                    continue
                case = json.loads(text)
                for other in [name, case.get("input", ""), case.get("expected", "")]:
                    stale = os.path.join(folder, other)
                    if other and os.path.relpath(stale, root) not in self.files and os.path.exists(stale):
                        os.remove(stale)
        for relative, content in self.files.items():
            path = os.path.join(root, relative)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if os.path.exists(path):
                with open(path, "rb") as file:
                    if file.read() == content:
                        continue
            with open(path, "wb") as file:
                file.write(content)

    @staticmethod
    def unread(root):
        """Payloads that no case reads."""
        payloads, read = set(), set()
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                if name.endswith((".in.xml", ".out.xml", ".in.sip", ".out.sip")):
                    payloads.add(os.path.normpath(path))
                elif name.endswith(".json") and folder != root:
                    with open(path, encoding="utf-8") as file:
                        case = json.load(file)
                    read |= {os.path.normpath(os.path.join(folder, case[key])) for key in ("input", "expected") if key in case}
        return sorted(payloads - read)

    @property
    def count(self):
        return sum(1 for name in self.files if name.endswith(".json"))
