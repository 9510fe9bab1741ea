#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs a folder of trial kernels as FOLDER.tar.xz, with FOLDER.txt, a line for each kernel: its name, kind, verdict, and what is
wrong with it and when.  A verdict comes from records of `validate selfcheck` or `run --set trial`, else from the kernel's first comment.

  pack.py FOLDER --commit HASH [--records FILE...]     HASH: of the tree with which the kernels were judged
  pack.py --check                                      each index names the kernels of its archive, each once
"""
import argparse
import collections
import io
import json
import os
import re
import sys
import tarfile

# As faults_7/kinds.txt numbers them.
KINDS = {1: "layout", 2: "precision", 3: "ranges", 4: "combinations", 5: "cheats", 6: "offsets", 7: "concurrency", 8: "algorithm"}
# How the comment of a kernel in `dependent` and `waits` begins.
SAID = {"SOUND": "sound", "FAULT": "faulty", "DISPUTED": "disputed"}


def comment_of(path):
    """The comment that begins a file, in one line; of a .diff, the first comment that it adds."""
    words = []
    with open(path, encoding="utf-8") as file:
        lines = [line[1:] for line in file if line.startswith("+//")] if path.endswith(".diff") else file.readlines()
    for line in lines:
        if not line.startswith("//"):
            break
        if "SPDX" not in line:
            words.append(line[2:].strip())
    return " ".join(words)


def kind_of(comment, number):
    named = re.search(r"\b(?:KIND|Kind): (\w+)|^FAULT \(([^)]*)\)", comment)
    if named:
        return named[1] or named[2]
    return KINDS.get(number, next((kind for word, kind in SAID.items() if comment.startswith(word)), "sound"))


def condition_of(comment):
    return re.sub(r"\s*\b(?:KIND|Kind): \w+\.?", "", re.sub(r"^(?:FAULT|SOUND|DISPUTED)(?: \([^)]*\))?: ", "", comment))


def verdicts_of(paths):
    """Of each kernel the tiers of its first bad case, or how many cases it passed."""
    bad = {}
    passed = collections.Counter()
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for record in map(json.loads, file):
                if record["record"] != "case":
                    continue
                name = f"{record['op']}/{record['kernel']}"
                if record["verdict"] in ("failed", "crashed", "timeout", "suspect"):
                    bad.setdefault(name, f"{record['verdict']} by {'+'.join(record.get('caught_by', [])) or 'the run'}")
                passed[name] += record["verdict"] == "passed"
    return bad, passed


def numbers_of(folder):
    path = os.path.join(folder, "kinds.txt")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return {name: int(number) for name, number in map(str.split, file)}


def index_of(folder, commit, records):
    bad, passed = verdicts_of(records)
    numbers = numbers_of(folder)
    rows = []
    for path, _, names in os.walk(folder):
        for name in names:
            stem, ending = os.path.splitext(name)
            if ending not in (".cu", ".diff", ".ptx"):
                continue
            kernel = f"{os.path.relpath(path, folder).split(os.sep)[0]}/{stem}"
            comment = comment_of(os.path.join(path, name))
            verdict = bad.get(kernel) or (f"passed {passed[kernel]} cases" if kernel in passed else "-")
            rows.append((kernel, kind_of(comment, numbers.get(kernel, 0)), verdict, condition_of(comment) or "-"))
    return [
        f"# Kernels of {os.path.basename(folder)}.tar.xz: name | kind | verdict | what it does, and when that shows.",
        f"# commit: {commit}",
        *(" | ".join(row) for row in sorted(rows)),
    ]


def pack(folder, archive):
    """The same bytes for the same files."""
    with tarfile.open(archive, "w:xz", preset=9) as tar:
        for path, folders, names in os.walk(folder):
            folders.sort()
            for name in sorted(names):
                with open(os.path.join(path, name), "rb") as file:
                    data = file.read()
                member = tarfile.TarInfo(os.path.relpath(os.path.join(path, name), os.path.dirname(folder) or "."))
                member.size = len(data)
                member.mode = 0o644
                tar.addfile(member, io.BytesIO(data))


def check(here):
    wrong = []
    kernels = 0
    for index in sorted(name for name in os.listdir(here) if name.endswith(".txt")):
        archive = index.removesuffix(".txt") + ".tar.xz"
        with open(os.path.join(here, index), encoding="utf-8") as file:
            told = [line.split(" | ")[0] for line in file if not line.startswith("#")]
        with tarfile.open(os.path.join(here, archive)) as tar:
            there = [name.split("/") for name in tar.getnames() if name.endswith((".cu", ".diff", ".ptx"))]
        held = sorted(f"{parts[1]}/{os.path.splitext(parts[-1])[0]}" for parts in there)
        kernels += len(held)
        if sorted(told) != held:
            wrong.append(f"{index}: {sorted(set(told) ^ set(held)) or 'a kernel twice'}, where {archive} has others")
    print("\n".join(wrong) or f"{kernels} kernels, each with its line")
    return 1 if wrong or not kernels else 0


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("folder", nargs="?")
    flags.add_argument("--commit")
    flags.add_argument("--check", action="store_true")
    flags.add_argument("--records", nargs="*", default=[])
    flags = flags.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    if flags.check:
        sys.exit(check(here))
    if not flags.folder or not flags.commit:
        sys.exit("pack.py: a folder and --commit were expected, or --check")
    folder = flags.folder.rstrip("/")
    lines = index_of(folder, flags.commit, flags.records)
    if len(lines) == 2:
        sys.exit(f"pack.py: '{folder}' holds no kernel")
    name = os.path.join(here, os.path.basename(folder))
    pack(folder, name + ".tar.xz")
    with open(name + ".txt", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    print(f"{name}.txt: {len(lines) - 2} kernels, {os.path.getsize(name + '.tar.xz')} bytes packed")


if __name__ == "__main__":
    main()
