#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels that are edits of a right one, where FOLDER is laid out like cuda/: broken ones in FOLDER/OP/faults.txt, and variants,
which are right, in FOLDER/OP/variants.txt.

  faults.py --check [FOLDER]             whether each edit matches its kernel exactly once (default: cuda)
  faults.py --write BUILD [FOLDER]       writes each as BUILD/OP/broken/NAME.cu or BUILD/OP/variants/NAME.cu, and removes those
                                         of edits that are gone
  faults.py --show OP NAME [FOLDER]      prints one
  faults.py --self-test                  checks that each mistake in an edit is told

An entry of faults.txt that has `kernel:` is an edit; any other is of a file broken/FAULT.cu:

  [FAULT]
  fault: TEXT         what is wrong
  caught by: TEXT     the check, and the fill or shape
  kernel: NAME        the right kernel that is changed: OP/NAME.cu or OP/variants/NAME.cu
  -LINE               lines of the kernel, one after the other, with their indentation: a line to replace,
   LINE               or one that stays
  +LINE               a line in their place
  (blank)             the edit changes another place too
  after:, witness:, tier:     as validate/records/faults.hpp says

An entry of variants.txt is always an edit, and has one line for the first two and none of the last:

  variant: TEXT       what it computes otherwise

The exit code is 1 if an edit does not match, and 2 if a file is none of this form.
"""

import argparse
import pathlib
import re
import sys
import tempfile
import textwrap

TREE = pathlib.Path(__file__).resolve().parents[1]
KINDS = {"faults.txt": "broken", "variants.txt": "variants"}  # files of edits, and where their kernels are written
KEYS = {"broken": ("fault", "caught by", "kernel"), "variants": ("variant", "kernel")}
LATER = {"broken": ("after", "witness", "tier"), "variants": ()}  # what validate-trial writes
TITLES = (("FAULT: ", "fault"), ("Caught by: ", "caught by"), ("", "variant"))  # of the head comment
MOST = 15  # lines that an edit takes away or adds; a larger one reads better as a file of its own


class Unreadable(Exception):
    """A file of edits that is not of their form."""


def named(path):
    """A path as messages have it: within the tree relative to it."""
    return str(path.relative_to(TREE)) if path.is_relative_to(TREE) else str(path)


class Fault:
    """An entry of faults.txt or variants.txt."""

    def __init__(self, path, line, name):
        self.path, self.line, self.name = path, line, name
        self.kind = KINDS[path.name]
        self.keys = {}
        self.hunks = []  # each a list of (number of its line in the file, sign, text)

    def place(self, line=None):
        return f"{named(self.path)}:{line or self.line}: [{self.name}]"

    @property
    def is_edit(self):
        return self.kind == "variants" or bool(self.hunks) or any(key in self.keys for key in KEYS[self.kind])

    def head(self):
        """The head comment of its kernel."""
        text = ["// SPDX-License-Identifier: Apache-2.0"]
        for title, key in TITLES:
            if key in KEYS[self.kind]:
                text += textwrap.wrap(f"{title}{self.keys.get(key, '')}", 125, initial_indent="// ", subsequent_indent="// ")
        # Note: which line it is stands apart, since the head comment is compiled into the table of kernels.
        return text + [
            "",
            f"// Written by cmake/faults.py: {self.keys.get('kernel')}.cu with the edit of {named(self.path)}:{self.line}.",
        ]


def read(path):
    """The faults of a file."""
    found = []
    begun = False  # whether the last line belongs to a hunk
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fault = found[-1] if found else None
        key, colon, value = line.partition(": ")
        head = re.fullmatch(r"\[([a-z0-9_]+)\]", line)
        if head:
            if any(other.name == head[1] for other in found):
                raise Unreadable(f"{named(path)}:{number}: '{head[1]}' stands here twice")
            found.append(Fault(path, number, head[1]))
        elif line.startswith("#"):
            continue
        elif fault and line[:1] in ("-", "+", " ") and line.strip():
            if not begun:
                fault.hunks.append([])
            fault.hunks[-1].append((number, line[0], line[1:].rstrip()))
            begun = True
            continue
        elif fault and colon and key in KEYS[fault.kind] + LATER[fault.kind]:
            if key in fault.keys:
                raise Unreadable(f"{named(path)}:{number}: a second '{key}:'")
            fault.keys[key] = value
        elif line:
            raise Unreadable(f"{named(path)}:{number}: no line of {path.name}: {line[:80]}")
        begun = False
    return found


def places_of(lines, wanted):
    """Where these lines stand in a file, from 0."""
    return [i for i in range(len(lines) - len(wanted) + 1) if lines[i : i + len(wanted)] == wanted]


def kernel_of(fault):
    """The file of the right kernel, or none."""
    op, name = fault.path.parent, fault.keys["kernel"]
    return next((f for f in (op / f"{name}.cu", op / "variants" / f"{name}.cu") if f.is_file()), None)


def edited_kernel(fault):
    """The text of the kernel with its edit, and what is wrong with the edit: one of both."""
    wrong = [f"{fault.place()}: an edit has '{key}:'" for key in KEYS[fault.kind] if key not in fault.keys]
    if wrong:
        return None, wrong
    for folder in ("broken", "variants", "."):
        if (fault.path.parent / folder / f"{fault.name}.cu").is_file():
            wrong.append(f"{fault.place()}: {folder}/{fault.name}.cu is a kernel of that name")
    file = kernel_of(fault)
    if not file:
        return None, [*wrong, f"{fault.place()}: there is no kernel {named(fault.path.parent)}/{fault.keys['kernel']}.cu"]
    lines = [line.rstrip() for line in file.read_text().splitlines()]
    first = next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))
    # Of each line of the kernel that is replaced, the hunk; messages of the compiler and the judge name the lines of both files.
    replaced = {}
    for hunk in fault.hunks:
        line = hunk[0][0]
        old = [text for _, sign, text in hunk if sign != "+"]
        places = places_of(lines, old) if old else []
        if not old:
            wrong.append(f"{fault.place(line)}: it takes no line away, and has none that stays")
        elif all(sign == " " for _, sign, _ in hunk):
            wrong.append(f"{fault.place(line)}: it changes nothing")
        elif len(places) > 1:
            where = ", ".join(str(p + 1) for p in places)
            wrong.append(f"{fault.place(line)}: the lines stand {len(places)} times in {named(file)}: from line {where} on")
        elif not places:
            strange = next((text for text in old if text not in lines), None)
            why = "the lines do not follow each other there" if strange is None else f"it has no line '{strange}'"
            wrong.append(f"{fault.place(line)}: the lines stand nowhere in {named(file)}: {why}")
        elif places[0] < first:
            wrong.append(f"{fault.place(line)}: the lines stand in the head comment of {named(file)}, which is not kept")
        elif replaced.keys() & set(range(places[0], places[0] + len(old))):
            wrong.append(f"{fault.place(line)}: two changes of one line")
        else:
            replaced.update({places[0] + i: hunk for i in range(len(old))})
    for sign, does in (("-", "takes away"), ("+", "adds")):
        changed = sum(1 for hunk in fault.hunks for _, s, _ in hunk if s == sign)
        if changed > MOST:
            wrong.append(f"{fault.place()}: it {does} {changed} lines, at most {MOST}; a larger one is a file of {fault.kind}/")
    if not fault.hunks:
        wrong.append(f"{fault.place()}: an edit has lines to replace")
    room = re.compile(rf"ROOM\({fault.path.parent.name}, {fault.keys['kernel']}\)")
    if not any(room.search(line) for line in lines):
        wrong.append(
            f"{fault.place()}: {named(file)} opens no namespace assay::ROOM({fault.path.parent.name}, {fault.keys['kernel']})"
        )
    if wrong:
        return None, wrong

    # Note: a kernel is named after its file, which #line says is that of the right one.
    text = fault.head() + [
        "#undef ASSAY_PLACE",
        f'#define ASSAY_PLACE "{fault.path.parent.name}/{fault.kind}/{fault.name}.cu"',
    ]
    follows = False
    renamed = f"ROOM({fault.path.parent.name}, {fault.name})"
    i = first
    while i < len(lines):
        if i in replaced:
            hunk, at = replaced[i], i
            for number, sign, line in hunk:
                if sign == "+":
                    text += [f'#line {number} "{named(fault.path)}"', line]
                    continue
                if sign == " ":
                    text += [f'#line {at + 1} "{named(file)}"', room.sub(renamed, lines[at])]
                at += 1
            i = at
            follows = False
            continue
        if not follows:
            text.append(f'#line {i + 1} "{named(file)}"')
            follows = True
        text.append(room.sub(renamed, lines[i]))
        i += 1
    text += ["#undef ASSAY_PLACE", "#define ASSAY_PLACE __FILE__"]
    return "\n".join(text) + "\n", []


def faults_of(folder):
    """All faults of a folder, and its variants that are edits."""
    return [fault for name in KINDS for path in sorted(folder.glob(f"*/{name}")) for fault in read(path)]


def check(folder):
    """What is wrong with the faults of a folder, and the number of edits."""
    wrong = []
    edits = 0
    for fault in faults_of(folder):
        if fault.is_edit:
            edits += 1
            wrong += edited_kernel(fault)[1]
        elif not (fault.path.parent / "broken" / f"{fault.name}.cu").is_file():
            wrong.append(f"{fault.place()}: it is no edit, and there is no file broken/{fault.name}.cu")
    return wrong, edits


def write_if_different(path, text):
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def write(build, folder):
    """Writes the kernels of all edits, and returns what is wrong.  One that does not match is a head that does not compile."""
    wrong = []
    written = set()
    for fault in (f for f in faults_of(folder) if f.is_edit):
        text, why = edited_kernel(fault)
        if why:
            text = "\n".join(fault.head() + [f"#error {line}" for line in why]) + "\n"
        wrong += why
        path = build / fault.path.parent.name / fault.kind / f"{fault.name}.cu"
        write_if_different(path, text)
        written.add(path)
    for path in set(build.rglob("*.cu")) - written:
        path.unlink()
    return wrong


SOUND = """// SPDX-License-Identifier: Apache-2.0
// Idea.
#include "x.hpp"

namespace assay::ROOM(op, naive) {
  float max = 0;
  once();
  twice();
  twice();
}  // namespace assay::ROOM(op, naive)
"""
EDIT = "[wrong]\nfault: f.\ncaught by: c.\nkernel: naive\n"
OTHER = "[other]\nvariant: V.\nkernel: naive\n-  once();\n+  two();\n"
MISTAKES = (  # an edit of faults.txt, and what is said of it
    (EDIT + "-  one();\n+  two();\n", ":5: [wrong]: the lines stand nowhere in OP/naive.cu: it has no line '  one();'"),
    (EDIT + "-  once();\n-  float max = 0;\n", ":5: [wrong]: the lines stand nowhere in OP/naive.cu: the lines do not follow"),
    (EDIT + "-once();\n+  two();\n", "it has no line 'once();'"),
    (EDIT + "-  once();\n\n-  twice();\n+  two();\n", ":7: [wrong]: the lines stand 2 times in OP/naive.cu: from line 8, 9 on"),
    (EDIT + " // Idea.\n+  two();\n", ":5: [wrong]: the lines stand in the head comment of OP/naive.cu"),
    (EDIT + "-  once();\n\n-  once();\n+  two();\n", ":7: [wrong]: two changes of one line"),
    (EDIT + "   once();\n", ":5: [wrong]: it changes nothing"),
    (EDIT + "+  two();\n", ":5: [wrong]: it takes no line away"),
    (EDIT + "-  once();\n" + "+  two();\n" * 16, ":1: [wrong]: it adds 16 lines, at most 15"),
    (EDIT, ":1: [wrong]: an edit has lines to replace"),
    (EDIT.replace("naive", "other") + "-  once();\n", ":1: [wrong]: there is no kernel OP/other.cu"),
    (EDIT.replace("naive", "roomless") + "-  once();\n", "opens no namespace assay::ROOM(op, roomless)"),
    (EDIT.replace("caught by: c.\n", "") + "-  once();\n", ":1: [wrong]: an edit has 'caught by:'"),
    (EDIT.replace("wrong", "file") + "-  once();\n", ":1: [file]: broken/file.cu is a kernel of that name"),
    (EDIT.replace("wrong", "naive") + "-  once();\n", ":1: [naive]: ./naive.cu is a kernel of that name"),
    ("[gone]\nwitness: w\ntier: T1\n", ":1: [gone]: it is no edit, and there is no file broken/gone.cu"),
    ("-  once();\n", ":1: no line of faults.txt"),
    (EDIT + "what: x\n", ":5: no line of faults.txt: what: x"),
    (EDIT + "kernel: naive\n", ":5: a second 'kernel:'"),
    (EDIT + EDIT, ":5: 'wrong' stands here twice"),
    (OTHER, ":2: no line of faults.txt: variant: V."),
)
OF_VARIANTS = (  # the same of variants.txt
    ("[other]\nkernel: naive\n", ":1: [other]: an edit has 'variant:'"),
    (OTHER + "tier: T1\n", ":6: no line of variants.txt: tier: T1"),
    (EDIT, ":2: no line of variants.txt: fault: f."),
    (OTHER + "+  two();\n" * 15, ":1: [other]: it adds 16 lines, at most 15; a larger one is a file of variants/"),
    (OTHER.replace("once", "one"), ":4: [other]: the lines stand nowhere"),
)


def self_test():
    with tempfile.TemporaryDirectory() as work:
        op, build = pathlib.Path(work).resolve() / "op", pathlib.Path(work).resolve() / "build"
        (op / "broken").mkdir(parents=True)
        (op / "naive.cu").write_text(SOUND)
        (op / "roomless.cu").write_text(SOUND)
        (op / "broken/file.cu").write_text("")
        edit = op / "faults.txt"
        edit.write_text(
            "[file]\nwitness: w\ntier: T1\n\n" + EDIT + "-  float max = 0;\n+  float max;\n   once();\n+  more();\n\n"
            "   twice();\n-  twice();\n }  // namespace assay::ROOM(op, naive)\nwitness: w\ntier: T1\n"
        )
        assert check(op.parent) == ([], 1), check(op.parent)
        assert write(build, op.parent) == []
        made = build / "op/broken/wrong.cu"
        lines = [line for line in made.read_text().splitlines() if not line.startswith(("#line", "#undef", "#define ASSAY_PLACE", "// Written"))]
        assert lines == [
            "// SPDX-License-Identifier: Apache-2.0",
            "// FAULT: f.",
            "// Caught by: c.",
            "",
            '#include "x.hpp"',
            "",
            "namespace assay::ROOM(op, wrong) {",
            "  float max;",
            "  once();",
            "  more();",
            "  twice();",
            "}  // namespace assay::ROOM(op, wrong)",
        ], lines
        number, file = re.findall(r'#line (\d+) "(.*)"\n  more', made.read_text())[0]
        assert edit.read_text().splitlines()[int(number) - 1] == "+  more();" and file == str(edit)
        number, file = re.findall(r'#line (\d+) "(.*)"\n}', made.read_text())[0]
        assert SOUND.splitlines()[int(number) - 1].startswith("}") and file == str(op / "naive.cu")
        before = made.stat().st_mtime_ns
        assert write(build, op.parent) == [] and made.stat().st_mtime_ns == before, "what is the same is written again"
        variants = op / "variants.txt"
        variants.write_text(OTHER)
        assert write(build, op.parent) == [] and made.exists()
        other = build / "op/variants/other.cu"
        assert other.read_text().startswith("// SPDX-License-Identifier: Apache-2.0\n// V.\n\n"), other.read_text()
        assert "ROOM(op, other) {" in other.read_text() and "  two();" in other.read_text()
        for file, mistakes in ((edit, MISTAKES), (variants, OF_VARIANTS)):
            before = file.read_text()
            for text, said in mistakes:
                file.write_text(text)
                try:
                    wrong, _ = check(op.parent)
                except Unreadable as why:
                    wrong = [str(why)]
                told = "\n".join(wrong).replace(str(op), "OP")
                assert f"OP/{file.name}:" in told and said in told, f"{text}\nis told as:\n{told}\nand not as: {said}"
            file.write_text(before)
        edit.write_text(MISTAKES[0][0])
        assert write(build, op.parent) and "#error" in made.read_text(), "what does not match compiles"
        edit.write_text("")
        assert write(build, op.parent) == [] and not made.exists(), "an edit is gone, and its kernel stays"
        assert other.exists()
    print(f"{len(MISTAKES) + len(OF_VARIANTS)} planted mistakes found, no false alarm")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", type=pathlib.Path, metavar="BUILD")
    parser.add_argument("--show", nargs=2, metavar=("OP", "NAME"))
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=TREE / "cuda")
    options = parser.parse_args()
    folder = options.folder.resolve()
    if options.self_test:
        return self_test()
    if options.show:
        op, name = options.show
        fault = next((f for f in faults_of(folder) if f.is_edit and (f.path.parent.name, f.name) == (op, name)), None)
        if not fault:
            raise Unreadable(f"{named(folder)}/{op} has no edit [{name}]")
        text, wrong = edited_kernel(fault)
        print(text or "", end="")
    elif options.write:
        wrong = write(options.write, folder)
    else:
        wrong, edits = check(folder)
        if not wrong:
            print(f"{edits} edits, each matches its kernel once")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Unreadable, OSError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
