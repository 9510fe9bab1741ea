# SPDX-License-Identifier: Apache-2.0
"""Kernels that are judged against references in PyTorch: what they get, and what is declared of them."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch.nn.functional as F  # noqa: E402

import assay  # noqa: E402

ROWS = {"x": "rows cols"}
QKV = {"q": "batch heads seq_q head_dim", "k": "batch heads seq_k head_dim", "v": "batch heads seq_k head_dim"}


def silu(x):
    return F.silu(x)


def linear(x, w):
    return x @ w.T


def attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def silu_with_another_end(x):
    y = x * torch.sigmoid(x)
    y[:, -1:] = F.silu(x[:, -1:].double())
    return y


ON_CPU = {"device": "cpu", "isolation": "none", "dtypes": ["f32"], "flags": ["--all-relations"]}


@pytest.mark.parametrize(
    "function, inputs",
    [(silu, ROWS), (linear, {"x": "rows hidden", "w": "out hidden"}), (attention, QKV)],
    ids=["silu", "linear", "attention"],
)
def test_functions_of_pytorch_pass_against_themselves_on_a_cpu(function, inputs):
    run = assay.validate(function, reference=function, inputs=inputs, **ON_CPU)
    assert run.passed and run.verdicts["passed"] > 20


def test_position_matters_on_a_cpu_unless_it_is_declared_that_it_does_not():
    assert assay.validate(silu_with_another_end, reference=silu, inputs=ROWS, **ON_CPU).passed
    with pytest.raises(assay.Mismatch, match="must have the bits of"):
        assay.validate(silu_with_another_end, reference=silu, inputs=ROWS, position_matters=False, **ON_CPU)


@pytest.mark.parametrize(
    "kernel, why",
    [
        (lambda x: x * torch.sigmoid(x), "must be Tensor, not numpy.ndarray"),
        (lambda x: x.float(), "'numpy.ndarray' object has no attribute 'float'"),
        (lambda x: x.mean(-1, keepdim=True), "unexpected keyword argument 'keepdim'"),
    ],
    ids=["function", "method", "argument"],
)
def test_a_kernel_of_tensors_that_gets_arrays_is_told_of_device(kernel, why):
    told = f"{why}.*; kernels get arrays of NumPy unless device= is given, like device='cpu' for tensors of torch"
    with pytest.raises(assay.Mismatch, match=told):
        assay.validate(kernel, reference=silu, inputs=ROWS, isolation="none", dtypes=["f32"])


def test_another_error_of_a_kernel_of_tensors_is_not_told_of_device():
    with pytest.raises(assay.Mismatch) as caught:
        assay.validate(lambda x: x.no_such_word(), reference=silu, inputs=ROWS, isolation="none", dtypes=["f32"], device="cpu")
    assert "AttributeError" in str(caught.value) and "arrays of NumPy" not in str(caught.value)
