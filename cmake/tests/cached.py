#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a build, but for those that have passed with the very same bytes before.

  cached.py BUILD CTEST-ARGUMENT...

BUILD/depends/TEST lists what a test depends on, a line each: files and folders, by their bytes, and `=TEXT`, by itself
(assay_cached() in cmake/CachedTests.cmake).  The key of a test is a hash of these and of its command.  Paths of the tree and of its
build do not count, so clones can share verdicts: ASSAY_VERDICTS names their folder (default: BUILD/verdicts).
With a line `@used` a test also depends on the kernels of the ops that it judged when it passed, which BUILD/depends/used/TEST names
then, and whose objects BUILD/depends/kernels/OP lists.
Only a test that passed leaves a file of its key's name; it names these ops and hashes of their kernels.  If CI or ASSAY_NO_CACHE is
set, all tests run and none leaves a file.
"""
import hashlib
import json
import os
import re
import subprocess
import sys

PASSED = re.compile(r"\s*\d+/\d+ Test +#\d+: (\S+) \.+ +Passed ")  # as ctest says it


def files_of(path):
    """The files of a dependency: itself, or all below a folder, in a fixed order."""
    if not os.path.isdir(path):
        return [path]
    found = []
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [os.path.join(folder, name) for name in sorted(names) if not name.endswith(".pyc")]
    return found


class Keys:
    """Computes keys of tests.  Each file is read once."""

    def __init__(self, build):
        self.build = os.path.realpath(build)
        with open(os.path.join(build, "CMakeCache.txt")) as file:
            self.source = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", file.read(), re.MULTILINE)[1]
        self.digests = {}

    def neutral(self, text):
        """A text without the places of tree and build."""
        return text.replace(self.build, "@BUILD@").replace(self.source, "@SOURCE@")

    def digest(self, path):
        if path not in self.digests:
            with open(path, "rb") as file:
                self.digests[path] = hashlib.sha256(file.read()).hexdigest()
        return self.digests[path]

    def of(self, test):
        """The key of a test, or nothing if it says of no dependency, or one is not there."""
        listed = os.path.join(self.build, "depends", test["name"])
        if not os.path.exists(listed) or "command" not in test:
            return None
        environment = [p["value"] for p in test["properties"] if p["name"] == "ENVIRONMENT"]
        key = hashlib.sha256(self.neutral(json.dumps([test["command"][1:], environment])).encode())
        with open(listed) as file:
            lines = [line for line in file.read().split("\n") if line]
        for line in lines:
            if line.startswith(("=", "@")):
                key.update(self.neutral(line).encode())
                continue
            for path in files_of(line):
                if not os.path.exists(path):
                    return None
                key.update(f"{self.neutral(path)} {self.digest(path)}\n".encode())
        return f"{test['name']}.{key.hexdigest()[:32]}"

    def used(self, op):
        """A line with a hash of the kernels of an op."""
        with open(os.path.join(self.build, "depends/kernels", op)) as file:
            objects = [line for line in file.read().split("\n") if line]
        return f"{op} {hashlib.sha256(''.join(map(self.digest, objects)).encode()).hexdigest()}\n"

    def used_by(self, name):
        """The lines of the ops that a test judged, when it ran last."""
        path = os.path.join(self.build, "depends/used", name)
        if not os.path.exists(path):
            return ""
        with open(path) as file:
            return "".join(self.used(op) for op in sorted(set(file.read().split())))

    def holds(self, verdict):
        """Whether the kernels that a verdict names are as they were."""
        with open(verdict) as file:
            lines = file.readlines()
        ops = [line.split()[0] for line in lines]
        known = all(os.path.exists(os.path.join(self.build, "depends/kernels", op)) for op in ops)
        return known and lines == [self.used(op) for op in ops]


def main():
    build, *arguments = sys.argv[1:]
    ctest = ["ctest", "--test-dir", build, *arguments]
    if os.environ.get("CI") or os.environ.get("ASSAY_NO_CACHE"):
        os.execvp("ctest", ctest)
    listing = subprocess.run([*ctest, "--show-only=json-v1"], check=True, capture_output=True, text=True).stdout
    keys_of = Keys(build)
    keys = {test["name"]: keys_of.of(test) for test in json.loads(listing)["tests"]}
    folder = os.environ.get("ASSAY_VERDICTS") or os.path.join(build, "verdicts")
    os.makedirs(folder, exist_ok=True)
    known = set(os.listdir(folder))
    passed = [name for name, key in keys.items() if key in known and keys_of.holds(os.path.join(folder, key))]
    if passed:
        print(
            f"{len(passed)} of {len(keys)} tests have passed with the same bytes before, and are left out  (make test CACHE=off)"
        )
    if len(passed) == len(keys):
        return
    for name in keys.keys() - set(passed):
        used = os.path.join(build, "depends/used", name)
        if os.path.exists(used):
            os.remove(used)
    left_out = ["-E", "^(" + "|".join(re.escape(name) for name in passed) + ")$"] if passed else []
    with subprocess.Popen([*ctest, *left_out], stdout=subprocess.PIPE, text=True, errors="replace") as running:
        for line in running.stdout:
            print(line, end="", flush=True)
            done = PASSED.match(line)
            if done and keys.get(done[1]):  # at once: what has passed before an interrupt need not run again
                with open(os.path.join(folder, keys[done[1]]), "w") as file:
                    file.write(keys_of.used_by(done[1]))
    sys.exit(running.returncode)


main()
