#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs the licence texts of what a portable build has within its programs, from where the distribution keeps them.

  notices.py BUILD FOLDER     BUILD: configured with -DASSAY_PORTABLE=ON, and built by make; FOLDER: where the texts go
  notices.py --self-test      of a build that is made up: what is within is found, and a text that is missing is told

What is within is what the linker read, and what the compiler read for that: PROGRAM.linked, which the linker wrote where it ran,
names archives and objects, and each object has its own list of headers.  Of a file that is neither of the tree nor of the build,
dpkg knows the package.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOCUMENTS = Path("/usr/share/doc")
COMMON = Path("/usr/share/common-licenses")  # long texts, to which those of Debian's packages refer
SHARED = re.compile(r"\.so(\.\d+)*$")  # not within: it is looked for where the program starts


class Refusal(Exception):
    """One sentence that says why there are no texts."""


def read_by(rule):
    """The files that a rule for make names behind its target."""
    if not rule.is_file():
        raise Refusal(f"there is no '{rule}', which says what was compiled; packages are made of a build by make")
    text = rule.read_text().replace("\\\n", " ")
    first = text.partition(": ")[2].partition("\n")[0]  # the others are empty rules, one for each file
    return [name.replace("\\ ", " ") for name in re.findall(r"(?:\\ |\S)+", first)]


def compiled(build, file):
    """The rules of the objects that an object or an archive of the build is made of."""
    if file.suffix != ".a":
        return [Path(f"{file}.d")]
    target = file.parent / "CMakeFiles" / (file.stem.removeprefix("lib") + ".dir")
    rules = sorted(target.rglob("*.o.d"))
    return rules or [target / "*.o.d"]


def within(build):
    """The files of elsewhere that are in the programs of a build."""
    cache = (build / "CMakeCache.txt").read_text()
    tree = Path(re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)", cache, re.M)[1])
    records = sorted(build.rglob("*.linked"))
    if not records:
        raise Refusal(f"'{build}' has no record of what was linked; it must be configured with -DASSAY_PORTABLE=ON and built")
    ours = set()
    found = set()
    for record in records:
        for name in read_by(record):
            file = Path(os.path.normpath(record.parent / name))
            if build in file.parents:
                ours.update(compiled(build, file))
            elif not SHARED.search(file.name):
                found.add(file)
    for rule in ours:
        found.update(map(Path, read_by(rule)))
    chart = re.search(r"^ASSAY_CHART_JS:\w+=(/.*)", cache, re.M)  # in the page of a report, by the assembler
    if chart:
        found.add(Path(chart[1]))
    real = {file.resolve() for file in found if file.is_absolute()}
    return {file for file in real if tree not in file.parents and build not in file.parents}


def owners(files, dpkg):
    """The packages of these files; one that no package has is refused."""
    names = sorted(map(str, files))
    asked = names + [name.removeprefix("/usr") for name in names]  # dpkg knows some files by the path that a link leads to
    try:
        said = subprocess.run(
            [dpkg, "-S", *asked], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False
        ).stdout
    except FileNotFoundError:
        raise Refusal(f"there is no {dpkg}, which knows the packages of the libraries within the programs") from None
    packages = {}
    for line in said.splitlines():
        package, _, name = line.rpartition(": ")
        if not package.startswith("diversion "):
            packages[name] = {each.partition(":")[0] for each in package.split(", ")}
    for name in names:
        if name not in packages and name.removeprefix("/usr") not in packages:
            raise Refusal(f"'{name}' is within the programs, and no installed package has it, so its licence text is not known")
    return sorted(set().union(*packages.values()))


def pack(build, folder, documents=DOCUMENTS, common=COMMON, dpkg="dpkg-query"):
    """Writes the texts into a folder, and returns their names."""
    texts = {}
    for package in owners(within(build), dpkg):
        text = documents / package / "copyright"
        if not text.is_file():
            raise Refusal(f"'{package}' is within the programs, and its licence text '{text}' is missing")
        text = text.resolve()  # packages of one source share one
        texts[text.parent.name] = text
    if not texts:
        raise Refusal(f"nothing of elsewhere is within the programs of '{build}', which cannot be")
    for text in list(texts.values()):
        for name in re.findall(re.escape(str(COMMON)) + r"/([\w.+-]*\w)", text.read_text()):
            if not (common / name).is_file():
                raise Refusal(f"'{text}' refers to '{common / name}', which is missing")
            texts[name] = common / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in texts.items():
        shutil.copyfile(text, folder / f"{name}.txt")
    return sorted(texts)


def self_test():
    with tempfile.TemporaryDirectory() as work:
        work = Path(work).resolve()
        build = work / "tree/build"
        files = {
            "tree/build/CMakeCache.txt": f"CMAKE_HOME_DIRECTORY:INTERNAL={work}/tree\nASSAY_CHART_JS:FILEPATH={work}/usr/chart.js\n",
            "tree/build/sub/a.linked": f"../a: \\\n  ../main.o {build}/libours.a {work}/usr/libz.a \\\n  /lib/libm.so.6\n\n../main.o:\n",
            "tree/build/main.o.d": f"main.o: ../main.cpp {work}/tree/own.hpp {work}/usr/a\\ header.h\n",
            "tree/build/CMakeFiles/ours.dir/sub/b.o.d": f"b.o: {work}/usr/other.h {build}/made.hpp\n",
            "tree/build/CMakeFiles/tests.dir/c.o.d": f"c.o: {work}/usr/of_a_test.h\n",
            "usr/chart.js": "",
            "usr/libz.a": "",
            "usr/a header.h": "",
            "usr/other.h": "",
            "doc/chart/copyright": "of the chart",
            "doc/base/copyright": f"see {COMMON}/GPL-3.",
            "doc/two/copyright": "of two",
            "common/GPL-3": "the long text",
            "dpkg": f'#!/bin/sh\ncat "{work}/known"\n',
            "known": f"chart: {work}/usr/chart.js\nz:amd64: {work}/usr/libz.a\n"
            f"two, three:amd64: {work}/usr/a header.h\nthree: {work}/usr/other.h\n"
            f"diversion by four from: {work}/usr/libz.a\n",
        }
        for name, text in files.items():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_text(text)
        (work / "dpkg").chmod(0o755)
        for package in "z", "three":
            (work / "doc" / package).symlink_to("base")

        def packed():
            return pack(build, work / "out", work / "doc", work / "common", str(work / "dpkg"))

        assert within(build) == {work / "usr" / name for name in ("chart.js", "libz.a", "a header.h", "other.h")}, within(build)
        assert packed() == ["GPL-3", "base", "chart", "two"], packed()
        assert (work / "out/GPL-3.txt").read_text() == "the long text"
        for file, told in (
            ("common/GPL-3", "which is missing"),
            ("doc/two/copyright", "'two' is within the programs, and its licence text"),
            ("known", "no installed package has it"),
            ("dpkg", "which knows the packages"),
            ("tree/build/CMakeFiles/ours.dir/sub/b.o.d", "which says what was compiled"),
            ("tree/build/main.o.d", "which says what was compiled"),
            ("tree/build/sub/a.linked", "no record of what was linked"),
        ):
            (work / file).unlink()
            try:
                packed()
            except Refusal as refusal:
                assert told in str(refusal), (file, refusal)
            else:
                raise AssertionError(f"without {file} it packs")
            (work / file).write_text(files[file])
            (work / "dpkg").chmod(0o755)
        assert packed()


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) != 3:
        sys.exit("notices.py: give the folder of the build and the one that the texts go to")
    else:
        try:
            print("licence texts of " + ", ".join(pack(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))))
        except Refusal as refusal:
            print(f"assay: {refusal}", file=sys.stderr)
            sys.exit(2)
