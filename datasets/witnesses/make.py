#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the witnesses: small cases of each op with its outputs, computed to 50 digits by mpmath from the op's definition.

    make.py [OP...]      writes OP.json beside this file, of all ops by default
    make.py --check      exits with 1 if a file is not what this script makes

They share nothing with the tree: neither its formulas nor its goldens (reference/) nor the oracles (validate/ops/).  A formula must
meet them, and formulas that are wrong on purpose must not (reference/tests/witnesses_test.cpp).  Inputs are multiples of 2^-5 with
few digits, so f16 holds them exactly.  An output is the f64 nearest to the value.
"""

import json
import random
import sys
from pathlib import Path

from mpmath import mp, mpf, erf, exp, fsum, log, pi, sqrt, tanh

mp.dps = 50
HERE = Path(__file__).resolve().parent
EPSILONS = (1e-5, 1e-6, 0.0625)


def draw(rng, *shape, scale=4.0):
    """Nested lists of numbers within +-scale."""
    if not shape:
        return rng.randint(int(-32 * scale), int(32 * scale)) / 32
    return [draw(rng, *shape[1:], scale=scale) for _ in range(shape[0])]


def gelu(z, form):
    if form == "erf":
        return z / 2 * (1 + erf(z / sqrt(2)))
    return z / 2 * (1 + tanh(sqrt(2 / pi) * (z + mpf("0.044715") * z**3)))


def add(a, b):
    return {"y": [[mpf(p) + mpf(q) for p, q in zip(r, s)] for r, s in zip(a, b)]}


def softmax(x):
    exps = [[exp(mpf(v)) for v in row] for row in x]
    return {"y": [[e / fsum(row) for e in row] for row in exps]}


def rmsnorm(x, gamma, epsilon):
    out = []
    for row in x:
        root = sqrt(fsum(mpf(v) ** 2 for v in row) / len(row) + mpf(epsilon))
        out.append([mpf(v) / root * mpf(g) for v, g in zip(row, gamma)])
    return {"y": out}


def layernorm(x, gamma, beta, epsilon):
    out = []
    for row in x:
        mean = fsum(mpf(v) for v in row) / len(row)
        root = sqrt(fsum((mpf(v) - mean) ** 2 for v in row) / len(row) + mpf(epsilon))
        out.append([(mpf(v) - mean) / root * mpf(g) + mpf(b) for v, g, b in zip(row, gamma, beta)])
    return {"y": out}


def products(x, weight, bias):
    rows = [[fsum(mpf(p) * mpf(q) for p, q in zip(row, w)) for w in weight] for row in x]
    return [[v + mpf(b) for v, b in zip(row, bias)] for row in rows] if bias else rows


def linear(x, weight, bias=None):
    return {"y": products(x, weight, bias)}


def gelu_linear(x, weight, bias=None, form="tanh"):
    return {"y": [[gelu(z, form) for z in row] for row in products(x, weight, bias)]}


def row_reduce(x, what):
    reduce = {
        "sum": lambda row: fsum(mpf(v) for v in row),
        "max": lambda row: mpf(max(row)),
        "logsumexp": lambda row: log(fsum(exp(mpf(v)) for v in row)),
        "sum_of_squares": lambda row: fsum(mpf(v) ** 2 for v in row),
    }[what]
    return {"y": [reduce(row) for row in x]}


def cases_of(op, rng):
    """(extents, attributes, inputs) of the cases of an op."""
    for number in range(24):
        rows = rng.randint(1, 3)
        cols = rng.choice((1, 2, 3, 5, 8))
        scale = rng.choice((0.5, 4.0, 16.0))
        matrix = {"rows": rows, "cols": cols}
        epsilon = EPSILONS[number % len(EPSILONS)]
        if op == "add":
            yield matrix, {}, {"a": draw(rng, rows, cols, scale=scale), "b": draw(rng, rows, cols, scale=scale)}
        elif op == "softmax":
            yield matrix, {}, {"x": draw(rng, rows, cols, scale=scale)}
        elif op == "rmsnorm":
            yield matrix, {"epsilon": epsilon}, {
                "x": draw(rng, rows, cols, scale=scale / 64 if number % 2 else scale),
                "gamma": draw(rng, cols),
            }
        elif op == "layernorm":
            yield matrix, {"epsilon": epsilon}, {
                "x": draw(rng, rows, cols, scale=scale / 4 if number % 2 else scale),
                "gamma": draw(rng, cols),
                "beta": draw(rng, cols),
            }
        elif op in ("linear", "gelu_linear"):
            tokens = rng.randint(1, 3)
            hidden = rng.choice((1, 2, 3, 5))
            out = rng.randint(1, 4)
            attributes = {"bias": "yes"} if number % 2 else {}
            if op == "gelu_linear" and number % 4 >= 2:
                attributes["form"] = "erf"
            size = 0.5 if op == "gelu_linear" else scale
            inputs = {"x": draw(rng, tokens, hidden, scale=size), "weight": draw(rng, out, hidden, scale=1.0)}
            if number % 2:
                inputs["bias"] = draw(rng, out, scale=size)
            yield {"tokens": tokens, "hidden": hidden, "out": out}, attributes, inputs
        elif op == "row_reduce":
            yield matrix, {"what": ("sum", "max", "logsumexp", "sum_of_squares")[number % 4]}, {
                "x": draw(rng, rows, cols, scale=scale)
            }


OPS = {f.__name__: f for f in (add, softmax, rmsnorm, layernorm, linear, gelu_linear, row_reduce)}


def plain(values):
    return [plain(v) for v in values] if isinstance(values, list) else float(values)


def text_of(op):
    lines = []
    for extents, attributes, inputs in cases_of(op, random.Random(f"witnesses of {op}")):
        words = {name: value for name, value in attributes.items() if name != "bias"}
        outputs = {name: plain(values) for name, values in OPS[op](**inputs, **words).items()}
        lines.append(json.dumps({"dims": extents, "attributes": attributes, "inputs": inputs, "outputs": outputs}))
    return "[\n" + ",\n".join(lines) + "\n]\n"


def main(arguments):
    wrong = []
    for op in [a for a in arguments if not a.startswith("-")] or OPS:
        file = HERE / f"{op}.json"
        text = text_of(op)
        if "--check" not in arguments:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            wrong.append(file.name)
    if wrong:
        print("not what make.py makes: " + ", ".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
