# SPDX-License-Identifier: Apache-2.0
"""Ops made of references in PyTorch: their answers, right and wrong kernels of them, and what is refused."""

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch.nn.functional as F  # noqa: E402

import assay  # noqa: E402
from assay import formula as f  # noqa: E402

ROWS = {"x": "rows cols"}
TARGET = {"axes": "tokens", "dtype": "i64", "holds": "indices_of(vocab)"}
QKV = dict.fromkeys("qkv", "batch tokens head_dim")
SWIGLU = {"gate": "ffn hidden", "up": "ffn hidden", "down": "hidden ffn"}


def rms_norm(x, gamma, epsilon=1e-5):
    """RMSNorm, whose normalised values are rounded before gamma.

    As in models of the Llama family.
    """
    dtype = x.dtype
    x = x.float()
    x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon)
    return gamma * x.to(dtype)


def layer_norm(x, gamma, beta):
    return F.layer_norm(x, x.shape[-1:], gamma, beta, 1e-5)


def geglu(gate, up):
    return F.gelu(gate, approximate="tanh") * up


def swiglu(x, gate, up, down):
    return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)


def softmax_by_hand(x):
    e = torch.exp(x - x.max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=-1, keepdim=True)


def causal_attention(q, k, v, ahead=0):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    at = torch.arange(q.shape[1])
    scores = scores.masked_fill(at[None, :] > at[:, None] + ahead, -math.inf)
    return torch.softmax(scores, dim=-1) @ v


def loss_of_tokens(logits, target):
    logits = logits.float()
    nll = F.cross_entropy(logits, target, reduction="none")
    return nll, torch.logsumexp(logits, -1)


def rotated(x, cos, sin):
    half = x.shape[-1] // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), -1)
    return x * cos + turned * sin


def swiglu_of_halves(x):
    gate, up = x.chunk(2, dim=-1)
    return F.silu(gate) * up


def grouped_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)


def group_norm(x, gamma, beta):
    return F.group_norm(x, 4, gamma, beta)


def linear_relu(x, weight, bias):
    return F.relu(F.linear(x, weight, bias))


class Norm(torch.nn.Module):
    def __init__(self, width, epsilon=1e-5):
        super().__init__()
        self.inner = torch.nn.LayerNorm(width, eps=epsilon)
        self.scale = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.inner(x) * self.scale


def _norm_kernel(epsilon):
    return lambda x, inner_weight, inner_bias, scale: (F.layer_norm(x, x.shape[-1:], inner_weight, inner_bias, epsilon) * scale)


SEQUENTIAL = dict.fromkeys(("p0_inner_weight", "p0_inner_bias", "p0_scale"), "cols")
NORM_WEIGHTS = dict.fromkeys(("inner_weight", "inner_bias", "scale"), "cols")

# The reference, its tensors, and a kernel with one fault.  A right kernel is the reference itself, in f32.
CASES = {
    "rms_norm": (rms_norm, ROWS, {"gamma": "cols"}, lambda x, gamma: rms_norm(x, gamma, 1e-3)),
    "layer_norm": (
        layer_norm,
        ROWS,
        {"gamma": "cols", "beta": "cols"},
        lambda x, gamma, beta: (x - x.mean(-1, True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt() * gamma + beta,
    ),
    "geglu": (geglu, {"gate": "tokens ffn", "up": "tokens ffn"}, {}, lambda gate, up: F.gelu(gate) * up),
    "swiglu": (
        swiglu,
        {"x": "batch tokens hidden"},
        SWIGLU,
        lambda x, gate, up, down: F.linear(F.silu(F.linear(x, up)) * F.linear(x, gate), down),
    ),
    "softmax_by_hand": (softmax_by_hand, ROWS, {}, lambda x: torch.softmax(x, 0)),
    "causal_attention": (causal_attention, QKV, {}, lambda q, k, v: causal_attention(q, k, v, 1)),
    "loss_of_tokens": (
        loss_of_tokens,
        {"logits": "tokens vocab", "target": TARGET},
        {},
        lambda logits, target: (loss_of_tokens(logits, target)[0], torch.log_softmax(logits, -1).amax(-1)),
    ),
    "rotated": (
        rotated,
        {"x": "tokens head_dim", "cos": "tokens head_dim", "sin": "tokens head_dim"},
        {},
        lambda x, cos, sin: rotated(x, cos, -sin),
    ),
    "swiglu_of_halves": (
        swiglu_of_halves,
        {"x": "tokens ffn"},
        {},
        lambda x: F.silu(x.chunk(2, dim=-1)[1]) * x.chunk(2, dim=-1)[0],
    ),
    "grouped_attention": (
        grouped_attention,
        {"q": "heads seq_q head_dim", "k": "kv_heads seq_k head_dim", "v": "kv_heads seq_k head_dim"},
        {},
        lambda q, k, v: F.scaled_dot_product_attention(q, k.repeat(len(q) // len(k), 1, 1), v.repeat(len(q) // len(k), 1, 1)),
    ),
    "group_norm": (
        group_norm,
        {"x": "rows hidden"},
        {"gamma": "hidden", "beta": "hidden"},
        lambda x, gamma, beta: F.group_norm(x, 2, gamma, beta),
    ),
    "linear_relu": (
        linear_relu,
        {"x": "rows hidden"},
        {"weight": "out hidden", "bias": "out"},
        lambda x, weight, bias: F.relu(F.linear(x, weight)),
    ),
    "norm": (Norm(7), ROWS, NORM_WEIGHTS, _norm_kernel(1e-4)),
}


def judged(op, kernel):
    """The run of a kernel on tensors of torch in f32."""

    def on_f32(**arguments):
        with torch.no_grad():
            return kernel(**arguments)

    return assay.validate(op, on_f32, dtypes=["f32"], isolation="none", device="cpu", position_matters=True, finite_inputs=True)


@pytest.fixture(scope="module")
def ops():
    return {name: f.from_torch(r, inputs=i, weights=w, name=name) for name, (r, i, w, _) in CASES.items()}


@pytest.mark.parametrize("name", CASES)
def test_its_answers_are_the_references(ops, name):
    reference, inputs, weights, _ = CASES[name]
    sizes = {"rows": 5, "cols": 7, "batch": 2, "tokens": 4, "head_dim": 6, "hidden": 8, "ffn": 10, "out": 9, "vocab": 11}
    sizes |= {"heads": 6, "kv_heads": 3, "seq_q": 4, "seq_k": 5}
    rng = np.random.default_rng(2)
    given = {}
    for key, axes in {**inputs, **weights}.items():
        shape = [sizes[axis] for axis in (axes if isinstance(axes, str) else axes["axes"]).split()]
        given[key] = rng.standard_normal(shape).astype(np.float32) if axes is not TARGET else rng.integers(0, 11, shape)
    answers = assay.golden(ops[name], f64=True, **given)
    tensors = {key: torch.from_numpy(x) for key, x in given.items()}
    tensors = {key: t.double() if t.is_floating_point() else t for key, t in tensors.items()}
    if name == "norm":
        expected = _norm_kernel(1e-5)(**tensors)
    elif name == "rms_norm":  # Note: its .float() would round
        x, gamma = tensors.values()
        expected = x / (x.square().mean(-1, True) + 1e-5).sqrt() * gamma
    elif name == "loss_of_tokens":
        logits, target = tensors.values()
        expected = (-torch.log_softmax(logits, -1)[torch.arange(4), target], torch.logsumexp(logits, -1))
    else:
        expected = reference(**tensors)
    for y, right in zip(*((a if isinstance(a, tuple) else (a,)) for a in (answers, expected))):
        assert np.allclose(y, right.numpy(), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", CASES)
def test_a_right_kernel_passes_and_a_wrong_one_fails(ops, name):
    reference, _, _, wrong = CASES[name]
    right = _norm_kernel(1e-5) if name == "norm" else reference
    try:
        verdicts = judged(ops[name], right).verdicts
    except assay.Incomplete as e:  # since it declares finite inputs
        verdicts = e.result.verdicts
    assert verdicts["passed"] > 10 and not verdicts.get("failed")
    with pytest.raises(assay.Mismatch):
        judged(ops[name], wrong)


def test_the_formula_is_that_of_the_reference(ops):
    text = ops["rms_norm"].text
    assert '"y = gamma * step[cast1]((x * rsqrt((mean[cols](square(x)) + 1e-05))))"' in text
    assert '"about": "RMSNorm, whose normalised values are rounded before gamma."' in text
    assert ops["rms_norm"].numerics == "stores=cast1" and ops["softmax_by_hand"].numerics == "stores=max1,sub1,exp1,sum1"


def test_a_kernel_may_round_where_the_reference_does_and_nowhere_else(ops):
    rng = np.random.default_rng(3)
    x, gamma = (torch.from_numpy(rng.standard_normal(shape)).bfloat16() for shape in ((9, 130), (130,)))
    y = rms_norm(x, gamma)
    assert assay.check(ops["rms_norm"], y, x=x, gamma=gamma).passed
    with pytest.raises(assay.Mismatch):
        assay.check(ops["rms_norm"], y, x=x, gamma=gamma, numerics="accumulate=f32")
    with pytest.raises(assay.Mismatch):
        squares = x.square().float()  # rounded to bf16
        assay.check(ops["rms_norm"], gamma * (x * torch.rsqrt(squares.mean(-1, True) + 1e-5).bfloat16()), x=x, gamma=gamma)


def test_a_kernel_is_judged_against_a_function():
    right = lambda x, gamma: rms_norm(x, gamma)  # noqa: E731
    wrong = lambda x, gamma: rms_norm(x, gamma, 0.0)  # noqa: E731
    how = {"inputs": ROWS, "weights": {"gamma": "cols"}, "dtypes": ["f32"], "isolation": "none", "device": "cpu"}
    how["position_matters"] = True
    run = assay.validate(right, reference=rms_norm, **how)
    assert run.passed and run.verdicts["passed"] > 10
    with pytest.raises(assay.Mismatch):
        assay.validate(wrong, reference=rms_norm, **how)
    with pytest.raises(assay.InputError, match="the kernel is the first argument"):
        assay.validate("softmax", right, reference=rms_norm, **how)
    with pytest.raises(assay.InputError, match="inputs is that of a reference"):
        assay.validate("softmax", right, inputs=ROWS)
    with pytest.raises(assay.InputError, match="an op and a kernel were expected"):
        assay.validate(right)


def test_an_attribute_may_differ_between_cases():
    op = f.from_torch(rms_norm, inputs=ROWS, weights={"gamma": "cols"}, attributes={"epsilon": 1e-6}, name="norm_of_epsilon")
    x, gamma = torch.ones(2, 3), torch.ones(3)
    assert np.allclose(assay.golden(op, x=x, gamma=gamma, epsilon=3.0), 0.5)
    assert np.allclose(assay.golden(op, x=x, gamma=gamma), 1.0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.relu(x) + F.relu6(x) + F.leaky_relu(x, 0.1) + F.elu(x) + F.selu(x) + F.hardtanh(x) + F.hardswish(x),
        lambda x: F.softplus(x, beta=2.0, threshold=3.0) + F.mish(x) + F.logsigmoid(x) + F.silu(x) + F.gelu(x) + F.softsign(x),
        lambda x: x**3 + (x.abs() + 1) ** -0.5 + (x.abs() + 1) ** 0.5 + x**-2 + 2.0**x + x.exp2() + x.expm1() + x.sign(),
        lambda x: torch.log1p(x.abs()) + torch.log1p(torch.exp(x)) + torch.log2(x.abs()) + x.erf() - torch.rsqrt(x.square()),
        lambda x: torch.where((x > 0) & (x < 1) | ~(x >= -1), x.clamp(-2, 0.5), torch.maximum(x, x.square()) / 3),
        lambda x: x.sum() + x.mean(0) + x.amin(1, keepdim=True) - x.min() + x.max(0).values,
        lambda x: x.std(1, unbiased=False, keepdim=True) + x.norm(dim=0) + F.normalize(x) + x.logsumexp((0, 1)),
        lambda x: x.softmax(0) + x.log_softmax(1) + torch.zeros(x.shape[1]) + torch.ones_like(x) * x.shape[0] ** -0.5,
        lambda x: (x @ x.T) @ x + torch.einsum("rc,rd,sd->sc", x, x, x) + x.T.matmul(x.sum(1)),
        lambda x: x.unsqueeze(1).expand(-1, x.shape[0], -1).sum(0) + x.reshape(-1).view(x.shape[0], -1) + x[:, None].squeeze(1),
        lambda x: torch.tril(torch.ones(x.shape[0], x.shape[0])) @ x + x * torch.arange(x.shape[1]),
        lambda x: x[(torch.arange(x.shape[0]) + 1) % x.shape[0]] + x.flip(1) + x[torch.arange(x.shape[0]).flip(0)],
        lambda x: x.cumsum(1) + x[:1] + x[-1] + x[:, 0:1] + x.cumprod(0) + x.select(1, 0)[:, None],
        lambda x: torch.cat([x[1:], x[:1] * 2], 0) + torch.cat((x[:, : x.shape[1] // 2], -x[:, x.shape[1] // 2 :]), 1),
        lambda x: x.view(x.shape[0], 2, -1).flip(1).flatten(1) + x.view(x.shape[0], -1, 2).sum(2).repeat_interleave(2, dim=1),
        lambda x: x.gather(1, (torch.arange(x.shape[0])[:, None] // 2).clamp(max=0).expand(-1, x.shape[1])) + x * 0,
        lambda x: torch.sin(x) + torch.cos(x * 3) + F.pad(x, (1, 0))[:, :-1] + torch.roll(x, 1, 0) + F.pad(x, (0, 0, 0, 1))[1:],
        lambda x: torch.stack((x, -x), -1).flatten(1)[:, : x.shape[1]]
        + torch.stack((x, x * 2), 1).sum(1)
        + x.unsqueeze(0).unbind(0)[0],
        lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True)[0],
        lambda x: F.rms_norm(x, (x.shape[-1],), eps=1e-6) + F.layer_norm(x, (x.shape[-1],)),
    ],
)
def test_words_of_torch(function):
    x = np.random.default_rng(6).standard_normal((4, 6)).astype(np.float32)
    y = assay.golden(f.from_torch(function, inputs=ROWS), f64=True, x=x)
    torch.set_default_dtype(torch.float64)
    try:
        expected = function(torch.from_numpy(x).double())
    finally:
        torch.set_default_dtype(torch.float32)
    assert np.allclose(y, expected.numpy(), rtol=1e-9, atol=1e-12)


def test_dimensions_of_one_stand_where_they_are():
    op = f.from_torch(lambda x, m: x * m + 1, inputs={"x": "batch 1 cols", "m": "batch rows 1"})
    x, m = (np.random.default_rng(7).standard_normal(shape).astype(np.float32) for shape in ((2, 1, 3), (2, 4, 1)))
    assert np.array_equal(assay.golden(op, f64=True, x=x, m=m), x.astype(np.float64) * m + 1)


def test_an_op_that_is_not_the_reference_is_refused(monkeypatch):
    from assay import torch_rules

    monkeypatch.setitem(torch_rules.RULES, "tanh", torch_rules.RULES["erf"])
    before = os.environ.get(f.VARIABLE)
    with pytest.raises(
        assay.InputError, match="the output 'y' of the op that was read from the reference is not the reference's"
    ):
        f.from_torch(torch.tanh, inputs=ROWS)
    assert os.environ.get(f.VARIABLE) == before  # so that later calls do not meet it


def test_an_op_that_admits_zeros_is_told():
    def cancels(x):
        return (x * 1e10 + 1) - x * 1e10

    with pytest.warns(UserWarning, match="an output of zeros would pass"):
        f.from_torch(cancels, inputs=ROWS)


def test_a_size_for_which_a_variance_is_undefined_is_left_out():
    op = f.from_torch(lambda x: x.var(1), inputs=ROWS, axes={"cols": 2})
    assert '"extent[cols] >= 2"' in op.text


def test_the_example_of_the_page():
    tree = Path(__file__).resolve().parents[2]
    page = (tree / "docs/own-op.md").read_text(encoding="utf-8")
    example = tree / "examples/own_op/llama_norm.py"
    shown = re.findall(r"```python examples/own_op/llama_norm.py\n(.*?)```", page, re.S)
    assert len(shown) == 2 and all(code in example.read_text(encoding="utf-8") for code in shown)
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, check=False, cwd=tree)
    assert done.returncode == 0 and " 0 failed" in done.stdout, done.stdout + done.stderr


# --- What is refused, each with its line ----------------------------------------------------------------------------------------


def dropout(x):
    return F.dropout(x, 0.5)


def parts_an_axis(x):
    return x.view(x.shape[0], 11, -1).sum(1)


def top_two(x):
    return torch.topk(x, 2).values


def branches_on_a_value(x):
    if x.sum().item() > 0:
        return x
    return -x


def value_as_number(x):
    return x * x.max().item()


def writes_into_its_input(x):
    x.mul_(2)
    return x + 1


def freezes_a_size(x):
    return x / int(x.shape[-1])


def branches_on_a_size(x):
    return x * 2 if x.shape[-1] > 4 else x


def pools(x):
    return F.max_pool1d(x[None], 2)


def product(x):
    return x.prod(1)


def narrow_format(x):
    return x.to(torch.float8_e4m3fn).to(x.dtype)


def gram(x):
    return x @ x.T


def whole_numbers(x):
    return x.argmax(1)


def merged(x):
    return x.reshape(-1)


def loops(x):
    y = x[0]
    for i in range(x.shape[0]):
        y = y + x[i]
    return y


def calls_numpy(x):
    return torch.from_numpy(np.sqrt(x))


def gives_numpy_a_size(x):
    return x / np.sqrt(x.shape[-1])


def keeps_a_tensor(x):
    return x[:, :2] * torch.tensor([1.0, 2.0])


def no_tensor(x):
    return None


def dict_of_tensors(x):
    return {"y": x}


def of_unknown_word(x):
    return torch.fft.rfft(x).real


@pytest.mark.parametrize(
    "function, line, why",
    [
        (dropout, 1, "dropout in training is random"),
        (parts_an_axis, 1, "it cannot be traced: RuntimeError: shape '[rows, 11, -1]' is invalid for input of size "),
        (top_two, 1, "topk: formulas have no word for it"),
        (branches_on_a_value, 1, "a tensor's value decides what is computed: write torch.where in place of if"),
        (value_as_number, 1, "a tensor's value becomes a Python number: keep it a tensor"),
        (writes_into_its_input, 1, "the reference writes into 'x': clone it first"),
        (freezes_a_size, 1, "the reference makes a fixed number of the extent of 'cols'"),
        (branches_on_a_size, 1, "a size decides what is computed, and an op is the same for all sizes: keep one way, and name"),
        (calls_numpy, 1, "the reference calls NumPy, which cannot be traced: use functions of torch"),
        (gives_numpy_a_size, 1, "NumPy takes no size that stands for any extent: use math, like math.sqrt"),
        (keeps_a_tensor, 1, "a tensor of shape [2] that is no input: give it as one"),
        (no_tensor, None, "the reference returns None, and a tensor or a tuple of tensors was expected"),
        (dict_of_tensors, None, "the reference returns a dict, and a tensor"),
        (of_unknown_word, 1, "fft_r2c: formulas have no word for it"),
        (pools, 1, "max_pool1d: torch makes a fixed number of the extent of 'cols'"),
        (product, 1, "prod: formulas have no word for it"),
        (narrow_format, 1, "a cast to float8_e4m3fn rounds by more"),
        (whole_numbers, 1, "argmax: formulas have no word for it"),
        (loops, 2, "the reference makes a fixed number of the extent of 'rows'"),
        (gram, None, "an output has the axis 'rows' twice"),
        (merged, None, "an output has a dimension of several axes"),
    ],
)
def test_what_no_formula_says_is_refused_with_its_line(function, line, why):
    with pytest.raises(assay.InputError, match=re.escape(why)) as caught:
        f.from_torch(function, inputs=ROWS)
    if line is not None:
        assert str(caught.value).startswith(f"test_torch_reference.py:{function.__code__.co_firstlineno + line}: ")
    assert "\n" not in str(caught.value) and type(caught.value) is assay.InputError


@pytest.mark.parametrize(
    "arguments, why",
    [
        ({"inputs": {"x": "rows rows"}}, "'x' has the axis 'rows' twice"),
        ({"inputs": {"x": "rows cols/128"}}, "'cols/128' is no axis of which a reference can be traced"),
        ({"inputs": {"z": "rows cols"}}, "and z were given"),
        ({"inputs": ROWS, "outputs": ["a", "b"]}, "returns 1 tensor, and outputs= has 2: a, b"),
        ({"inputs": {"x": {"axes": "rows cols", "dtype": "i32"}}}, "say what it holds"),
        ({"inputs": {"x": {"axes": "rows cols", "dtype": "fp8"}}}, "the dtype 'fp8' is none of"),
    ],
)
def test_wrong_arguments_are_told(arguments, why):
    with pytest.raises(assay.InputError, match=re.escape(why)):
        f.from_torch(lambda x: x * 2.0, **arguments)


def test_a_modules_parameters_need_axes():
    with pytest.raises(assay.InputError, match="the parameter 'inner.bias' of the module has no axes"):
        f.from_torch(Norm(7), inputs=ROWS, weights={"inner_weight": "cols", "scale": "cols"})
    op = f.from_torch(torch.nn.Sequential(Norm(3), torch.nn.ReLU()), inputs={"input": "rows cols"}, weights=SEQUENTIAL)
    assert '"p0_inner_weight": "cols"' in op.text
    with pytest.raises(assay.InputError, match="the module has no parameter 'gamma'"):
        f.from_torch(Norm(7), inputs=ROWS, weights={"gamma": "cols"})


class Shifted(torch.nn.Module):
    def __init__(self, is_buffer):
        super().__init__()
        if is_buffer:
            self.register_buffer("shift", torch.ones(7))
        else:
            self.shift = torch.ones(7)

    def forward(self, x):
        return x + self.shift


def test_tensors_that_a_module_keeps_need_axes():
    with pytest.raises(assay.InputError, match="the extents of the buffer 'shift' are fixed: give it axes in weights="):
        f.from_torch(Shifted(True), inputs=ROWS)
    assert '"shift": "cols"' in f.from_torch(Shifted(True), inputs=ROWS, weights={"shift": "cols"}).text
    with pytest.raises(
        assay.InputError, match="the extents of the tensor 'shift' are fixed: make it a buffer by register_buffer"
    ):
        f.from_torch(Shifted(False), inputs=ROWS)


def test_without_torch_it_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "assay.torch_reference", None)
    monkeypatch.delattr(assay, "torch_reference", raising=False)
    with pytest.raises(assay.InputError, match="a reference in PyTorch needs the package torch"):
        f.from_torch(rms_norm, inputs=ROWS)
