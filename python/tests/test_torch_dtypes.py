# SPDX-License-Identifier: Apache-2.0
"""References in PyTorch that compute something else in one dtype than in another are refused; their casts alone are not."""

import re

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch.nn.functional as F  # noqa: E402

import assay  # noqa: E402
from assay import formula as f  # noqa: E402

ROWS = {"x": "rows cols"}


def halves_f16(x):
    h = x.float()
    if x.dtype == torch.float16:
        h = h * 0.5
    return h.to(x.dtype)


def epsilon_of_the_dtype(x):
    return x / (x.abs().amax(-1, keepdim=True) + torch.finfo(x.dtype).eps)


def size_of_an_element(x):
    return x * x.dtype.itemsize


def other_axis_in_bf16(x):
    return x.cumsum(-1) if x.dtype == torch.bfloat16 else x.cumsum(0)


def other_way_in_f32(x):
    return torch.relu(x) if x.dtype == torch.float32 else x


def rounds_in_bf16_alone(x):
    y = x.float() if x.dtype == torch.float16 else x
    return (torch.exp(y * 2) + 1).to(x.dtype)


def returns_f32_of_bf16(x):
    y = x * 2
    return y.float() if x.dtype == torch.bfloat16 else y


def more_outputs_in_f16(x):
    return (x + 1, x + 2) if x.dtype == torch.float16 else x + 1


@pytest.mark.parametrize(
    "function, line, why",
    [
        (halves_f16, 3, "in f16 than in bf16: x * 0.5 in place of x; write one reference for each"),
        (epsilon_of_the_dtype, 1, "in f16 than in bf16: max[cols](absolute(...)) + 0.0009765625 in place of max[cols]"),
        (size_of_an_element, 1, "in f32 than in bf16: x * 4 in place of x * 2; "),
        (other_axis_in_bf16, 1, "in f16 than in bf16: a recurrence in place of a recurrence; "),
        (other_way_in_f32, 1, "in f32 than in bf16: maximum(x, 0.0) in place of x; "),
        (rounds_in_bf16_alone, None, "in f16 than in bf16: no roundings in place of stores=mul1,exp1; "),
        (returns_f32_of_bf16, None, "in f16 than in bf16: outputs of the inputs' dtype in place of outputs of f32; "),
        (more_outputs_in_f16, None, "in f16 than in bf16: 2 outputs in place of 1 output; "),
    ],
)
def test_a_reference_that_differs_between_dtypes_is_refused(function, line, why):
    with pytest.raises(assay.InputError, match=re.escape(f"the reference computes something else {why}")) as caught:
        f.from_torch(function, inputs=ROWS)
    if line is not None:
        assert str(caught.value).startswith(f"test_torch_dtypes.py:{function.__code__.co_firstlineno + line}: ")
    assert "\n" not in str(caught.value) and str(caught.value).endswith("like dtypes=['f16']") or "f32 than" in str(caught.value)


def test_a_decision_in_one_dtype_is_refused():
    def decides_in_f16(x):
        return x * 2 if x.dtype == torch.float16 and x.sum() > 0 else x

    with pytest.raises(assay.InputError, match="a tensor's value decides what is computed"):
        f.from_torch(decides_in_f16, inputs=ROWS)


def test_only_the_dtypes_that_are_asked_for_have_to_agree():
    op = f.from_torch(halves_f16, inputs=ROWS, dtypes=["bf16", "f32"])
    assert "0.5" not in op.text and op.dtypes == ("bf16", "f32")
    with pytest.raises(assay.InputError, match="was read in bf16, f32 alone: name f16 in dtypes= where the op is made"):
        assay.validate(op, halves_f16, dtypes=["f16"], device="cpu")
    on_cpu = {"inputs": ROWS, "device": "cpu", "isolation": "none"}
    assert assay.validate(halves_f16, reference=halves_f16, dtypes=["f32"], **on_cpu).passed
    with pytest.raises(assay.InputError, match="computes something else in f16 than in bf16"):
        assay.validate(halves_f16, reference=halves_f16, **on_cpu)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x.float() * 2).to(x.dtype) + x.type_as(x.float()).to(x.dtype),
        lambda x: F.layer_norm(x, (x.shape[-1],)) + x.softmax(-1, dtype=torch.float32).to(x.dtype),
        lambda x: x.cumsum(-1) + x.float().cumsum(0).to(x.dtype) + x.std(-1, keepdim=True),
        lambda x: x + torch.zeros(x.shape, dtype=x.dtype) + torch.ones_like(x) * x.new_full((1,), 2.0),
        lambda x: F.normalize(x, eps=1e-12) + F.gelu(x) + F.hardswish(x) + F.logsigmoid(x),
    ],
)
def test_casts_are_no_difference(function):
    assert f.from_torch(function, inputs=ROWS).dtypes is None


def test_a_definition_is_read_in_its_dtype_or_those_asked_for(tmp_path):
    path = tmp_path / "halved.json"
    tensor = '{"shape": ["M", "N"], "dtype": "bfloat16"}'
    reference = r"import torch\ndef run(x):\n    return x * 0.5 if x.dtype == torch.float16 else x"
    axes = '{"M": {"type": "var"}, "N": {"type": "var"}}'
    path.write_text(
        f'{{"name": "halved", "axes": {axes}, "inputs": {{"x": {tensor}}}, "outputs": {{"y": {tensor}}}, "reference": "{reference}"}}'
    )
    assert f.from_definition(path).dtypes == ("bf16",)
    with pytest.raises(
        assay.InputError, match="halved.json: reference:3: the reference computes something else in f16 than in bf16"
    ):
        f.from_definition(path, dtypes=["bf16", "f16"])
