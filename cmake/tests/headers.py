#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that headers compile on their own, each included twice, with only the include paths of its room.

  headers.py SOURCE BUILD EIGEN COMPILER FLAG...          all headers but those that a source of the same name includes first
  headers.py --all SOURCE BUILD EIGEN COMPILER FLAG...    all headers
  headers.py --self-test COMPILER                         headers that are not self-contained are found

A header that includes another one may stand behind it in one unit: it would see what that one has anyway.  So a unit is a chain, in
which each header includes, at least through others, all that the one before it includes.  What the first headers of many chains
include is compiled once, as a precompiled header, and each of these chains stands behind it.  A source that includes its own header
first proves it wherever each source is compiled by itself (the preset dev), so only a push checks such headers here.
"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
CONDITION = re.compile(r"^ *# *if(?:(?!^ *# *(?:if|endif)).)*^ *# *endif", re.MULTILINE | re.DOTALL)  # without another in it
ROOMS = ("ops", "reference", "validate", "simt", "cuda", "include")
OF_CUDA = re.compile(r"#include <(cuda|cupti|nvml)")
STRICT = "-std=c++20 -Wall -Wextra -Werror -Wno-missing-field-initializers -Wno-unknown-pragmas".split()
TO_PRECOMPILE = 2.5  # times what it takes to compile the same in a unit


class Tree:
    """The headers of a tree, what they include, and the include paths of each room."""

    def __init__(self, source, build, eigen, with_cuda):
        self.source, self.eigen = source, eigen
        self.rooms = os.path.join(build, "rooms")
        self.texts = {}
        for room in ROOMS:
            for folder, _, names in os.walk(os.path.join(source, room)):
                for name in names:
                    if name.endswith((".hpp", ".h", ".cuh", ".cpp")):
                        path = os.path.join(folder, name)
                        with open(path, encoding="utf-8") as file:
                            self.texts[os.path.relpath(path, source)] = file.read()
        self.headers = sorted(path for path, text in self.texts.items() if self.is_checked(path, text, with_cuda))
        self.closures = {}

    @staticmethod
    def is_checked(path, text, with_cuda):
        """Left out is what needs nvcc, or a header that is not installed."""
        name = os.path.basename(path)
        return not (name.endswith((".cpp", "_gpu.cuh")) or name.startswith("cudnn_") or (OF_CUDA.search(text) and not with_cuda))

    def place_of(self, includer, name):
        """The file that a quoted include means, relative to the tree, or the name itself."""
        for place in (
            name,
            os.path.join("simt", name),
            os.path.join("simt/tests", name),
            os.path.join("include", name),
            os.path.join("validate/tests", name),
            os.path.join(os.path.dirname(includer), name),
        ):
            if os.path.normpath(place) in self.texts:
                return os.path.normpath(place)
        return name

    def includes(self, path, always=False):
        """What a file includes; always: whatever is defined."""
        text = self.texts[path]
        while always and CONDITION.search(text):
            text = CONDITION.sub("", text)
        return [self.place_of(path, quoted) if quoted else f"<{angled}>" for quoted, angled in INCLUDE.findall(text)]

    def closure(self, path, always=False):
        """All that a header includes, directly or through others, and itself."""
        if (path, always) not in self.closures:
            found = {path}
            open_ = [path]
            while open_:
                for name in self.includes(open_.pop(), always):
                    if name not in found:
                        found.add(name)
                        if name in self.texts:
                            open_.append(name)
            self.closures[path, always] = found
        return self.closures[path, always]

    def proven_by_source(self, path):
        """Whether the source of the same name includes this header first."""
        source = os.path.splitext(path)[0] + ".cpp"
        return source in self.texts and self.includes(source)[:1] == [path]

    def flags_of(self, path):
        """The include path of a header's room."""

        def room(*names):
            return [word for name in names for word in ("-I", os.path.join(self.rooms, name))]

        simt = ["-I", os.path.join(self.source, "simt")]
        tests = ["-I", os.path.join(self.source, "cmake/catch"), '-DASSAY_DATASETS_DIR=""']
        eigen = ["-isystem", self.eigen]
        for beginning, flags in (
            ("ops/tests/", room("ops") + tests),
            ("ops/", room("ops")),
            ("reference/tests/", room("ops", "reference", "validate") + tests + eigen),
            ("reference/", room("ops", "reference") + eigen),
            ("cuda/", room("ops", "cuda") + simt),
            ("validate/tests/hostile/", room("ops", "cuda", "validate") + simt),
            ("simt/tests/", simt + ["-I", os.path.join(self.source, "simt/tests")] + tests),
            ("simt/", simt),
            ("validate/tests/model/", room("ops", "include", "validate", "reference", "cuda") + tests),
            ("validate/tests/", room("ops", "include", "validate", "simt", "cuda") + tests),
            ("validate/tests/opfile/", room("ops", "include", "validate", "reference") + tests),
            ("validate/model/", room("ops", "include", "validate", "reference", "cuda")),
            ("validate/opfile/", room("ops", "include", "validate", "reference")),
        ):
            if path.startswith(beginning):
                return flags
        if re.match(r"validate/(backends|bench|report|probe|console|command)/", path):
            return room("ops", "include", "validate", "simt", "cuda")
        return room("ops", "include", "validate") if path.startswith("validate/") else []

    def chains(self, headers):
        """Lists of headers, each of which may stand behind those before it."""
        chains = []
        for path in sorted(headers, key=lambda p: (len(self.closure(p)), p)):
            fitting = [
                c for c in chains if self.flags_of(c[-1]) == self.flags_of(path) and self.closure(c[-1]) <= self.closure(path)
            ]
            if fitting:
                max(fitting, key=lambda c: len(self.closure(c[-1]))).append(path)
            else:
                chains.append([path])
        return chains

    def beginnings(self, chains):
        """For each chain what is precompiled of it, a set of what its first header includes; it may be empty."""
        heads = [frozenset(self.closure(chain[0], always=True)) for chain in chains]
        weights = {s: sum(8 if "/" in name else 1 for name in s if name[0] == "<") for a in heads for b in heads for s in [a & b]}
        chosen = [frozenset()] * len(chains)
        while True:
            gains = {}
            for s, weight in weights.items():
                spared = sum(max(0, weight - weights.get(had, 0)) for head, had in zip(heads, chosen) if s <= head)
                gains[s] = spared - TO_PRECOMPILE * weight
            best = max(gains, key=gains.get, default=None)
            if best is None or gains[best] <= 0:
                return chosen
            better = [best <= head and weights[best] > weights.get(had, 0) for head, had in zip(heads, chosen)]
            chosen = [best if taken else had for taken, had in zip(better, chosen)]

    def unit(self, paths):
        """The text that includes headers, each twice."""
        names = [name if name[0] == "<" else f'"{os.path.join(self.source, name)}"' for name in paths]
        return "".join(f"#include {name}\n" * 2 for name in names)

    def precompile(self, beginning, chain, folder, command):
        """The flags by which a unit begins with these headers.  There are none if they do not compile, which units then tell."""
        if not beginning:
            return []
        header = os.path.join(folder, f"{abs(hash(beginning)):x}.hpp")
        with open(header, "w") as file:
            file.write(
                self.unit(sorted(beginning, key=lambda name: (name[0] != "<", len(self.closures.get((name, False), ())), name)))
            )
        flags = [flag for flag in self.flags_of(chain[-1]) if not flag.startswith("-D")]
        done = subprocess.run(
            [*command, *flags, *STRICT, "-x", "c++-header", "-o", header + ".gch", header], capture_output=True, text=True
        )
        return ["-include", header] if done.returncode == 0 else []

    def objection(self, chain, begun, command):
        """The first errors of a chain that begins by some flags."""
        flags = [*self.flags_of(chain[-1]), *STRICT, *begun, "-fsyntax-only", "-x", "c++", "-"]
        done = subprocess.run([*command, *flags], input=self.unit(chain), capture_output=True, text=True)
        if done.returncode == 0:
            return ""
        errors = [line for line in done.stderr.splitlines() if "error" in line][:3]
        return "\n".join([f"{' or '.join(chain)} does not stand alone:", *errors])


def objections(tree, headers, command):
    """What is wrong with headers, how many units they are, and how many precompiled headers these begin with."""
    chains = sorted(tree.chains(headers), key=lambda chain: -len(tree.closure(chain[-1])))
    beginnings = tree.beginnings(chains)
    first_of = dict(reversed(list(zip(beginnings, chains))))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        precompiled = pool.map(lambda item: tree.precompile(*item, folder, command), first_of.items())
        flags = dict(zip(first_of, precompiled))
        told = pool.map(lambda chain, beginning: tree.objection(chain, flags[beginning], command), chains, beginnings)
        return list(filter(None, told)), len(chains), len(set(filter(None, beginnings)))


def self_test(command):
    good = "#pragma once\n#include <vector>\ninline std::vector<int> good;\n"
    planted = {
        "ops/good.hpp": good,
        "ops/leans.hpp": "#pragma once\ninline std::vector<int> leans;\n",
        "ops/twice.hpp": "inline int twice;\n",
        "ops/sees_truth.hpp": '#pragma once\n#include "reference/truth.hpp"\n',
        "ops/user.hpp": '#pragma once\n#include "ops/good.hpp"\ninline std::vector<int> user;\n',
        # Behind ops/good.hpp it would compile, but it does not include that.
        "ops/leans_on_good.hpp": '#pragma once\n#include <string>\ninline std::string leans_on_good() { return good.empty() ? "" : "x"; }\n',
        # Three others that include ops/good.hpp include this.
        "ops/leans_on_string.hpp": '#pragma once\n#include "ops/good.hpp"\ninline std::string leans_on_string;\n',
        "reference/truth.hpp": "#pragma once\n",
    }
    for name in ("one", "two", "three"):
        planted[f"ops/{name}.hpp"] = f'#pragma once\n#include <string>\n\n#include "ops/good.hpp"\ninline std::string {name};\n'
    wrong = {"ops/leans.hpp", "ops/twice.hpp", "ops/sees_truth.hpp", "ops/leans_on_good.hpp", "ops/leans_on_string.hpp"}
    with tempfile.TemporaryDirectory() as work:
        source = os.path.join(work, "tree")
        for path, text in planted.items():
            os.makedirs(os.path.dirname(os.path.join(source, path)), exist_ok=True)
            with open(os.path.join(source, path), "w") as file:
                file.write(text)
        os.makedirs(os.path.join(work, "rooms/ops"))
        os.symlink(os.path.join(source, "ops"), os.path.join(work, "rooms/ops/ops"))
        tree = Tree(source, work, "/", False)
        found = {path for path in planted if path.startswith("ops/") and objections(tree, [path], command)[0]}
        if found != wrong:
            sys.exit(f"found {sorted(found)}, planted {sorted(wrong)}")
        # The same of all at once, some of which begin with a precompiled header.
        told, _, begun = objections(tree, [path for path in planted if path.startswith("ops/")], command)
        found = {re.search(r"\S+(?= does not stand alone)", text)[0] for text in told}
        if found != wrong or begun == 0:
            sys.exit(f"with {begun} precompiled headers found {sorted(found)}, planted {sorted(wrong)}")
        chains = tree.chains(["ops/good.hpp", "ops/user.hpp", "ops/leans_on_good.hpp"])
        if chains != [["ops/good.hpp", "ops/user.hpp"], ["ops/leans_on_good.hpp"]]:
            sys.exit(f"other chains: {chains}")


def main():
    arguments = sys.argv[1:]
    if arguments[0] == "--self-test":
        return self_test([word for word in arguments[1:] if word])
    everything = arguments[0] == "--all"
    source, build, eigen, *command = arguments[1:] if everything else arguments
    command = [word for word in command if word]
    with_cuda = (
        subprocess.run(
            [*command, "-fsyntax-only", "-x", "c++", "-"], input="#include <cuda_runtime.h>\n", capture_output=True, text=True
        ).returncode
        == 0
    )
    tree = Tree(os.path.abspath(source), os.path.abspath(build), eigen, with_cuda)
    headers = [path for path in tree.headers if everything or not tree.proven_by_source(path)]
    wrong, units, begun = objections(tree, headers, command)
    for text in wrong:
        print(text)
    if wrong or not headers:
        sys.exit(1)
    print(
        f"{len(headers)} of {len(tree.headers)} headers stand alone, compiled in {units} units and {begun} that these begin with"
    )


main()
