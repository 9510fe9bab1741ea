# SPDX-License-Identifier: Apache-2.0
"""Kernels of a shared object, the layer below assay.torch: those of validate/tests/worker/exported_plugin.cpp, on the host."""

import os
from pathlib import Path

import numpy as np
import pytest

import assay
from assay import kernels
from assay.tensors import bits_of

PLUGIN = Path(os.environ["ASSAY_VALIDATE"]).parent.parent / "plugins/exported.so"
AT_HOST = (kernels.HOST, 0)


@pytest.fixture(name="library")
def library_of_tests(monkeypatch):
    monkeypatch.setenv(kernels.VARIABLE, str(PLUGIN))
    return kernels.kernels()


def given(**arrays):
    found = {}
    for name, x in arrays.items():
        dtype, bits = bits_of(name, x)
        found[name] = kernels.Given(dtype, x.shape, tuple(s // x.itemsize for s in x.strides), bits.ctypes.data)
    return found


def launched(call, **arrays):
    workspace = np.empty(call.workspace_bytes, np.uint8)
    call.launch({name: t.address for name, t in given(**arrays).items()}, 0, workspace.ctypes.data)


def linear(library, tokens, hidden, out=4, bias=True, dtype=np.float32):
    rng = np.random.default_rng(tokens)
    x, weight = rng.standard_normal((tokens, hidden)).astype(dtype), rng.standard_normal((out, hidden)).astype(dtype)
    tensors = {"x": x, "weight": weight, "y": np.full((tokens, out), np.nan, dtype)}
    if bias:
        tensors["bias"] = rng.standard_normal(out).astype(dtype)
    name = {np.float32: "f32", np.float16: "f16"}[dtype]
    call = library.choose(assay.describe("linear"), name, given(**tensors), {"bias": bias}, AT_HOST)
    return call, tensors


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(
    "hidden, dtype, kernel", [(8, np.float32, "narrow"), (9, np.float32, "serial"), (8, np.float16, "serial")]
)
def test_the_first_kernel_that_takes_the_case(library, hidden, dtype, kernel, bias):
    call, tensors = linear(library, 5, hidden, bias=bias, dtype=dtype)
    assert (call.name, call.workspace_bytes, call.numerics) == (kernel, 5 * 4 * 4, "accumulate=f32 chain=1")
    launched(call, **tensors)
    y = tensors.pop("y")
    assay.check("linear", y, **tensors)


def test_other_addresses_and_gaps(library):
    call, tensors = linear(library, 5, 9)
    other = {name: x.copy() for name, x in tensors.items()}
    other["x"] *= 2
    launched(call, **other)
    assay.check("linear", other.pop("y"), **other)
    wide = np.zeros((5, 12), np.float32)
    wide[:, :9] = tensors["x"]
    tensors["x"] = wide[:, :9]
    launched(library.choose(assay.describe("linear"), "f32", given(**tensors), {"bias": True}, AT_HOST), **tensors)
    assay.check("linear", tensors.pop("y"), **tensors)


def rope(library, heads=4, kv_heads=2, **attributes):
    rng = np.random.default_rng(0)
    tensors = {"q": rng.standard_normal((2, 3, heads, 6)).astype(np.float32)}
    tensors["k"] = rng.standard_normal((2, 3, kv_heads, 6)).astype(np.float32)
    if "positions" in attributes:
        tensors["positions"] = np.array([[7, 0, 3], [1, 9, 2]], np.int32)
    if "frequencies" in attributes:
        tensors["frequencies"] = np.array([1, 0.25, 0.5, 0.75, 0.75, 0.75], np.float32)
    tensors.update(q_out=np.empty_like(tensors["q"]), k_out=np.empty_like(tensors["k"]))
    call = library.choose(assay.describe("rope"), "f32", given(**tensors), attributes, AT_HOST)
    launched(call, **tensors)
    outputs = tensors.pop("q_out"), tensors.pop("k_out")
    attributes.pop("positions", None)
    attributes.pop("frequencies", None)
    assay.check("rope", outputs, numerics=call.numerics, **tensors, **attributes)


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"layout_of_pairs": "interleaved"},
        {"positions": "explicit"},
        {"frequencies": "given"},
        {"rotary_dim": 4, "offset": 1000.0, "base": 500},
    ],
)
def test_attributes(library, attributes):
    rope(library, **attributes)


def test_what_no_kernel_takes(library):
    with pytest.raises(
        assay.InputError, match="^no kernel of .rope. takes these arguments: heads must be a multiple of kv_heads$"
    ):
        rope(library, 3, 2)
    with pytest.raises(assay.InputError, match="offset must be a whole number"):
        rope(library, offset=0.5)
    with pytest.raises(assay.InputError, match="none takes f16"):
        library.choose(assay.describe("softmax"), "f16", {}, {}, AT_HOST)
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(assay.InputError, match="no kernel of 'silu_mul'"):
        library.choose(assay.describe("silu_mul"), "f32", given(gate=x, up=x, y=x), {}, AT_HOST)


def test_a_kernel_that_fails(library):
    call, tensors = linear(library, 13, 4)
    with pytest.raises(assay.Error, match=r"^the kernel 'linear/narrow' failed: 13 tokens$"):
        launched(call, **tensors)


def test_a_missing_or_wrong_object(monkeypatch, tmp_path):
    monkeypatch.setenv(kernels.VARIABLE, str(tmp_path / "none.so"))
    with pytest.raises(assay.LibraryError, match="there is no shared object"):
        kernels.kernels()
    (tmp_path / "text.so").write_text("no object")
    monkeypatch.setenv(kernels.VARIABLE, str(tmp_path / "text.so"))
    with pytest.raises(assay.LibraryError, match="cannot be loaded"):
        kernels.kernels()
