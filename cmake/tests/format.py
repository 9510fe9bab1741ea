#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Formats the files of the tree that git tracks: C++ and CUDA by clang-format, Python by black.

  format.py --check [SOURCE]    names each file that is not formatted; writes nothing
  format.py --write [SOURCE]    formats them in place
  format.py --self-test         checks that what is not formatted is found and mended, and nothing else

Both also name what no formatter mends: lines that glue several statements.  Exit codes: 0 all files are as they should be, 1 some
are not, 2 bad usage, 77 the rest are, and a formatter is missing.  Where CI is set, a missing formatter is a failure.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize

import glued_cpp
import glued_python

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COLUMNS = 130  # as in .clang-format
CLANG_FORMAT = "14"  # Note: each version has another style
CPP = ("*.cpp", "*.hpp", "*.cu", "*.cuh", "*.h", "*.c")
# The lines of these stand in the recorded PTX beside them.
RECORDED = "datasets/ptx/"
BLACK_YEAR = "23"  # whose versions all have one style
BLACK = ["black", "--line-length", str(COLUMNS), "--target-version", "py311", "--config", os.devnull]


class Missing(Exception):
    """A formatter is not installed, or the installed one has another style."""


def tracked(source, *patterns):
    """The files that git tracks, relative to the tree, but for those that were removed."""
    if not shutil.which("git"):
        raise Missing("git is not installed")
    listed = subprocess.run(["git", "-C", source, "ls-files", "-z", "--", *patterns], capture_output=True, text=True)
    if listed.returncode:
        raise Missing(f"git does not know what it tracks: {listed.stderr.strip()}")
    return [path for path in listed.stdout.split("\0") if path and os.path.exists(os.path.join(source, path))]


# clang-format takes no macro call for a namespace's name, so it is shown a name of the same length.
ROOM = re.compile(r"\bnamespace assay::ROOM\((\w+), (\w+)\)")
ROOM_AS_NAME = re.compile(r"\bnamespace assay::ROOM_(\w+?)__(\w+)_(?!\w)")


def format_cpp(source, write):
    """Formats the C++ and CUDA files, or only looks at them.  Returns what is wrong, one sentence for each file."""
    program = shutil.which(f"clang-format-{CLANG_FORMAT}") or shutil.which("clang-format")
    if not program:
        raise Missing(f"clang-format {CLANG_FORMAT} is not installed (Debian's package clang-format-{CLANG_FORMAT})")
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    if not re.search(rf"version {CLANG_FORMAT}\.", version):
        raise Missing(f"the style is that of clang-format {CLANG_FORMAT}, and '{version.strip()}' is installed")
    files = [path for path in tracked(source, *CPP) if not path.startswith(RECORDED)]
    wrong = []
    with tempfile.TemporaryDirectory() as copies:
        shutil.copy(os.path.join(source, ".clang-format"), copies)
        before = {}
        for path in files:
            with open(os.path.join(source, path), encoding="utf-8") as file:
                before[path] = file.read()
            copy = os.path.join(copies, path)
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            with open(copy, "w", encoding="utf-8") as file:
                file.write(ROOM.sub(r"namespace assay::ROOM_\1__\2_", before[path]))
        processes = os.cpu_count() or 1
        shares = [files[first::processes] for first in range(processes)]
        running = [subprocess.Popen([program, "-i", *share], cwd=copies) for share in shares if share]
        if any([process.wait() for process in running]):
            raise RuntimeError("clang-format has failed")
        for path in files:
            with open(os.path.join(copies, path), encoding="utf-8") as file:
                after = ROOM_AS_NAME.sub(r"namespace assay::ROOM(\1, \2)", file.read())
            if after == before[path]:
                continue
            if write:
                with open(os.path.join(source, path), "w", encoding="utf-8") as file:
                    file.write(after)
            else:
                wrong.append(f"{path} is not formatted: make format")
    return wrong


def format_python(source, write):
    """Formats the Python files, or only looks at them.  Returns what is wrong, one sentence for each file."""
    files = tracked(source, "*.py")
    if not shutil.which("black"):
        raise Missing("black is not installed (Debian's package black)")
    version = subprocess.run(["black", "--version"], capture_output=True, text=True).stdout
    if not re.match(rf"black, {BLACK_YEAR}\.", version):
        raise Missing(f"the style is that of black {BLACK_YEAR}, and '{version.splitlines()[0] if version else ''}' is installed")
    if not files:
        return []
    with tempfile.TemporaryDirectory() as cache:  # Note: black's own is not looked up by what files hold
        done = subprocess.run(
            [*BLACK, *([] if write else ["--check"]), *files],
            cwd=source,
            env={**os.environ, "BLACK_CACHE_DIR": cache},
            capture_output=True,
            text=True,
        )
    wrong = []
    for line in done.stderr.splitlines():
        if line.startswith("would reformat "):
            wrong.append(f"{line.removeprefix('would reformat ')} is not formatted: make format")
        elif line.startswith("error: "):
            wrong.append(line.removeprefix("error: "))
    if done.returncode and not wrong:
        raise RuntimeError(f"black ended with code {done.returncode}: {done.stderr}")
    return wrong


def glued(source, _):
    """Where files have several statements in one.  Returns a sentence for each place."""
    wrong = []
    for path in tracked(source, "*.py", *CPP):
        if path.startswith(RECORDED):
            continue
        with open(os.path.join(source, path), encoding="utf-8") as file:
            text = file.read()
        finder = glued_python if path.endswith(".py") else glued_cpp
        try:
            wrong += [f"{path}:{line}: {how}; each statement has a line of its own" for line, how in finder.glued_in(text)]
        except (SyntaxError, tokenize.TokenError) as e:
            wrong.append(f"{path}: {e}")
    return wrong


STEPS = (format_cpp, format_python, glued)


def formatted(source, write):
    """Does all steps.  Returns what is wrong, and which formatters are missing."""
    wrong = []
    missing = []
    for step in STEPS:
        try:
            wrong += step(source, write)
        except Missing as e:
            missing.append(str(e))
    return wrong, missing


def missing_found(programs, tree):
    """What is wrong with what is said where no formatter is installed, and where one of another style is."""
    complaints = []
    os.mkdir(programs)
    for name in ("git", "sh"):
        os.symlink(shutil.which(name), os.path.join(programs, name))
    path = os.environ["PATH"]
    os.environ["PATH"] = programs
    for said, why in (("", "not installed"), ("black, 99.1.0", "'black, 99.1.0' is installed")):
        if said:
            black = os.path.join(programs, "black")
            with open(black, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\necho '{said}'\n")
            os.chmod(black, 0o755)
        _, missing = formatted(tree, write=False)
        if not any(why in sentence for sentence in missing):
            complaints.append(f"expected '{why}' of a missing formatter, and heard {missing}")
    os.environ["PATH"] = path
    return complaints


SOUND_CPP = """// SPDX-License-Identifier: Apache-2.0
namespace assay::ROOM(op, name) {

int a = 1, b = 2;
std::map<int, std::pair<int, int>> counts, sizes;
struct Runs {
  int run, failed;
} first, second;
enum class Kind { one, two };
template <class A, class B>
void f(A a, B b);
void g() {
  for (int i = 0, j = 1; i < j; ++i, --j) h(i, j);
  f(1, [](int x, int y) { return x + y; });
  const auto [x, y] = pair(1, 2);
  std::vector<int> values{1, 2}, others = {3, 4};
  if (const int n = read(); n > 0) h(n, n);
  if (const auto found = find(x, y)) h(x, y);
  while (any_of(x, [&](int v) { return v == total; })) h(x, y);
  const char* text = "a = 1, b = 2;";  // a = 1, b = 2;
  if (x) return go.template operator()<1, 2>();
  return at<1, 2>(x, y);
}
class Parser : First, Second {
 public:
  Parser(int a, int b) : a_(a), b_(b) {}
  int a_, b_;
};

}  // namespace assay::ROOM(op, name)
"""
GLUED_CPP = (
    "void f() { a = 1, b = 2; }\n",
    "void f() {\n  if (x) a = 1, g(b);\n}\n",
    "void f() {\n  for (;;) ++a, ++b;\n}\n",
    "int f() { return ++x, g(); }\n",
    "auto f = [&](int x) { a += x, b += x; };\n",
    "struct S {\n  void f() { *a = 1, b.c = 2; }\n};\n",
    "namespace assay::ROOM(op, name) {\nvoid f() { a = 1, b = 2; }\n}  // namespace assay::ROOM(op, name)\n",
    "constexpr Run kRun = op2<[](T a) { a = 1, b = 2; }>;\n",
    "void f() {\n  switch (x) {\n    case 1: a = 1, b = 2;\n  }\n}\n",
    "void f() {\n  if ((n = read()) > 0) g();\n}\n",
    "void f() {\n  while (x && !(y += 2)) g();\n}\n",
    "void f() {\n  if constexpr (a) b = 1, c = 2;\n}\n",
    "const auto f = [&] { a = 1, b = 2; };\n",
    "void f() {\n  if (x) [[unlikely]] {\n    a = 1, b = 2;\n  }\n}\n",
)


def self_test():
    good = """import os

words = ["a;b", os.sep]  # a; b
length = len(words) if words else 0
least, most = 1, 10
least, most = most, least
begin, end = words.index("a"), words.index(os.sep)
"""
    planted = {
        "good.py": good,
        "spaces.py": "words = [ 1,2 ]\n",
        "quotes.py": "word = 'a'\n",
        "long.py": f"words = [{', '.join(['1000'] * 30)}]\n",
        "broken.py": "def (:\n",
        "joined.py": "a = 1; b = 2\n",
        "kept.py": "# fmt: off\na = 1; b = 2\n",
        "tuple.py": "print(1), print(2)\n",
        "chosen.py": "print(1) if len([]) else print(2)\n",
        "chained.py": "len([]) or print(2)\n",
        "looped.py": "[print(i) for i in (1, 2)]\n",
        "imports.py": "import os, sys\n",
        "inside.py": "if word := input():\n    print(word)\n",
        "unrelated.py": "words, length = [], 0\n",
        "many.py": "a, b, c, d = 1, 2, 3, 4\n",
        "good.cu": SOUND_CPP,
        "spaces.cpp": "int a=1 ;\n",
        "room.cu": SOUND_CPP.replace("  int a_, b_;", "    int a_, b_;"),
        "datasets/ptx/recorded.cu": "void f() { a = 1, b = 2 ; }\n",
    }
    glued_cpp_files = {f"glued_{number}.cpp": text for number, text in enumerate(GLUED_CPP)}
    planted.update(glued_cpp_files)
    for_formatters = {"spaces.py", "quotes.py", "long.py", "joined.py", "spaces.cpp", "room.cu"}
    broken = {"broken.py"}
    glue = {"kept.py", "tuple.py", "chosen.py", "chained.py", "looped.py", "imports.py", "inside.py", "unrelated.py", "many.py"}
    glue |= set(glued_cpp_files)
    with tempfile.TemporaryDirectory() as tree:

        def plant(name, text):
            path = os.path.join(tree, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)

        def found_in(sentences):
            sentences = list(sentences)
            return {name for name in planted if any(name in sentence for sentence in sentences)}

        if not shutil.which("git"):
            return ended([], ["git is not installed"])
        for name, text in planted.items():
            plant(name, text)
        shutil.copy(os.path.join(SOURCE, ".clang-format"), tree)
        subprocess.run(["git", "init", "-q", tree], check=True)
        subprocess.run(["git", "-C", tree, "add", "."], check=True)
        plant("untracked.py", "words = [ 1 ]\n")
        wrong, missing = formatted(tree, write=False)
        if missing:
            return ended([], missing)
        complaints = missing_found(os.path.join(tree, "bin"), tree)
        if found_in(wrong) != for_formatters | broken | glue:
            complaints.append(f"found {sorted(found_in(wrong))}, planted {sorted(for_formatters | broken | glue)}: {wrong}")
        if found_in(sentence for sentence in wrong if sentence.endswith("make format")) != for_formatters:
            complaints.append(f"not as expected: {wrong}")
        wrong, _ = formatted(tree, write=True)
        if found_in(wrong) != broken | glue:
            complaints.append(f"after --write found {sorted(found_in(wrong))}, not {sorted(broken | glue)}: {wrong}")
        with open(os.path.join(tree, "untracked.py"), encoding="utf-8") as file:
            if file.read() != "words = [ 1 ]\n":
                complaints.append("--write has written a file that git does not track")
        for name in broken | glue:
            plant(name, planted["good.cu"] if name.endswith(".cpp") else good)
        if formatted(tree, write=False) != ([], []):
            complaints.append(f"a false alarm: {formatted(tree, write=False)}")
        return ended(complaints, [])


def ended(wrong, missing):
    """Prints what is wrong and what is missing.  Returns the exit code."""
    for sentence in wrong:
        print(sentence)
    for sentence in missing:
        print(f"{'FAILED' if os.environ.get('CI') else 'SKIPPED'}: {sentence}")
    if wrong or (missing and os.environ.get("CI")):
        return 1
    return 77 if missing else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if not arguments or arguments[0] not in ("--check", "--write") or len(arguments) > 2:
        print(__doc__, file=sys.stderr)
        return 2
    source = os.path.abspath(arguments[1]) if len(arguments) == 2 else SOURCE
    return ended(*formatted(source, write=arguments[0] == "--write"))


sys.exit(main(sys.argv[1:]))
