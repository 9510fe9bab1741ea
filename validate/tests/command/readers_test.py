#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whatever `validate` reads, by the tables of docs/readers.md, is refused in one sentence if it is wrong; and the tables are whole.

  readers_test.py VALIDATE SOURCE

The subcommand `selfcheck` is tried too if the set `trial` lies beside VALIDATE."""
import collections
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import readers_files as files
import readers_wrong as wrongs

HANGS = 600  # seconds that only a hanging command takes, even on the slowest host
EXTENTS = collections.defaultdict(lambda: 1, head_dim=16, page_size=4, max_pages=1)  # small, with room for every attribute
REPEATED = ("--attribute", "--layout", "--ignore", "--ignore-field", "--pass-env", "--prompt-text")
NUMBERS = {"tensors and attributes": 40, "flags and words": 200}


class Page:
    """The tables of docs/readers.md, by the heading above them: a list of rows, each a list of cells."""

    def __init__(self, path):
        self.tables = collections.defaultdict(list)
        heading = ""
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        for line in self.text.splitlines():
            if line.startswith("#"):
                heading = line.lstrip("# ")
            if line.startswith("| ") and not line.startswith("|--"):
                self.tables[heading].append([cell.strip() for cell in line.strip("|").split(" | ")])
        self.commands = {self.word(sub): shlex.split(self.word(right)) for sub, right in self.rows("Commands", "subcommand")}

    def rows(self, heading, *headers):
        """The rows of the tables under a heading, without the lines of headers."""
        return [[cell.strip(" |") for cell in row] for row in self.tables[heading] if row[0] not in headers]

    @staticmethod
    def word(cell):
        return cell.strip("` ")

    @staticmethod
    def words(cell):
        return re.findall(r"`([^`]*)`", cell)

    def flags(self):
        """Each (flag or word, subcommands, kind, right value or None, command with a place for the value)."""
        for flag, of, kind, right, command in self.rows("Flags and words", "flag"):
            flag = self.word(flag)
            right = self.word(right)
            own = shlex.split(self.word(command))
            subcommands = self.words(of)
            yield flag, subcommands, self.word(kind), None if right == "-" else right, own


class Checks:
    def __init__(self, page, validate, trial, source):
        self.page = page
        self.validate = validate
        self.trial = trial
        self.source = source
        self.failed = 0
        self.counts = collections.Counter()
        self.kinds = collections.Counter()
        self.environment = dict(os.environ, ASSAY_DATASETS=os.path.join(source, "datasets"))
        self.pool = concurrent.futures.ThreadPoolExecutor(2)
        self.waiting = []

    def fail(self, what, why):
        self.failed += 1
        print(f"FAILED  {what[:300]}\n  {why[:600]}")

    def call(self, arguments, **variables):
        try:
            return subprocess.run(
                [self.validate, *arguments],
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=HANGS,
                env=self.environment | variables,
            )
        except subprocess.TimeoutExpired:
            return None

    def works(self, arguments, **variables):
        """What is right works, or a refusal of what is wrong would say nothing."""
        said = self.call(arguments, **variables)
        if not said or said.returncode:
            self.fail(f"the right {arguments}", "hangs" if not said else f"exit code {said.returncode}: {said.stderr.decode()}")

    def refused(self, group, kind, names, arguments, prepare=None, **variables):
        """One of `names`, texts, is in the sentence that refuses.  `prepare` writes the wrong file first."""
        self.counts[group] += 1
        self.kinds[kind.split()[0]] += 1
        self.waiting.append(self.pool.submit(self.judge, names, arguments, prepare, variables))

    def judge(self, names, arguments, prepare, variables):
        what = f"{variables or ''} {prepare[0] if prepare else ''} {arguments}"
        if prepare:
            prepare[1]()
        said = self.call(arguments, **variables)
        if said is None:
            return self.fail(what, "hangs")
        error = said.stderr.decode(errors="backslashreplace")
        if said.returncode != 2:
            return self.fail(what, f"exit code {said.returncode}: {(said.stdout or said.stderr)[-300:]}")
        if not re.fullmatch(r"validate: [^\n]{1,3000}\n", error) or re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", error):
            return self.fail(what, f"not one plain sentence: {error!r}")
        if said.stdout:
            return self.fail(what, f"standard output has {said.stdout[:300]!r}")
        if not any(name and name in error for name in names):
            return self.fail(what, f"names none of {names}: {error}")
        return None

    def finish(self):
        for each in self.waiting:
            each.result()
        self.waiting.clear()


def shown(value):
    """A value as a sentence shows it: what a terminal would obey, and what is not UTF-8, as '?'."""
    text = os.fsdecode(value) if isinstance(value, bytes) else value
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u061c\u2028-\u202e\u2066-\u2069\udc80-\udcff]", "?", text)[:30]


# --- The tables are whole ---------------------------------------------------------------------------------------------
def help_of(checks, subcommand):
    """What a subcommand takes by its help: flags with a value, and words."""
    text = checks.call([subcommand, "--help"]).stdout.decode()
    taken = set(re.findall(r"^  (-\S+) (?:TEXT|UINT|INT|FLOAT)\b", text, re.M))
    words = re.search(r"^Positionals:\n((?:  .*\n)+)", text, re.M)
    return taken | set(re.findall(r"^  (\w+) TEXT", words[1] if words else "", re.M))


def same(checks, what, there, on_page):
    for name in sorted(there - on_page):
        checks.fail(f"{what} {name}", "docs/readers.md has no row for it")
    for name in sorted(on_page - there):
        checks.fail(f"{what} {name}", "docs/readers.md has a row for it, and it is not there")


def sources(source):
    for room in ("validate", "simt", "reference", "cuda/core"):
        for folder, folders, names in os.walk(os.path.join(source, room)):
            folders[:] = [f for f in folders if f != "tests"]
            for name in names:
                if name.endswith((".cpp", ".hpp", ".cu", ".cuh")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        yield os.path.relpath(path, source), re.sub(r"(?m)^\s*//.*", "", file.read())


def check_whole(checks):
    page = checks.page
    subcommands = set(re.findall(r"^  ([a-z-]+) {2,}", checks.call(["--help"]).stdout.decode().split("Subcommands:")[1], re.M))
    rows = collections.defaultdict(set)
    for flag, of, kind, _, _ in page.flags():
        for subcommand in of:
            rows[subcommand].add(flag)
        if kind.split()[0] not in wrongs.KINDS:
            checks.fail(f"the kind {kind} of {flag}", "the test has no wrong values of it")
    same(checks, "subcommand", subcommands, set(page.commands))
    for subcommand in sorted(subcommands):
        same(checks, f"{subcommand}:", help_of(checks, subcommand), rows[subcommand])
    described = {word for cell in page.rows("Kinds", "kind") for word in [w.split()[0] for w in page.words(cell[0])]}
    same(checks, "kind", set(wrongs.KINDS), described)

    variables, readers = set(), set()
    reads = re.compile(
        r'\b(read_file|read_tensors|open_file)\(|ifstream\b|Json::parse\(|"/proc/|/proc/\{\}|'
        r"\b(npz_in\(std|add_npy\(const|value_text\(const)"
    )
    for path, text in sources(checks.source):
        variables |= set(re.findall(r'getenv\("(\w+)"\)', text)) | set(re.findall(r'"(ASSAY_[A-Z_0-9]+)"', text))
        if (
            reads.search(text)
            and not path.startswith("validate/base/input")
            and not path.endswith(("unique_keys.hpp", "tensor_file.hpp", "formats.hpp"))
            and "/schema_maker." not in path  # which parses constants of its own
        ):
            readers.add(path)
    on_page = {page.word(row[0]) for row in page.rows("Environment", "variable")}
    same(checks, "variable", variables, on_page)
    cited = set(re.findall(r"`((?:validate|simt|reference|cuda)/[\w/]+\.\w+)`", page.text.split("## Files")[1]))
    same(checks, "reader of a file", readers, {p for p in cited if "/tests/" not in p and "base/input" not in p})
    python = set()
    for name in os.listdir(os.path.join(checks.source, "python/assay")):
        if name.endswith(".py"):
            with open(os.path.join(checks.source, "python/assay", name), encoding="utf-8") as file:
                python |= set(re.findall(r'VARIABLE = "(ASSAY_\w+)"', file.read()))
    paragraph = re.search(r"Those of the Python package.*?\n\n", page.text, re.S)[0]
    same(checks, "variable of the Python package", python, set(page.words(paragraph)) & set(re.findall(r"ASSAY_\w+", page.text)))
    for _, _, test in page.rows("Files", "file", "what")[-9:]:
        for command in page.words(test):
            if not os.path.exists(os.path.join(checks.source, command.split()[0])):
                checks.fail(f"the test `{command}`", "there is no such file")


def attributes_of(checks):
    """The attributes of each op, by `describe`: op -> (line of a small case, {attribute: choices})."""
    text = checks.call(["list", "ops"]).stdout.decode()
    for op in re.findall(r"^(\w+) +\d+ ", text, re.M):
        about = json.loads(checks.call(["describe", op, "--json"]).stdout)
        line = f"{op} f32 " + " ".join(f"{a['axis']}={EXTENTS[a['axis']]}" for a in about["axes"])
        yield op, line, {a["attribute"]: a["choices"] for a in about.get("attributes", [])}


# --- Wrong inputs ------------------------------------------------------------------------------------------------------
def command_of(page, flag, subcommand, own, value):
    """The command with the flag, or with the word in its place; without the flag if the value is None."""
    base = list(own or page.commands[subcommand])
    if not own and flag in base:  # the row's value takes the place of the command's
        at = base.index(flag)
        del base[at : at + 2]
    base[0] = subcommand
    if "@" in base:
        at = base.index("@")
        return base[:at] + ([] if value is None else [value]) + base[at + 1 :]
    return base + ([] if value is None else [flag, value])


def flags(checks):
    page = checks.page
    group = "flags and words"
    for flag, of, kind, right, own in page.flags():
        of = [s for s in of if s != "selfcheck" or checks.trial]
        for subcommand in of if right else []:
            checks.works(command_of(page, flag, subcommand, placed(own, subcommand), right))
        if not of:
            continue
        values = list(wrongs.of(kind, right))
        for number, value in enumerate(values):  # each value of one subcommand, in turns
            subcommand = of[number % len(of)]
            command = command_of(page, flag, subcommand, placed(own, subcommand), value)
            checks.refused(group, kind, [flag if flag.startswith("-") else "", *wrongs.named(kind, shown(value))], command)
        for subcommand in of if flag.startswith("-") else []:
            own_here = placed(own, subcommand)
            empty = command_of(page, flag, subcommand, own_here, "")
            checks.refused(group, kind, [flag], empty)
            checks.refused(group, kind, [flag], empty[:-1])  # no value
            if right and kind.split()[0] not in wrongs.SEVERAL and flag not in REPEATED:
                checks.refused(group, kind, [flag], command_of(page, flag, subcommand, own_here, right) + [flag, right])


def doctored(own):
    """What doctor takes of a command of replay: the files of a kernel."""
    kept = []
    for flag in ("--ptx", "--launch", "--cu", "--plugin"):
        if flag in own:
            kept += own[own.index(flag) : own.index(flag) + 2]
    return kept


def placed(own, subcommand):
    if not own or own[0] == subcommand:
        return own
    return ["doctor", *doctored(own)] if subcommand == "doctor" else [subcommand, *own[1:]]


def attributes(checks):
    page = checks.page
    group = "tensors and attributes"
    on_page = {
        (op, page.word(name)): (page.word(kind), page.word(right))
        for name, of, kind, right in page.rows("Attributes", "attribute")
        for op in page.words(of)
    }
    there = set()
    for op, line, choices in attributes_of(checks):
        for name, words in choices.items():
            there.add((op, name))
            kind, right = on_page.get((op, name), ("text", None))
            if words and kind.split()[1:] != words:
                checks.fail(f"{op} {name}", f"docs/readers.md gives it the words {kind}, and it has {words}")
            if not right:
                continue
            if op == "attention_forward" and name.startswith("ro") and name != "rope":
                line += " rope=half" if "rope=half" not in line else ""  # else it is not looked at
            if op != "transformer_layer":
                checks.works(["inputs", f"{line} {name}={right}", "-o", "right.npz"])
            for value in wrongs.attribute(kind):
                checks.refused(group, kind, [name, "position of"], ["inputs", f"{line} {name}={value}", "-o", "refused.npz"])
            checks.refused(group, kind, [name], ["inputs", f"{line} {name}={right} {name}={right}", "-o", "refused.npz"])
    same(checks, "attribute", {f"{op} {name}" for op, name in there}, {f"{op} {name}" for op, name in on_page})


def environment(checks):
    for name, kind, right, _ in (row for row in checks.page.rows("Environment", "variable") if len(row) == 4):
        name, kind, right = checks.page.word(name), checks.page.word(kind), checks.page.word(right)
        if right != "-":
            checks.works(["list", "ops"], **{name: right})
        for value in ["", *wrongs.variable(kind)]:
            checks.refused("environment", kind, [name], ["list", "ops"], **{name: value})
        for mistyped in (name + "X", name[:-1]) if len(name) > len("ASSAY_") + 4 else ():  # ASSAY_USER may be anyone's
            checks.refused("environment", kind, [name], ["list", "ops"], **{mistyped: right})


def of_files(checks):
    page = checks.page
    for row in page.rows("Files", "file", "what"):
        if len(row) != 5:
            continue
        about, kind, right, command, _ = row
        kind = page.word(kind)
        right = page.word(right)
        command = shlex.split(page.word(command))
        checks.works([right if word == "@" else word for word in command])
        group = "tensors and attributes" if kind in ("npz", "npz-attributes", "safetensors") else "files"
        for number, (what, content) in enumerate(files.wrong(kind, right)):
            name, arguments, prepare = files.placed(number, right, command, content)
            checks.refused(
                group, kind, [name, *re.findall(r"\bout\.npz", " ".join(command))], arguments, (f"{about}: {what}", prepare)
            )
            if "@" not in command:
                checks.finish()  # the file has its place in a folder that all share
        if "@" not in command:
            files.restore(right)


def names(checks):
    """Files whose names would steer a terminal are read and written, and their names are shown as what is plain."""
    evil = "\x1b[2J\x9b\u202e"
    run = ["run", "--backend", "simt", "--op", "softmax", "--kernel", "naive", "--dtype", "f32", "--suite", "sanitize"]
    for name in ("records.jsonl", "old.tsv.gz", "in.npz", "out.npz"):
        shutil.copy(name, evil + name)
    for command in (
        [*run, "--same-as", f"{evil}records.jsonl"],
        ["replay", "--from", f"{evil}records.jsonl"],
        ["report", f"{evil}records.jsonl", "-o", f"{evil}page.md"],
        ["compare", "records.jsonl", f"{evil}records.jsonl"],
        ["compare", "--calibrate", f"{evil}records.jsonl"],
        ["ledger", f"{evil}new.tsv.gz", "--sound", f"{evil}records.jsonl"],
        ["ledger-diff", f"{evil}old.tsv.gz", f"{evil}old.tsv.gz"],
        ["judge", f"{evil}in.npz", f"{evil}out.npz"],
        ["golden", "--inputs", f"{evil}in.npz", "-o", f"{evil}written.npz"],
        [*run, "--json", f"{evil}x.jsonl"],
        ["inputs", "softmax f32 rows=2 cols=3", "-o", f"{evil}written.npz"],
    ):
        said = checks.call(command)
        text = (said.stdout + said.stderr).decode(errors="replace") if said else "it hangs"
        if not said or said.returncode not in (0, 2, 3) or re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text):
            checks.fail(f"{command}", f"its name is not shown plain: {text!r}")


def main():
    validate, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    trial = os.path.exists(os.path.join(os.path.dirname(validate), "sets/trial"))
    checks = Checks(Page(os.path.join(source, "docs/readers.md")), validate, trial, source)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            files.prepare(checks)
            check_whole(checks)
            for group in (flags, attributes, environment, of_files, names):
                group(checks)
                checks.finish()
        finally:
            checks.pool.shutdown(cancel_futures=True)
        if os.path.exists("refused.npz"):
            checks.fail("refused.npz", "what was refused was written all the same")
        os.chdir(source)
    total = sum(checks.counts.values())
    print(f"{total} wrong inputs: " + ", ".join(f"{n} of {group}" for group, n in sorted(checks.counts.items())))
    print("by kind: " + ", ".join(f"{kind} {n}" for kind, n in sorted(checks.kinds.items())))
    print(f"{checks.failed} failed")
    few = [group for group, least in NUMBERS.items() if checks.counts[group] < least]
    return 1 if checks.failed or few or total < 400 else 0


if __name__ == "__main__":
    sys.exit(main())
