#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Halves one constant of the rules at a time, and says which of these changes the tests of the rules do not notice.

    python3 reference/tests/halve.py FOLDER [WORDS]

FOLDER: for what is compiled.  WORDS: only constants in lines that have these.

A constant is a number, or a name that stands for a unit of error (UNITS), in an expression of reference/formula/track*.cpp.  All are
compiled once as `halved(k) * constant`; then the tests run once for each k.  Left out are divisors, since half of one only allows
more, numbers that only compile as they are, such as indices, named constants, and slopes by which errors are told apart.  Exit code
1: some change is not noticed.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = sorted((ROOT / "reference/formula").glob("track*.cpp"))
TESTS = [*sorted((ROOT / "reference/tests").glob("formula_[ckr]*s_test.cpp")), ROOT / "cmake/catch/catch_main.cpp"]
FLAGS = [
    "-std=c++20",
    "-O1",
    "-fno-math-errno",
    "-w",
    f'-DASSAY_DATASETS_DIR="{ROOT}/datasets"',
    "-I",
    str(ROOT),
    "-I",
    str(ROOT / "cmake/catch"),
    "-isystem",
    "/usr/include/eigen3",
]
UNITS = r"u_?|low|floor_|function_|f|q|exponent|quotient|walk|lost|subnormal|far|near|u_stored|kToBase2|kFromBase2"
NUMBER = r"0x[0-9a-f.]+p[+-]?\d+|\d+(?:\.\d+)?(?:e-?\d+)?"
CONSTANT = re.compile(rf"(?<![\w.\[<\"'])(?:(?P<number>{NUMBER})|(?P<unit>{UNITS}))(?![\w\]>\"'(.])")
HALVED = """
#include <cstdlib>
namespace assay::formula {
inline double halved(int k) {
  static const int chosen = std::getenv("HALVED") ? std::atoi(std::getenv("HALVED")) : -1;
  return k == chosen ? 0.5 : 1.0;
}
}
"""


def constants(path, words):
    """The places (path, line, begin, end) of what may be a constant."""
    for number, line in enumerate(path.read_text().splitlines()):
        code = line.split("//")[0]
        slope = r"\[\]\(double \w+\) \{ return"  # of what is taken from `any`: half of it leaves more there
        skipped = re.match(rf"\s*(#|case\b|for\b|template|constexpr double|static\b|using|int\b|return \{{\.any|{slope})", code)
        if words not in line or skipped:
            continue
        for match in CONSTANT.finditer(code):
            before = code[: match.start()].rstrip()
            after = code[match.end() :].lstrip()
            if match["number"] in ("0", "0.0") or before.endswith(("/", "return -", ": -", "<", "==")):
                continue  # half a divisor only allows more; what is compared, or says that there is none, is no constant
            if re.match(r"[<>]", after):
                continue
            declared = re.search(r"(double|auto|Field&?|DType|int|&)$", before) or re.match(r"=[^=]", after)
            if match["unit"] and (declared or re.search(r"\[[^\]]*$", before)):
                continue  # a name that is declared or captured here
            yield path, number, match.start(), match.end()


def changed(path, places):
    """The text of a file with those of these constants that are its own as halved(k) * constant, and where each stands there."""
    lines = path.read_text().splitlines(keepends=True)
    columns = {}
    for k, (of, line, begin, end) in sorted(places.items(), key=lambda c: c[1][1:]):
        if of != path:
            continue
        moved = sum(len(f"(halved({other}) * )") for other in columns if places[other][1] == line)
        columns[k] = begin + moved
        text = f"(halved({k}) * {path.read_text().splitlines()[line][begin:end]})"
        lines[line] = f"{lines[line][: begin + moved]}{text}{lines[line][end + moved :]}"
    return f'{HALVED}#line 1 "{path.name}"\n{"".join(lines)}', columns


def object_of(path, places, folder):
    """Compiles a file, and takes the constants out of `places` that do not compile."""
    to, source = folder / f"{path.stem}.o", folder / path.name
    while True:
        text, columns = changed(path, places)
        source.write_text(text)
        command = ["g++", *FLAGS, "-iquote", str(path.parent), "-fmax-errors=0", "-c", str(source), "-o", str(to)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            return to
        wrong = set()
        for line, column in re.findall(rf"^{path.name}:(\d+):(\d+): error", done.stderr, re.MULTILINE):
            near = [k for k in columns if places[k][1] == int(line) - 1]
            if near:
                wrong.add(min(near, key=lambda k: abs(columns[k] - int(column))))
        if not wrong:
            sys.exit(done.stderr[:3000])
        for k in wrong:
            print(f"no constant: {path.name}:{places[k][1] + 1}:{places[k][2] + 1}", file=sys.stderr)
            del places[k]


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    words = sys.argv[2] if len(sys.argv) > 2 else ""
    folder.mkdir(parents=True, exist_ok=True)
    places = dict(enumerate(place for path in RULES for place in constants(path, words)))
    sources = sorted((ROOT / "reference/formula").glob("*.cpp")) + TESTS
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(lambda path: object_of(path, places, folder), sources))
        program = folder / "rules"
        subprocess.run(["g++", "-fopenmp", *map(str, objects), "-o", str(program)], check=True)

        def status(k):
            env = {**os.environ, "HALVED": str(k)}
            return subprocess.run([str(program), "[rules]", "-a"], capture_output=True, env=env).returncode

        def fails(k):  # a test, and not the program as a whole
            return status(k) > 0

        if status(-1) != 0:
            sys.exit("the tests of the rules fail as they are")
        missed = 0
        for (path, line, begin, end), noticed in zip(places.values(), pool.map(fails, places)):
            if not noticed:
                missed += 1
                code = path.read_text().splitlines()[line]
                print(f"{path.name}:{line + 1}: {code[begin:end]} in  {code.strip()}", flush=True)
    print(f"{len(places) - missed} of {len(places)} halved constants are noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
