# SPDX-License-Identifier: Apache-2.0
"""Definitions and solutions of FlashInfer-Bench: ops made of them, right and wrong kernels, and what is refused."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import assay  # noqa: E402
from assay import formula as f  # noqa: E402

VAR = {"type": "var"}
ON_CPU = {"device": "cpu", "isolation": "none", "position_matters": True}


def const(value):
    return {"type": "const", "value": value}


def tensor(*axes, dtype="bfloat16", **more):
    return {"shape": list(axes), "dtype": dtype, **more}


def number(dtype="float32", **more):
    return {"shape": None, "dtype": dtype, **more}


RMSNORM = {
    "name": "rmsnorm_h96",
    "op_type": "rmsnorm",
    "description": "RMSNorm of rows of 96.",
    "axes": {"batch_size": VAR, "hidden_size": const(96)},
    "inputs": {"hidden_states": tensor("batch_size", "hidden_size"), "weight": tensor("hidden_size")},
    "outputs": {"output": tensor("batch_size", "hidden_size")},
    "reference": """import torch

@torch.no_grad()
def run(hidden_states, weight):
    _, hidden_size = hidden_states.shape
    assert hidden_size == 96
    x = hidden_states.float()
    scale = torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)
    return (x * scale * weight.float()).to(hidden_states.dtype)
""",
}

ADD_RMSNORM = {
    **RMSNORM,
    "name": "fused_add_rmsnorm_h96",
    "inputs": {
        "hidden_states": tensor("batch_size", "hidden_size"),
        "residual": tensor("batch_size", "hidden_size"),
        **RMSNORM["inputs"],
    },
    "outputs": {"output": tensor("batch_size", "hidden_size"), "residual": tensor("batch_size", "hidden_size", dtype="float32")},
    "reference": """import torch

def normed(x, eps=1e-6):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)

def run(hidden_states, residual, weight):
    assert hidden_states.shape[1] == 96 and weight.shape == (96,)
    x = hidden_states.float() + residual.float()
    return {"residual": x, "output": (normed(x) * weight.float()).to(hidden_states.dtype)}
""",
}

GEMM = {
    "name": "gemm_n24_k40",
    "op_type": "gemm",
    "axes": {"M": VAR, "N": const(24), "K": const(40)},
    "inputs": {"A": tensor("M", "K", dtype="float16"), "B": tensor("N", "K", dtype="float16")},
    "outputs": {"C": tensor("M", "N", dtype="float16")},
    "reference": "import torch\n\ndef run(A, B):\n    return torch.matmul(A, B.T)\n",
}

# Written for its extents alone: a cache of which each half has half of rotary_dim, and a part of each head that is not turned.
ROPE = {
    "name": "rope_d16_r8",
    "op_type": "rope",
    "axes": {"tokens": VAR, "heads": VAR, "length": VAR, "head_dim": const(16), "rotary_dim": const(8)},
    "inputs": {
        "q": tensor("tokens", "heads", "head_dim"),
        "cache": tensor("length", "rotary_dim", dtype="float32"),
        "positions": tensor("tokens", dtype="int64"),
    },
    "outputs": {"q_out": tensor("tokens", "heads", "head_dim")},
    "reference": """import torch

def run(q, cache, positions):
    cos, sin = cache[positions].chunk(2, dim=-1)
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    left, right, rest = q[..., :4].float(), q[..., 4:8].float(), q[..., 8:].float()
    return torch.cat((left * cos - right * sin, right * cos + left * sin, rest), -1).to(q.dtype)
""",
}

ATTENTION = {
    "name": "decode_h4_kv2_d8",
    "op_type": "gqa",
    "axes": {"q_heads": const(4), "kv_heads": const(2), "head_dim": const(8), "length": VAR},
    "constraints": ["q_heads % kv_heads == 0", "length >= 2"],
    "inputs": {
        "q": tensor("q_heads", "head_dim"),
        "k": tensor("length", "kv_heads", "head_dim"),
        "v": tensor("length", "kv_heads", "head_dim"),
        "sm_scale": number(),
    },
    "outputs": {"output": tensor("q_heads", "head_dim")},
    "reference": """import torch

def run(q, k, v, sm_scale):
    output = torch.zeros_like(q, dtype=torch.float32)
    for head in range(q.shape[0]):
        group = head // (q.shape[0] // k.shape[1])
        scores = k[:, group].float() @ q[head].float() * sm_scale
        output[head] = torch.softmax(scores, 0) @ v[:, group].float()
    return output.to(q.dtype)
""",
}


@pytest.fixture
def written(tmp_path):
    """Writes a definition, with some parts changed, and returns its path."""

    def write(definition, /, **changes):
        path = tmp_path / f"{definition['name']}.json"
        path.write_text(json.dumps({**definition, **changes}))
        return path

    return write


def reference_of(definition):
    module = {}
    exec(definition["reference"], module)
    return module["run"]


def assert_passed(op, kernel, **how):
    """Of a kernel that takes no NaN and no infinity, so that some cases are left out."""
    try:
        verdicts = assay.validate(op, kernel, finite_inputs=True, **how).verdicts
    except assay.Incomplete as e:
        verdicts = e.result.verdicts
    assert verdicts["passed"] > 10 and not verdicts.get("failed")


def test_a_constant_axis_has_its_extent_and_no_other(written):
    op = f.from_definition(written(RMSNORM))
    described = json.loads(op.text)
    assert described["axes"] == {"hidden_size": [96, 96]} and described["about"] == "RMSNorm of rows of 96."
    assert list(described["inputs"]) == ["hidden_states"] and list(described["weights"]) == ["weight"]
    assert op.dtypes == ("bf16",) and "legal" not in described
    any_width = f.from_definition(written(RMSNORM), constants={"hidden_size": None})
    assert "axes" not in json.loads(any_width.text)
    assert json.loads(f.from_definition(written(RMSNORM), constants={"hidden_size": 8}).text)["axes"] == {"hidden_size": [8, 8]}


def test_an_assertion_on_an_extent_that_is_changed_is_told_and_passed_over(written):
    told = "reference:6: its assertion fails for hidden_size=8, .*, and is passed over, since constants= changes"
    with pytest.warns(UserWarning, match=told):
        f.from_definition(written(RMSNORM), constants={"hidden_size": 8})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f.from_definition(written(RMSNORM), constants={"hidden_size": 96})
        f.from_definition(written(GEMM), constants={"N": 5})


def test_the_definition_of_the_page():
    path = Path(__file__).resolve().parents[2] / "examples/own_op/rmsnorm_h512.json"
    right = reference_of(json.loads(path.read_text(encoding="utf-8")))
    assert assay.validate(right, reference=path, **ON_CPU).passed


def test_right_kernels_pass_and_wrong_ones_fail(written):
    right = reference_of(RMSNORM)
    run = assay.validate(right, reference=str(written(RMSNORM)), **ON_CPU)
    assert run.passed and run.verdicts["passed"] > 10

    def without_epsilon(hidden_states, weight):
        x = hidden_states.float()
        return (x * torch.rsqrt(x.square().mean(-1, keepdim=True)) * weight.float()).to(hidden_states.dtype)

    with pytest.raises(assay.Mismatch):
        assay.validate(without_epsilon, reference=written(RMSNORM), **ON_CPU)


def test_outputs_have_the_dtypes_of_the_definition_and_come_by_name(written):
    op = f.from_definition(written(ADD_RMSNORM))
    described = json.loads(op.text)
    assert described["outputs"]["residual_"] == {"axes": "batch_size hidden_size", "dtype": "f32"}
    assert described["outputs"]["output"] == "batch_size hidden_size"
    x, residual, weight = (torch.randn(shape).bfloat16() for shape in ((5, 96), (5, 96), (96,)))
    total = x.float() + residual.float()
    y = (total * torch.rsqrt(total.square().mean(-1, keepdim=True) + 1e-6) * weight.float()).bfloat16()
    given = {"hidden_states": x, "residual": residual, "weight": weight}
    assert assay.check(op, (y, total), **given).passed
    with pytest.raises(assay.Mismatch):
        assay.check(op, (y, total.bfloat16().float()), **given)


def gemm(A, B):
    return A @ B.T


def test_kernels_take_arguments_by_the_names_of_the_definition(written):
    op = f.from_definition(written(GEMM))
    assert op.names == {"a": "A", "b": "B"} and op.dtypes == ("f16",)
    assert_passed(op, gemm, **ON_CPU)
    assert_passed(op, gemm, device="cpu", position_matters=True)
    with pytest.raises(assay.Mismatch):
        assay.validate(op, lambda A, B: A[:, 1:] @ B[:, 1:].T, **ON_CPU, finite_inputs=True)


def test_places_at_which_elements_are_taken_are_read_from_the_reference(written):
    op = f.from_definition(written(ROPE))
    assert json.loads(op.text)["inputs"]["positions"]["holds"] == "indices_of(length)"
    rng = np.random.default_rng(5)
    q = torch.from_numpy(rng.standard_normal((3, 2, 16))).bfloat16()
    cache = torch.from_numpy(rng.standard_normal((7, 8))).float()
    positions = torch.from_numpy(rng.integers(0, 7, 3))
    right = reference_of(ROPE)(q, cache, positions)
    assert assay.check(op, right, q=q, cache=cache, positions=positions).passed
    with pytest.raises(assay.Mismatch):
        assay.check(op, reference_of(ROPE)(q, -cache, positions), q=q, cache=cache, positions=positions)


def test_a_loop_over_a_constant_axis_and_writes_into_parts_are_read(written):
    op = f.from_definition(written(ATTENTION), attributes={"sm_scale": 0.5})
    described = json.loads(op.text)
    assert described["attributes"] == {"sm_scale": 0.5} and "extent[length] >= 2" in described["legal"]
    right = reference_of(ATTENTION)
    assert_passed(op, right, **ON_CPU)
    with pytest.raises(assay.Mismatch):
        assay.validate(op, lambda q, k, v, sm_scale: right(q, k, v.flip(1), sm_scale), **ON_CPU, finite_inputs=True)


def test_a_constant_axis_of_one_is_an_axis(written):
    inputs = {"x": tensor("M", "unit", "N", dtype="float32"), "state": tensor("M", "N", "N", dtype="float32")}
    outputs = {"y": tensor("M", "unit", "N", dtype="float32"), "after": tensor("M", "N", "N", dtype="float32")}
    reference = """def run(x, state):
    after = state * 0.5 + x.transpose(1, 2) @ x
    return (x.squeeze(1).unsqueeze(1) @ after), after
"""
    axes = {"M": VAR, "unit": const(1), "N": const(6)}
    definition = {**RMSNORM, "name": "states", "axes": axes, "inputs": inputs, "outputs": outputs, "reference": reference}
    op = f.from_definition(written(definition))
    x, state = torch.randn(3, 1, 6), torch.randn(3, 6, 6)
    y, after = reference_of(definition)(x, state)
    assert y.shape == (3, 1, 6) and assay.check(op, (y, after), x=x, state=state).passed
    with pytest.raises(assay.Mismatch):
        assay.check(op, (y, after.transpose(1, 2)), x=x, state=state.transpose(1, 2).contiguous() + 1)


def test_a_number_that_decides_what_is_computed_is_a_constant(written):
    axes = {"M": VAR, "N": VAR}
    inputs = {"x": tensor("M", "N", dtype="float32"), "flip": number("int32"), "scale": number(optional=True)}
    reference = "def run(x, flip, scale=2.0):\n    return x.flip(1) * scale if flip else x * scale\n"
    path = written(
        {
            **RMSNORM,
            "name": "flipped",
            "axes": axes,
            "inputs": inputs,
            "outputs": {"y": tensor("M", "N", dtype="float32")},
            "reference": reference,
        }
    )
    op = f.from_definition(path, attributes={"flip": 1})
    assert op.constants == {"flip": 1} and "attributes" not in json.loads(op.text)
    assert assay.validate(op, lambda x, flip: x.flip(1) * 2 if flip else x * 2, **ON_CPU).passed
    with pytest.raises(assay.InputError, match="/inputs/flip: it has no number: attributes={'flip': ...} was expected"):
        f.from_definition(path)
    with pytest.raises(assay.InputError, match="'x' is none of its numbers: flip, scale"):
        f.from_definition(path, attributes={"x": 1})


# --- What is refused ------------------------------------------------------------------------------------------------------------

NORM_INPUTS = RMSNORM["inputs"]


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"axes": {"batch_size": VAR, "hidden_size": {"type": "const"}}}, "/axes/hidden_size: 'value' is missing"),
        ({"axes": {"batch_size": {"type": "other"}}}, "/axes/batch_size: an object whose 'type' is const or var was expected"),
        ({"axes": {"batch_size": VAR, "hidden_size": const(0)}}, "/axes/hidden_size/value: 0 is no extent"),
        ({"axes": {"batch_size": VAR}}, "/inputs/hidden_states/shape: 'hidden_size' is none of the axes batch_size"),
        ({"reference": 3}, "/reference: a text was expected"),
        ({"reference": "x = 1"}, "reference: it has no function 'run'"),
        ({"reference": "def norm(hidden_states, weight):\n    return hidden_states * weight\n"}, "it has no function 'run'"),
        (
            {"reference": "def run(x, weight):\n    return x * weight\n"},
            "/inputs/hidden_states: the reference has no parameter for it",
        ),
        (
            {"reference": "def run(weight, hidden_states):\n    return hidden_states * weight\n"},
            "the reference takes weight, hidden_states, and the inputs are hidden_states, weight: one order was expected",
        ),
        ({"inputs": {**NORM_INPUTS, "weight": tensor("hidden_size", dtype="bf16")}}, "the word for 'bf16' is 'bfloat16'"),
        (
            {"outputs": {"output": tensor("batch_size", "hidden_size", dtype="fp16")}},
            "/outputs/output/dtype: the word for 'fp16'",
        ),
        ({"op": "rmsnorm", "formula": []}, "it is the file of an op, which f.read reads, and no definition"),
        ({"reference": "def run(x):\n  return (\n"}, "reference:2: it is not Python"),
        (
            {"reference": "import torch\nimport nothing_of_this_name\ndef run(x): return x"},
            "reference:2: it cannot be run: ModuleNotFoundError",
        ),
        ({"inputs": {}}, "/inputs: there is none"),
        (
            {"inputs": {**NORM_INPUTS, "weight": tensor("hidden_size", dtype="float8_e4m3fn")}},
            "/inputs/weight: an op has no tensor of float8_e4m3fn",
        ),
        ({"inputs": {**NORM_INPUTS, "bias": tensor("hidden_size")}}, "/inputs/bias: the reference has no parameter for it"),
        (
            {"inputs": {"hidden_states": NORM_INPUTS["hidden_states"]}},
            "the reference needs 'weight', which is none of the inputs",
        ),
        (
            {"inputs": {"hidden_states": tensor("batch_size", "batch_size"), "weight": tensor("hidden_size")}},
            "it has 'batch_size' twice",
        ),
        (
            {"outputs": {**RMSNORM["outputs"], "lse": tensor("batch_size")}},
            "the reference returns 1 tensor, and the definition has 2 outputs",
        ),
        (
            {"outputs": {"output": tensor("hidden_size", "batch_size")}},
            "it has the axes hidden_size, batch_size, and the reference returns",
        ),
        (
            {"outputs": {"output": tensor("batch_size", "hidden_size", dtype="int8")}},
            "/outputs/output: an op has no output of int8",
        ),
        ({"axes": {"batch_size": VAR, "hidden_size": const(64)}}, "reference:6: its assertion fails for hidden_size=64"),
        ({"constraints": ["hidden_size == 95"]}, "/constraints: 'hidden_size == 95' does not hold for its constant axes"),
        ({"constraints": ["batch_size == weight[-1].item()"]}, "'batch_size == weight[-1].item()' is on values of a tensor"),
        ({"constraints": ["batch_size in (1, 2)"]}, "'batch_size in (1, 2)' is no condition that an op can say"),
        ({"constraints": ["batch_size =="]}, "'batch_size ==' is no condition"),
        ({"constraints": ["foo == 3"]}, "/constraints: 'foo == 3' has foo, and the axes are batch_size, hidden_size"),
        ({"constraints": ["hidden_size == foo"]}, "'hidden_size == foo' has foo, and the axes are"),
    ],
)
def test_what_is_wrong_or_no_op_has_is_refused_with_its_place(written, changes, why):
    with pytest.raises(assay.InputError, match=re.escape(why)) as caught:
        f.from_definition(written(RMSNORM, **changes))
    assert str(caught.value).startswith("rmsnorm_h96.json: ") and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "body, line, why",
    [
        ("    return hidden_states * torch.topk(hidden_states, 2).values.sum()", 4, "topk: formulas have no word for it"),
        (
            "    if hidden_states.sum() > 0:\n        return hidden_states\n    return weight + hidden_states",
            4,
            "a tensor's value decides",
        ),
        (
            "    rows = [row * weight for row in hidden_states]\n    return torch.stack(rows)",
            4,
            "a fixed number of the extent of 'batch_size'",
        ),
    ],
)
def test_what_no_formula_says_is_refused_with_its_line(written, body, line, why):
    reference = f"import torch\n\ndef run(hidden_states, weight):\n{body}\n"
    with pytest.raises(assay.InputError, match=re.escape(why)) as caught:
        f.from_definition(written(RMSNORM, reference=reference))
    assert str(caught.value).startswith(f"rmsnorm_h96.json: reference:{line}: ")


def test_wrong_arguments_and_files_are_told(written, tmp_path):
    with pytest.raises(assay.InputError, match="it cannot be read"):
        f.from_definition(tmp_path / "missing.json")
    (tmp_path / "wrong.json").write_text("[]")
    with pytest.raises(assay.InputError, match="wrong.json: an object was expected"):
        f.from_definition(tmp_path / "wrong.json")
    (tmp_path / "text.json").write_text("{'name'")
    with pytest.raises(assay.InputError, match="text.json: it is not JSON: "):
        f.from_definition(tmp_path / "text.json")
    with pytest.raises(assay.InputError, match="it is a definition, which f.from_definition reads"):
        f.read(written(RMSNORM))
    with pytest.raises(assay.InputError, match="'tokens' is none of its axes: batch_size, hidden_size"):
        f.from_definition(written(RMSNORM), constants={"tokens": 3})
    for extent in ("x", 0, -3, 2.5, True):
        with pytest.raises(
            assay.InputError, match=f"constants: 'hidden_size' is {extent!r}, and an extent of at least 1, or None"
        ):
            f.from_definition(written(RMSNORM), constants={"hidden_size": extent})
    with pytest.raises(assay.InputError, match="constants is of type int, and a dict was expected"):
        f.from_definition(written(RMSNORM), constants=3)
    with pytest.raises(assay.InputError, match="attributes: 'sm_scale' is '1', and a number was expected"):
        f.from_definition(written(ATTENTION), attributes={"sm_scale": "1"})
    with pytest.raises(assay.InputError, match="has its inputs, and others were given"):
        assay.validate(gemm, reference=written(GEMM), inputs={"A": "m k"})


# --- Solutions ------------------------------------------------------------------------------------------------------------------

MAIN = "from .norm import normed\n\ndef run(hidden_states, weight, output):\n    output.copy_(normed(hidden_states) * weight.float())\n"
NORM = "def normed(x):\n    x = x.float()\n    return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt()\n"
SOLUTION = {
    "name": "norm v1",
    "definition": "rmsnorm_h96",
    "author": "Assay",
    "spec": {"language": "python", "target_hardware": ["cpu"], "entry_point": "main.py::run"},
    "sources": [{"path": "main.py", "content": MAIN}, {"path": "norm.py", "content": NORM}],
}
RETURNING = "def run(hidden_states, weight):\n    x = hidden_states.float()\n    return (x * (x.square().mean(-1, True) + 1e-6).rsqrt() * weight).bfloat16()\n"


def test_a_solution_writes_its_outputs_or_returns_them(written):
    op = f.from_definition(written(RMSNORM))
    writes = f.solution(written(SOLUTION), op)
    assert writes.__name__ == "norm_v1"
    assert assay.validate(op, writes, device="cpu", position_matters=True).passed  # in processes of its own
    spec = {**SOLUTION["spec"], "destination_passing_style": False}
    returns = f.solution(written(SOLUTION, spec=spec, sources=[{"path": "main.py", "content": RETURNING}]), op)
    assert assay.validate(op, returns, **ON_CPU).passed
    wrong = MAIN.replace("output.copy_", "output[1:].copy_").replace("weight.float())", "weight.float())[1:]")
    with pytest.raises(assay.Mismatch):  # what it does not write is NaN
        assay.validate(
            op,
            f.solution(written(SOLUTION, sources=[{"path": "main.py", "content": wrong}, SOLUTION["sources"][1]]), op),
            **ON_CPU,
        )


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"definition": "other"}, "/definition: it solves 'other', and rmsnorm_h96.json has 'rmsnorm_h96'"),
        ({"spec": {**SOLUTION["spec"], "language": "cuda"}}, "/spec/language: a solution in cuda is not taken"),
        (
            {"spec": {**SOLUTION["spec"], "entry_point": "other.py::run"}},
            "/spec/entry_point: FILE.py::FUNCTION of one of main.py",
        ),
        (
            {"sources": [{"path": "../main.py", "content": MAIN}]},
            "/sources/0/path: '../main.py' leads out of the solution's folder",
        ),
        ({"sources": [{"path": "main.py"}]}, "/sources/0: 'content' is missing"),
    ],
)
def test_a_solution_that_is_not_taken_is_told(written, changes, why):
    op = f.from_definition(written(RMSNORM))
    with pytest.raises(assay.InputError, match=re.escape(why)):
        f.solution(written(SOLUTION, **changes), op)


def test_a_solution_of_the_other_style_is_told_the_key(written):
    op = f.from_definition(written(RMSNORM))
    why = "with 'destination_passing_style': false it returns its outputs"
    with pytest.raises(
        assay.InputError, match=f"takes \\(hidden_states, weight\\), and it gets 2 inputs and 1 to write, .*: {why}"
    ):
        assay.validate(op, f.solution(written(SOLUTION, sources=[{"path": "main.py", "content": RETURNING}]), op), **ON_CPU)
    spec = {**SOLUTION["spec"], "destination_passing_style": False}
    with pytest.raises(assay.InputError, match="it gets 2 inputs alone, .*: with true it gets the outputs too, and writes them"):
        assay.validate(op, f.solution(written(SOLUTION, spec=spec), op), **ON_CPU)


def test_a_solution_needs_the_op_of_a_definition(written):
    with pytest.raises(assay.InputError, match="is made of no definition"):
        f.solution(written(SOLUTION), f.from_torch(torch.tanh, inputs={"input": "rows cols"}, name="of_no_definition"))
