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
  kernel: NAME        the right kernel that is changed: OP/NAME.cu, OP/variants/NAME.cu, or OP/small/NAME.cu, which is there
                      only to be edited: a kernel of a few of the shapes and dtypes of another, say, which compiles sooner
  -LINE               lines of the kernel, one after the other, with their indentation: a line to replace,
   LINE               or one that stays
  +LINE               a line in their place
  (blank)             the edit changes another place too
  in: HEADER          what follows changes a header that the kernel includes: one of OP/, or core/NAME of all ops
  after:, witness:, tier:     as validate/records/faults.hpp says

An entry of variants.txt is always an edit.  It has `variant:` in place of `fault:` and `caught by:`, and none of the last line:

  variant: TEXT       what it computes otherwise

A header that is changed is put in place of its #include line, in a namespace that only this broken kernel has, and so are the
headers that lead to it, and those of OP that other edits change.  The others are included as they are.  Types that are template
arguments of a launch are best defined there: all edits then share one compiled instance.

The exit code is 1 if an edit does not match, and 2 if a file is none of this form.
"""

import argparse
import json
import pathlib
import re
import sys
import tempfile
import textwrap

TREE = pathlib.Path(__file__).resolve().parents[1]
KINDS = {"faults.txt": "broken", "variants.txt": "variants"}  # files of edits, and where their kernels are written
KEYS = {"broken": ("fault", "caught by", "kernel"), "variants": ("variant", "kernel")}
LATER = {"broken": ("after", "witness", "tier"), "variants": ()}  # what `validate selfcheck --write-witnesses` writes
TITLES = (("FAULT: ", "fault"), ("Caught by: ", "caught by"), ("", "variant"))  # of the head comment
SHARED = "assay::ASSAY_FLAVOUR"  # the namespace of headers that several ops include
NAMESPACE = re.compile(rf"namespace ({SHARED}(::\w+)?) {{$")
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
        self.hunks = []  # each the header that it changes, or none, and a list of (number of its line in the file, sign, text)
        self.header = None  # of the next hunk
        self.edited_of_op = set()  # the headers that edits of the op change

    def place(self, line=None):
        return f"{named(self.path)}:{line or self.line}: [{self.name}]"

    @property
    def is_edit(self):
        return self.kind == "variants" or bool(self.hunks) or any(key in self.keys for key in KEYS[self.kind])

    def about(self):
        """The head comment of its kernel, line by line."""
        told = [f"{title}{self.keys.get(key, '')}" for title, key in TITLES if key in KEYS[self.kind]]
        return [line for text in told for line in textwrap.wrap(text, 122)]

    def head(self):
        """What its kernel begins with."""
        return [
            "// SPDX-License-Identifier: Apache-2.0",
            *(f"// {line}" for line in self.about()),
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
                fault.hunks.append((fault.header, []))
            fault.hunks[-1][1].append((number, line[0], line[1:].rstrip()))
            begun = True
            continue
        elif fault and colon and key == "in" and fault.is_edit:
            fault.header = value
            if any(header == value for header, _ in fault.hunks):
                raise Unreadable(f"{named(path)}:{number}: a second 'in: {value}'")
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
    files = (fault.path.parent / folder / f"{fault.keys.get('kernel')}.cu" for folder in (".", "variants", "small"))
    return next((file for file in files if file.is_file()), None)


class Text:
    """A kernel or a header of it, and the changes of its lines."""

    def __init__(self, path):
        self.path = path
        self.lines = [line.rstrip() for line in path.read_text().splitlines()]
        self.first = next((i for i, line in enumerate(self.lines) if not line.startswith("//")), len(self.lines))
        self.replaced = {}  # of each line that a hunk replaces or keeps, the hunk
        self.spaces = {space[1] for space in map(NAMESPACE.match, self.lines) if space}

    def change(self, hunk):
        """Takes a hunk, and returns what is wrong with it, or none."""
        old = [text for _, sign, text in hunk if sign != "+"]
        places = places_of(self.lines, old) if old else []
        if not old:
            return "it takes no line away, and has none that stays"
        if all(sign == " " for _, sign, _ in hunk):
            return "it changes nothing"
        if len(places) > 1:
            where = ", ".join(str(p + 1) for p in places)
            return f"the lines stand {len(places)} times in {named(self.path)}: from line {where} on"
        if not places:
            strange = next((text for text in old if text not in self.lines), None)
            why = "the lines do not follow each other there" if strange is None else f"it has no line '{strange}'"
            return f"the lines stand nowhere in {named(self.path)}: {why}"
        if places[0] < self.first:
            return f"the lines stand in the head comment of {named(self.path)}, which is not kept"
        if self.replaced.keys() & set(range(places[0], places[0] + len(old))):
            return "two changes of one line"
        self.replaced.update({places[0] + i: hunk for i in range(len(old))})
        return None

    def written(self, fault, of_line):
        """The lines with their changes; of_line gives what stands in place of a line that stays.
        Messages of the compiler and the judge name the lines of both files."""
        text = []
        at = self.first
        follows = False
        while at < len(self.lines):
            hunk = self.replaced.get(at)
            for number, sign, line in hunk or [(None, " ", None)]:
                if sign == "+":
                    text += [f'#line {number} "{named(fault.path)}"', line]
                    continue
                if sign == " ":
                    instead = of_line(self.lines[at])
                    if hunk or not follows:
                        text.append(f'#line {at + 1} "{named(self.path)}"')
                    text += instead
                    follows = not hunk and len(instead) == 1
                at += 1
            follows = follows and not hunk
        return text


class Kernel:
    """The right kernel of an edit, with the headers that it includes."""

    def __init__(self, fault, file):
        self.fault, self.op = fault, fault.path.parent
        self.texts = {}  # of each file its text, the kernel first
        self.included = {}  # of each the files that it includes
        self.text = self.read(file)

    def read(self, path):
        if path not in self.texts:
            text = self.texts[path] = Text(path)
            found = [self.header_of(line) for line in text.lines if self.fault.edited_of_op]
            self.included[path] = [header for header in found if header]
            for header in self.included[path]:
                self.read(header)
        return self.texts[path]

    def header_of(self, line):
        """The header that a line includes, if it is one of cuda/."""
        include = re.fullmatch(r'#include "cuda/(.*)"', line)
        roots = (self.op.parent, TREE / "cuda")
        return next((root / include[1] for root in roots if (root / include[1]).is_file()), None) if include else None

    def named(self, header):
        """The text of a header as `in:` has it, or none."""
        for folder in (self.op, self.op.parent, TREE / "cuda"):
            if folder / header in self.texts:
                return self.texts[folder / header]
        return None

    def inlined(self):
        """The headers that are put in place of their #include lines."""
        # Note: of the op's own headers those of all its edits, which are compiled together.  Else a call would find two functions:
        # that of the kernel, and that of the right header, in the namespace of its arguments' types.
        edited = {text.path for text in map(self.named, self.fault.edited_of_op) if text}
        inlined = {path for path in edited if self.op in path.parents or self.texts[path].replaced}
        while True:
            more = {path for path in self.texts if inlined.intersection(self.included[path])} - {self.text.path}
            if more <= inlined:
                return inlined
            inlined |= more

    def written(self):
        """The text of the edited kernel, and what is wrong with its headers."""
        op, old, new = self.op.name, self.fault.keys["kernel"], self.fault.name
        inlined = self.inlined()
        wrong = []
        for path in sorted(inlined):
            strange = [line for line in self.texts[path].lines if line.startswith("namespace ") and not NAMESPACE.match(line)]
            if strange or not self.texts[path].spaces:
                why = f"it has '{strange[0]}'" if strange else "it opens none"
                wrong.append(f"{named(path)} is part of the edit, so its namespace must begin with {SHARED}: {why}")
        done = set()

        def of_line(line):
            header = self.header_of(line)
            if header in inlined:
                if header in done:
                    return []
                done.add(header)
                return self.texts[header].written(self.fault, of_line)
            if line == "#pragma once":
                return []
            space = NAMESPACE.match(line) or re.match(rf"}}  // namespace ({SHARED}[\w:]*)$", line)
            if not space:
                return [line.replace(f"ROOM({op}, {old})", f"ROOM({op}, {new})")]
            inner = space[1].removeprefix(SHARED).removeprefix(f"::{op}_room")
            if not inner:
                return [line.replace(space[1], f"assay::ROOM({op}, {new})")]
            # Note: outside of the op's namespace, whose names hide those that the rest of the header's namespace defines.
            moved = f"{SHARED}::{op}_{new}{inner}"
            if line.startswith("}"):
                return [line.replace(space[1], moved)]
            alias = f"namespace {inner[2:]} = ::{moved};"
            known = [f"namespace {space[1]} {{}}", f"namespace {moved} {{}}", f"namespace assay::ROOM({op}, {new}) {{ {alias} }}"]
            return [*known, f"namespace {moved} {{", f"using namespace ::{space[1]};"]

        return self.text.written(self.fault, of_line), wrong


def edited_kernel(fault):
    """The text of the kernel with its edit, and what is wrong with the edit: one of both."""
    wrong = [f"{fault.place()}: an edit has '{key}:'" for key in KEYS[fault.kind] if key not in fault.keys]
    if wrong:
        return None, wrong
    for folder in ("broken", "variants", "small", "."):
        if (fault.path.parent / folder / f"{fault.name}.cu").is_file():
            wrong.append(f"{fault.place()}: {folder}/{fault.name}.cu is a kernel of that name")
    file = kernel_of(fault)
    if not file:
        return None, [*wrong, f"{fault.place()}: there is no kernel {named(fault.path.parent)}/{fault.keys['kernel']}.cu"]
    kernel = Kernel(fault, file)
    for header, hunk in fault.hunks:
        text = kernel.named(header) if header else kernel.text
        why = text.change(hunk) if text else f"{named(file)} includes no header '{header}'"
        if why:
            wrong.append(f"{fault.place(hunk[0][0])}: {why}")
    for sign, does in (("-", "takes away"), ("+", "adds")):
        changed = sum(1 for _, hunk in fault.hunks for _, s, _ in hunk if s == sign)
        if changed > MOST:
            wrong.append(f"{fault.place()}: it {does} {changed} lines, at most {MOST}; a larger one is a file of {fault.kind}/")
    if not fault.hunks:
        wrong.append(f"{fault.place()}: an edit has lines to replace")
    room = f"ROOM({fault.path.parent.name}, {fault.keys['kernel']})"
    if not any(room in line for line in kernel.text.lines):
        wrong.append(f"{fault.place()}: {named(file)} opens no namespace assay::{room}")
    text, why = kernel.written()
    wrong += [f"{fault.place()}: {line}" for line in why]
    # Note: a kernel is named after its file, which #line says is that of the right one.
    about = "".join(f"{line}\n" for line in fault.about())
    told = [
        "#undef ASSAY_PLACE",
        f'#define ASSAY_PLACE "{fault.path.parent.name}/{fault.kind}/{fault.name}.cu"',
        "#undef ASSAY_ABOUT",
        f"#define ASSAY_ABOUT {json.dumps(about, ensure_ascii=False)}",
    ]
    as_before = ["#undef ASSAY_PLACE", "#define ASSAY_PLACE __FILE__", "#undef ASSAY_ABOUT", '#define ASSAY_ABOUT ""']
    return (None, wrong) if wrong else ("\n".join([*fault.head(), *told, *text, *as_before]) + "\n", [])


def faults_of(folder):
    """All faults of a folder, and its variants that are edits."""
    found = [fault for name in KINDS for path in sorted(folder.glob(f"*/{name}")) for fault in read(path)]
    edited = {}
    for fault in found:
        fault.edited_of_op = edited.setdefault(fault.path.parent, set())
        fault.edited_of_op.update(header for header, _ in fault.hunks if header)
    return found


def check(folder):
    """What is wrong with the faults of a folder, and the number of edits."""
    wrong = []
    edits = 0
    edited = set()  # kernels
    for fault in faults_of(folder):
        if fault.is_edit:
            edits += 1
            edited.add(kernel_of(fault))
            wrong += edited_kernel(fault)[1]
        elif not (fault.path.parent / "broken" / f"{fault.name}.cu").is_file():
            wrong.append(f"{fault.place()}: it is no edit, and there is no file broken/{fault.name}.cu")
    unused = set(folder.glob("*/small/*.cu")) - edited
    return wrong + [f"{named(path)}:1: no edit changes this kernel" for path in sorted(unused)], edits


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


def self_test():
    sys.path.append(str(TREE / "cmake/tests"))
    from planted_faults import EDIT, HEADERS, IN, LED, MISTAKES, OF_VARIANTS, OTHER, SOUND

    with tempfile.TemporaryDirectory() as work:
        op, build = pathlib.Path(work).resolve() / "op", pathlib.Path(work).resolve() / "build"
        (op / "broken").mkdir(parents=True)
        (op / "naive.cu").write_text(SOUND)
        (op / "roomless.cu").write_text(SOUND)
        (op / "small").mkdir()
        for file, text in HEADERS.items():
            (op / file).write_text(text)
        (op / "broken/file.cu").write_text("")
        edit = op / "faults.txt"
        whole = (
            "[file]\nwitness: w\ntier: T1\n\n" + EDIT + "-  float max = 0;\n+  float max;\n   once();\n+  more();\n\n"
            "   twice();\n-  twice();\n }  // namespace assay::ROOM(op, naive)\nwitness: w\ntier: T1\n"
        )
        edit.write_text(whole)
        unused = [f"{op}/small/led.cu:1: no edit changes this kernel"]
        assert check(op.parent) == (unused, 1), check(op.parent)
        assert write(build, op.parent) == []
        made = build / "op/broken/wrong.cu"
        ours = ("#line", "#undef ASSAY_", "#define ASSAY_", "// Written")
        lines = [line for line in made.read_text().splitlines() if not line.startswith(ours)]
        assert lines == [
            "// SPDX-License-Identifier: Apache-2.0",
            "// FAULT: f.",
            "// Caught by: c.",
            "",
            "#include <x>",
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
        edit.write_text(IN + "-  once();\n+  two();\n")
        text, wrong = edited_kernel(next(fault for fault in faults_of(op.parent) if fault.name == "wrong"))
        assert '#define ASSAY_PLACE "op/broken/wrong.cu"' in text
        assert '#define ASSAY_ABOUT "FAULT: f.\\nCaught by: c.\\n"' in text, text
        lines = [line for line in text.splitlines()[4:] if not line.startswith(ours)]
        assert (" ".join(lines), wrong) == (LED.replace("\n", " "), []), (lines, wrong)
        edit.write_text(whole)
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
