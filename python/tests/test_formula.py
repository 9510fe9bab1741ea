# SPDX-License-Identifier: Apache-2.0
"""Ops of one's own: a function of arrays becomes an op that the judge knows."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import assay
from assay import formula as f
from assay import library


@f.op(
    inputs={"x": "rows cols", "gate": "rows cols"},
    weights={"gamma": "cols"},
    outputs={"y": "rows cols"},
    attributes={"epsilon": 1e-6, "form": ["silu", "plain"]},
)
def gated_norm(x, gate, gamma, epsilon, form):
    """RMSNorm with a gate."""
    normed = x * f.rsqrt(f.mean(x**2, "cols") + epsilon) * gamma
    return normed * f.where(form == "silu", f.silu(gate), gate)


def _gated(x, gate, gamma, form, epsilon):
    a, g = x.astype(np.float32), gate.astype(np.float32)
    scale = 1 / np.sqrt(np.mean(a * a, -1, keepdims=True, dtype=np.float32) + np.float32(epsilon))
    with np.errstate(all="ignore"):
        return (a * scale * gamma.astype(np.float32) * (g / (1 + np.exp(-g)) if form == "silu" else g)).astype(x.dtype)


def right(x, gate, gamma, form, epsilon):
    return _gated(x, gate, gamma, form, epsilon)


def epsilon_ignored(x, gate, gamma, form):
    return _gated(x, gate, gamma, form, 1e-6)


def form_ignored(x, gate, gamma, epsilon):
    return _gated(x, gate, gamma, "silu", epsilon)


def takes_anything(**arguments):
    return _gated(arguments["x"], arguments["gate"], arguments["gamma"], "silu", arguments["epsilon"])


def test_an_op_of_ones_own_is_judged():
    for suite in ("smoke", "edges"):
        run = assay.validate(gated_norm, right, dtypes=["f32", "f16"], suite=suite)
        assert run.verdicts["passed"] > 40
    contract = assay.describe(gated_norm)
    assert [t.name for t in contract.tensors] == ["x", "gate", "gamma", "y"] and contract.about == "RMSNorm with a gate."


def test_wrong_kernels_of_it_fail_with_a_line_that_repeats_them():
    with pytest.raises(assay.Mismatch) as caught:
        assay.validate(gated_norm, takes_anything, dtypes=["f32"])
    assert "form=plain" in str(caught.value) and f"--op-file {gated_norm.path}" in str(caught.value)


def test_attributes_that_a_kernel_does_not_take_are_not_judged():
    assert assay.validate(gated_norm, form_ignored, dtypes=["f32"]).verdicts["unsupported"] > 0


def test_check_and_golden_take_it(x):
    arguments = {"x": x, "gate": x[::-1].copy(), "gamma": np.ones(65, np.float32), "form": "plain"}
    y = assay.golden(gated_norm, **arguments)
    expected = x / np.sqrt(np.mean(x.astype(np.float64) ** 2, -1, keepdims=True) + 1e-6) * x[::-1]
    assert np.allclose(y, expected, rtol=1e-6)
    assert assay.check(gated_norm, y, **arguments).passed


def test_a_file_of_python_is_an_op_file(tmp_path):
    own = tmp_path / "own.py"
    own.write_text(
        "from assay import formula as f\n"
        "@f.op(inputs={'x': 'rows cols'}, outputs={'y': 'rows'})\n"
        "def own_sum(x):\n    return f.sum(x, 'cols')\n"
    )
    described = library.call(["describe", "own_sum", "--json", "--op-file", str(own)])
    assert json.loads(described.out)["op"] == "own_sum"
    own.write_text("x = 1 / 0\n")
    with pytest.raises(assay.InputError, match="ZeroDivisionError: division by zero"):
        library.call(["list", "ops", "--op-file", str(own)])
    own.write_text("x = 1\n")
    with pytest.raises(assay.InputError, match="it has no function with @assay.formula.op above it"):
        library.call(["list", "ops", "--op-file", str(own)])


def test_a_file_of_json_is_an_op(tmp_path):
    own = tmp_path / "own.json"
    gated_norm.write(own)
    assert assay.validate(f.read(own), right, dtypes=["f32"]).passed
    own.write_text("[]")
    with pytest.raises(assay.InputError, match="own.json: it is not the file of an op"):
        f.read(own)


def test_two_ops_of_one_name_do_not_meet():
    def scaled(factor):
        @f.op(inputs={"x": "rows cols"}, outputs={"y": "rows cols"})
        def own_scaled(x):
            return factor * x

        return own_scaled

    x = np.ones((2, 3), np.float32)
    assert assay.golden(scaled(2.0), x=x)[0, 0] == 2 and assay.golden(scaled(4.0), x=x)[0, 0] == 4


def test_a_line_to_repeat_names_the_file_of_the_op_alone(tmp_path, monkeypatch):
    def made():
        @f.op(inputs={"x": "rows cols"}, outputs={"y": "rows cols"})
        def doubled(x):
            return x * 2.0

        return doubled

    op = made()
    given = tmp_path / "given.json"  # by the user, for all calls
    given.write_text(op.text.replace('"doubled"', '"given_doubled"'))
    monkeypatch.setenv(f.VARIABLE, str(given))
    assay.describe(gated_norm)
    assay.describe(op)
    assay.describe(gated_norm)
    for judged, kernel in ((op, lambda x: x * 3), ("given_doubled", lambda x: x * 3)):
        with pytest.raises(assay.Mismatch) as caught:
            assay.validate(judged, kernel, dtypes=["f32"], isolation="none")
        again = next(line for line in str(caught.value).splitlines() if line.startswith("  again"))
        assert "gated_norm" not in again and f"--op-file {given}" in again
        assert (f"--op-file {op.path}" in again) == (judged is op)
    assert all(str(path) in os.environ[f.VARIABLE] for path in (given, op.path, gated_norm.path))
    monkeypatch.setenv(f.VARIABLE, str(op.path))
    assert np.allclose(assay.golden("softmax", x=np.ones((2, 4), np.float32)), 0.25)


def test_matrix_products_and_masks():
    @f.op(inputs={"q": "seq_q head_dim", "k": "seq_k head_dim", "v": "seq_k head_dim"}, outputs={"o": "seq_q head_dim"})
    def one_head(q, k, v):
        scores = f.sum(q * k, "head_dim") * f.rsqrt(f.extent("head_dim"))
        seen = f.index("seq_k") <= f.index("seq_q")
        return f.sum(f.softmax_or_zero(f.where(seen, scores, -np.inf), "seq_k") * v, "seq_k")

    rng = np.random.default_rng(1)
    q, k, v = (rng.standard_normal((5, 8)) for _ in range(3))
    scores = np.where(np.tri(5, 5, dtype=bool), q @ k.T / np.sqrt(8), -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    singles = {name: value.astype(np.float32) for name, value in {"q": q, "k": k, "v": v}.items()}
    assert np.allclose(assay.golden(one_head, **singles), p / p.sum(-1, keepdims=True) @ v, atol=1e-5)


def test_recurrences():
    @f.op(
        inputs={"x": "batch steps", "gate": {"axes": "batch steps", "holds": "between(0, 1)"}, "first": "batch"},
        outputs={"y": "batch steps", "last": "batch"},
    )
    def gated_scan_of_mine(x, gate, first):
        shared = gate * gate  # is computed before the steps

        def step(states):
            h, total = states
            h = shared * h + x
            return (h, total + h), (h * total, h)

        (_, total), (product, h) = f.scan("steps", (first, 0.0), step)
        return product + h, total

    rng = np.random.default_rng(3)
    x, gate, first = (rng.random(shape).astype(np.float32) for shape in ((2, 6), (2, 6), (2,)))
    y, last = assay.golden(gated_scan_of_mine, f64=True, x=x, gate=gate, first=first)
    h = first.astype(np.float64)
    total = np.zeros(2)
    for step in range(6):
        h = gate[:, step].astype(np.float64) ** 2 * h + x[:, step]
        assert np.allclose(y[:, step], h * total + h, rtol=1e-14)
        total = total + h
    assert np.allclose(last, total, rtol=1e-14)


def test_names_of_a_scan_are_its_own(x):
    def summed():
        @f.op(inputs={"out1": "rows cols", "state1": "rows cols"}, outputs={"next1": "rows cols"})
        def running_sum(out1, state1):
            return f.scan("cols", 0.0, lambda total: (total + out1 * state1, total + out1 * state1))[1]

        return running_sum

    assert summed().text == summed().text
    y = assay.golden(summed(), f64=True, out1=x, state1=x)
    assert np.allclose(y, np.cumsum(x.astype(np.float64) ** 2, axis=1))


def test_the_delta_rule_has_a_matrix_as_its_state():
    axes = {"q": "steps key", "k": "steps key", "v": "steps value", "beta": "steps"}

    @f.op(inputs=axes, outputs={"o": "steps value"})
    def delta_rule(q, k, v, beta):
        def step(state):
            state = state + beta * k * (v - f.sum(state * k, "key"))
            return state, f.sum(state * q, "key")

        return f.scan("steps", 0.0, step)[1]

    rng = np.random.default_rng(4)
    given = {n: rng.standard_normal([{"steps": 5, "key": 3, "value": 4}[a] for a in s.split()]) for n, s in axes.items()}
    given["beta"] /= 4
    given = {name: value.astype(np.float32) for name, value in given.items()}
    o = assay.golden(delta_rule, f64=True, **given)
    q, k, v, beta = (given[n].astype(np.float64) for n in "q k v beta".split())
    state = np.zeros((3, 4))
    for t in range(5):
        state = state + beta[t] * np.outer(k[t], v[t] - k[t] @ state)
        assert np.allclose(o[t], q[t] @ state, rtol=1e-12)


def test_bounds_that_grow_without_end_are_suspect():
    @f.op(inputs={"k": "steps keys", "v": "steps values"}, outputs={"o": "steps values"})
    def free_keys(k, v):
        def step(state):
            state = state + k * (v - f.sum(state * k, "keys"))
            return state, f.sum(state * k, "keys")

        return f.scan("steps", 0.0, step)[1]

    def kernel(k, v):
        state, o = np.zeros((k.shape[1], v.shape[1]), np.float32), np.empty(v.shape, v.dtype)
        for t, key in enumerate(k):
            state = state + key[:, None] * (v[t] - key @ state)
            o[t] = key @ state
        return o

    with np.errstate(all="ignore"), pytest.raises(assay.Mismatch, match="0 failed.* 1 suspect") as told:
        assay.validate(free_keys, kernel, dtypes=["f32"], isolation="none", position_matters=True)
    assert "zeros would pass in over a quarter" in told.value.result.text


def test_a_single_value_may_stand_between_axes():
    @f.op(inputs={"x": "rows 1 cols"}, outputs={"y": "1 rows cols", "z": "cols 1 rows"})
    def moved(x):
        return x * 2, x

    x = np.arange(6, dtype=np.float32).reshape(2, 1, 3)
    y, z = assay.golden(moved, x=x)
    assert np.array_equal(y, 2 * x.transpose(1, 0, 2)) and np.array_equal(z, x.transpose(2, 1, 0))


def test_an_axis_may_have_one_extent_only():
    @f.op(inputs={"x": "rows tap"}, weights={"w": "tap", "b": "rows"}, outputs={"y": "rows"}, axes={"tap": (4, 4)})
    def weighed(x, w, b):
        return f.sum(x * w, "tap") + b

    def begins_with_the_bias(x, w, b):
        y = b
        for tap in range(4):
            y = y + x[:, tap] * w[tap]
        return y

    with np.errstate(all="ignore"):
        run = assay.validate(weighed, begins_with_the_bias, suite="edges", dtypes=["f32"], isolation="none")
    extents = {record["axes"]["tap"] for record in run.records if record["record"] == "case"}
    assert extents == {4}
    relations = {name for record in run.records if record["record"] == "case" for name in record.get("relations", ())}
    assert "rows_permuted" in relations and "first_tap" not in relations


def test_wrong_steps_are_told():
    for step, why in ((lambda h: h, "returns two things"), (lambda h: ((h, h), h), "returns 2 states, and 1 were expected")):
        with pytest.raises(assay.InputError, match=why):
            f.scan("steps", 0.0, step)


@pytest.mark.parametrize(
    "function, why",
    [
        (lambda x: x if x > 0 else -x, "write f.where"),
        (lambda x: x**3, "a power of 3 is no word of formulas"),
        (lambda x: x + "1", "a str in a formula"),
        (lambda x: x + float("nan"), "a number of a formula is NaN"),
        (lambda x: f.sum(x), "the axes are missing"),
        (lambda x: (x, x), "it returns 2 arrays, and the op has 1 outputs"),
        (lambda z: z, "'z' is no tensor and no attribute of the op"),
    ],
)
def test_what_a_formula_cannot_say_is_told(function, why):
    with pytest.raises(assay.InputError, match=why.replace("*", r"\*")):
        f.op(inputs={"x": "rows cols"}, outputs={"y": "rows cols"})(function)


def test_what_the_judge_cannot_read_is_told():
    @f.op(inputs={"x": "rows cols"}, outputs={"y": "rows cols"})
    def bad_axis(x):
        return x - f.mean(x, "columns")

    with pytest.raises(assay.InputError, match="there is no axis 'columns'"):
        assay.describe(bad_axis)
    assert assay.describe("softmax").name == "softmax"  # which it does not stop


def test_its_module_is_a_command(tmp_path):
    own = tmp_path / "own.py"
    own.write_text("from assay import formula as f\n")
    done = subprocess.run([sys.executable, "-m", "assay.op_file", str(own)], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "it has no function" in done.stderr
