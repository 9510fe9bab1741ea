#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests cached.py on a small project of its own: what has passed with the same bytes is left out, and nothing else.

  cached_test.py CMAKE
"""
import os
import signal
import subprocess
import sys
import tempfile
import time

CACHED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cached.py")
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("CI", "ASSAY_NO_CACHE", "ASSAY_VERDICTS")}
PROJECT = """cmake_minimum_required(VERSION 3.24)
project(small LANGUAGES NONE)
enable_testing()
foreach(name one two slow)
  add_test(NAME ${name} COMMAND sh -c "echo ${name} >>'${CMAKE_SOURCE_DIR}/ran'; test ! -e '${CMAKE_SOURCE_DIR}/broken' && { test ! -e '${CMAKE_SOURCE_DIR}/waits' || test ${name} != two || sleep 60; }")
endforeach()
add_test(NAME judges COMMAND sh -c "echo judges >>'${CMAKE_SOURCE_DIR}/ran'; cat '${CMAKE_SOURCE_DIR}/ops' >'${CMAKE_BINARY_DIR}/depends/used/judges'")
add_test(NAME skipped COMMAND sh -c "echo skipped >>'${CMAKE_SOURCE_DIR}/ran'; exit 77")
set_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 77)
set_tests_properties(slow PROPERTIES LABELS push)
"""


class Project:
    """A project whose tests note that they ran."""

    def __init__(self, folder, cmake):
        self.folder = folder
        self.build = os.path.join(folder, "build")
        self.write("CMakeLists.txt", PROJECT)
        self.write("data/a", "a")
        self.write("data/b", "b")
        self.write("ops", "softmax")
        self.write("build/depends/used/of_nobody", "")
        for op in ("softmax", "linear"):
            self.write(op + ".o", op)
            self.write("build/depends/kernels/" + op, os.path.join(folder, op + ".o") + "\n")
        subprocess.run([cmake, "-S", folder, "-B", self.build], check=True, stdout=subprocess.DEVNULL)
        for test in ("one", "skipped", "slow"):  # of `two` nothing is said
            self.depends(test, os.path.join(folder, "data") + "\n=words\n")
        self.depends("judges", "=words\n@used\n")

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def depends(self, test, text):
        self.write(f"build/depends/{test}", text)

    def run(self, **variables):
        """Runs the tests; returns the exit code and which ran, in order of their names."""
        ran = os.path.join(self.folder, "ran")
        if os.path.exists(ran):
            os.remove(ran)
        done = subprocess.run(
            [sys.executable, CACHED, self.build, "-LE", "push"], env={**ENVIRONMENT, **variables}, capture_output=True, text=True
        )
        if not os.path.exists(ran):
            return done.returncode, []
        with open(ran) as file:
            return done.returncode, sorted(file.read().split())

    def interrupt(self):
        """Runs the tests, and interrupts them while `two` waits."""
        with open(os.path.join(self.folder, "ran"), "w"):
            pass
        self.write("waits", "")
        running = subprocess.Popen(
            [sys.executable, CACHED, self.build, "-LE", "push"],
            env=ENVIRONMENT,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while open(os.path.join(self.folder, "ran")).read().split()[-1:] != ["two"]:
            if running.poll() is not None:
                sys.exit("FAILED: the tests were over before they could be interrupted")
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGINT)
        running.wait()
        os.remove(os.path.join(self.folder, "waits"))


def check(what, got, expected):
    if got != expected:
        sys.exit(f"FAILED: {what}: {got}, expected {expected}")


def main():
    cmake = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        tree = Project(os.path.join(folder, "tree"), cmake)
        everything = ["judges", "one", "skipped", "two"]
        check("the first run", tree.run(), (0, everything))
        check("again", tree.run(), (0, ["skipped", "two"]))
        tree.write("linear.o", "other")
        check("after a change of kernels that were not judged", tree.run(), (0, ["skipped", "two"]))
        tree.write("softmax.o", "other")
        check("after a change of kernels that were", tree.run(), (0, ["judges", "skipped", "two"]))
        check("and again", tree.run(), (0, ["skipped", "two"]))
        check("in CI", tree.run(CI="true"), (0, everything))
        check("without the cache", tree.run(ASSAY_NO_CACHE="1"), (0, everything))
        tree.write("data/b", "c")
        check("after a change of a file", tree.run(), (0, ["one", "skipped", "two"]))
        tree.write("data/b", "b")
        check("changed back", tree.run(), (0, ["skipped", "two"]))
        tree.write("data/new", "")
        check("after a new file", tree.run(), (0, ["one", "skipped", "two"]))
        tree.depends("one", os.path.join(tree.folder, "data") + "\n=other words\n")
        check("after a change of words", tree.run(), (0, ["one", "skipped", "two"]))
        tree.depends("one", os.path.join(tree.folder, "data") + "\n/no/such/file\n")
        check("a dependency that is not there", [tree.run(), tree.run()], [(0, ["one", "skipped", "two"])] * 2)
        tree.depends("one", os.path.join(tree.folder, "data") + "\n")
        tree.write("broken", "")
        check("a failure", [tree.run(), tree.run()], [(8, ["one", "skipped", "two"])] * 2)
        os.remove(os.path.join(tree.folder, "broken"))
        check("mended", [tree.run(), tree.run()], [(0, ["one", "skipped", "two"]), (0, ["skipped", "two"])])
        tree.write("data/new", "newer")
        tree.interrupt()
        check("after an interrupt, what had passed", tree.run(), (0, ["skipped", "two"]))
        tree.write("data/new", "")
        # Another clone, with verdicts in a folder that both name.
        shared = os.path.join(folder, "shared")
        check("a new folder of verdicts", tree.run(ASSAY_VERDICTS=shared), (0, everything))
        clone = Project(os.path.join(folder, "clone"), cmake)
        clone.write("data/new", "")
        clone.write("softmax.o", "other")
        clone.depends("one", os.path.join(clone.folder, "data") + "\n")
        check("a clone", clone.run(ASSAY_VERDICTS=shared), (0, ["skipped", "two"]))
    print("what has passed with the same bytes is left out, and nothing else")


main()
