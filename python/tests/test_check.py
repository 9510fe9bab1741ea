# SPDX-License-Identifier: Apache-2.0
"""check, golden and describe: tensors at hand."""

import os
import sys
import types

import numpy as np
import pytest

import assay
from assay import library
from assay.tensors import MemoryFile, read_bits


def test_right_outputs_pass_in_every_dtype(x):
    for dtype in (np.float16, np.float32):
        y = assay.golden("softmax", x=x.astype(dtype))
        assert y.dtype == dtype and y.shape == x.shape
        assert assay.check("softmax", y, x=x.astype(dtype)).margin <= 1
    ml_dtypes = pytest.importorskip("ml_dtypes")
    y = assay.golden("softmax", x=x.astype(ml_dtypes.bfloat16))
    assert y.dtype == ml_dtypes.bfloat16
    assert assay.check("softmax", y, x=x.astype(ml_dtypes.bfloat16)).passed


def test_wrong_outputs_are_told_with_their_place(x):
    y = assay.golden("softmax", x=x)
    y[7, 3] *= 1.001
    with pytest.raises(assay.Mismatch) as caught:
        assay.check("softmax", y, x=x)
    assert "y[row 7, col 3]" in str(caught.value) and "1 of 2,145 wrong" in str(caught.value)
    assert caught.value.result.record["worst"]["index"] == [7, 3]
    assert isinstance(caught.value, AssertionError)


def test_f64_is_not_rounded(x):
    wide = assay.golden("softmax", x=x, f64=True)
    assert wide.dtype == np.float64 and np.any(wide != wide.astype(np.float32))
    assert abs(wide.sum(axis=1) - 1).max() < 1e-14


def test_numerics_decide(x):
    rounded = assay.golden("softmax", x=x).astype(np.float16).astype(np.float32)
    with pytest.raises(assay.Mismatch):
        assay.check("softmax", rounded, x=x)
    assert assay.check("softmax", rounded, x=x, numerics="accumulate=f16 chain=1").passed
    assert assay.check("softmax", assay.golden("softmax", x=x), x=x, suggest=True).suggested == "accumulate=f32 chain=1"


def test_any_strides(x):
    wide = np.zeros((66, 130), np.float32)
    view = wide[::2, ::-2]
    view[...] = x
    y = assay.golden("softmax", x=view)
    assert np.array_equal(y, assay.golden("softmax", x=x))
    assert assay.check("softmax", np.asfortranarray(y), x=np.asfortranarray(x)).passed
    one_row = np.broadcast_to(x[:1], x.shape)  # of strides 0, read-only
    assert np.array_equal(assay.golden("softmax", x=one_row), np.broadcast_to(y[:1], x.shape))


def test_several_outputs_and_attributes(x):
    rng = np.random.default_rng(1)
    q, k, v = (rng.standard_normal((2, 5, 4, 8)).astype(np.float16) for _ in range(3))
    o, lse = assay.golden("attention_forward", q=q, k=k, v=v, mask="causal", softcap=30)
    assert lse.dtype == np.float32 and lse.shape == (2, 4, 5)
    numerics = "accumulate=f32 chain=1 rescales=1"
    whole = assay.check("attention_forward", (o, lse), numerics=numerics, q=q, k=k, v=v, mask="causal", softcap=30.0)
    assert "output lse" not in whole.record["not_checked"]
    for part in (o, (o,), (o, None), {"o": o}):
        result = assay.check("attention_forward", part, q=q, k=k, v=v, mask="causal", softcap=np.float32(30))
        assert "output lse" in result.record["not_checked"]
    with pytest.raises(assay.Mismatch):
        assay.check("attention_forward", (o, lse), q=q, k=k, v=v)


def test_a_tensor_and_an_attribute_of_one_name(x):
    weight = x[:9].copy()
    bias = np.arange(9, dtype=np.float32)
    without, with_it = assay.golden("linear", x=x, weight=weight), assay.golden("linear", x=x, weight=weight, bias=bias)
    assert np.allclose(without + bias, with_it, rtol=1e-6)
    assert np.array_equal(without, assay.golden("linear", x=x, weight=weight, bias=None))
    assert np.array_equal(without, assay.golden("linear", x=x, weight=weight, bias=False))
    with pytest.raises(assay.InputError, match="the tensor 'bias' .* is missing"):
        assay.golden("linear", x=x, weight=weight, bias=True)


def test_dlpack(x):
    class Elsewhere:
        """A tensor of a library that is neither NumPy nor torch."""

        def __init__(self, device):
            self.device = device

        def __dlpack_device__(self):
            return self.device, 0

        def __dlpack__(self, **_):
            if self.device != 1:
                raise BufferError("no copy to the host")
            return x.__dlpack__()

    assert np.array_equal(assay.golden("softmax", x=Elsewhere(1)), assay.golden("softmax", x=x))
    with pytest.raises(assay.InputError, match="'x', of type Elsewhere, cannot be brought to the host"):
        assay.golden("softmax", x=Elsewhere(2))


def test_the_contract():
    op = assay.describe("kv_append")
    assert [t.name for t in op.outputs] == ["k_pool", "v_pool"] and [t.role for t in op.outputs] == ["updated", "updated"]
    assert "k_pool" in [t.name for t in op.inputs] and op.tensor("lengths").dtype == "i32"
    rope = assay.describe("rope")
    assert rope.attribute("in_place").default is False and rope.attribute("base").default == 10000
    assert rope.tensor("positions").only_with == "positions"
    assert assay.describe("layernorm").attribute("epsilon").default == 1e-5


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: assay.check("softmx", x, x=x), "unknown op 'softmx'. Did you mean 'softmax'?"),
        (lambda x: assay.check("softmax", x, X=x), "softmax has no argument 'X'"),
        (lambda x: assay.check("softmax", {"z": x}, x=x), "softmax has no output 'z'"),
        (lambda x: assay.check("softmax", (x, x), x=x), "2 outputs were given, and softmax has y"),
        (lambda x: assay.check("softmax", x), "the tensor 'x' [rows, cols] of softmax is missing"),
        (lambda x: assay.check("softmax", [], x=x), "the tensor 'y' [rows, cols] of softmax is missing"),
        (lambda x: assay.check("softmax", x[:4], x=x), "'y' has the shape [4, 65], and [rows, cols] [33, 65] was expected"),
        (lambda x: assay.check("softmax", x[0], x=x[0]), "'x' has the shape [65], and [rows, cols] was expected"),
        (
            lambda x: assay.check("softmax", x, x=x.astype(np.float64)),
            "'x' has the dtype f64, and f16, bf16 or f32 was expected",
        ),
        (
            lambda x: assay.check("softmax", x.astype(np.float16), x=x),
            "'y' has the dtype f16, and f32 as of the inputs was expected",
        ),
        (lambda x: assay.check("softmax", x, x=x.astype(np.complex64)), "'x' has the dtype complex64, and one of float16"),
        (lambda x: assay.check("softmax", x, x=x.astype(">f4")), "'x' has the dtype >f4, and one of float16"),
        (lambda x: assay.check("softmax", x, x=x.tolist()), "'x' is of type list, and an array was expected"),
        (lambda x: assay.check("softmax", 1.0, x=x), "'y' is of type float, and an array was expected"),
        (lambda x: assay.check("gelu", x, x=x, form="erff"), "unknown form 'erff'. Did you mean 'erf'?"),
        (lambda x: assay.check("gelu", x, x=x, form=True), "'form' is of type bool, and one of tanh, erf was expected"),
        (lambda x: assay.check("linear", x, x=x, weight=x, bias=3), "'bias' is of type int, and an array was expected"),
        (lambda x: assay.check("softmax", x, x=x, numerics="acumulate=f32"), "unknown word of numerics 'acumulate'"),
        (lambda x: assay.describe("nothing"), "unknown op 'nothing'"),
    ],
)
def test_bad_input(x, call, message):
    with pytest.raises(assay.InputError) as caught:
        call(x)
    assert message in str(caught.value) and "\n" not in str(caught.value) and "/proc/" not in str(caught.value)


def test_nothing_to_compare():
    empty = np.zeros((0, 5), np.float32)
    assert assay.golden("softmax", x=empty).shape == (0, 5)


def test_a_missing_program(monkeypatch, tmp_path):
    monkeypatch.setenv(library.VARIABLE, str(tmp_path / "none"))
    with pytest.raises(assay.LibraryError, match="none' cannot be started: No such file"):
        library.program()
    monkeypatch.delenv(library.VARIABLE)
    monkeypatch.setenv("PATH", str(tmp_path))
    if not (tmp_path / "validate").exists() and not library.__file__.startswith(sys.prefix):
        with pytest.raises(assay.LibraryError, match="neither in this package nor on PATH"):
            library.program()


@pytest.mark.parametrize(
    "said, message",
    [
        ("echo 9.9.9 abc", "has the version 9.9.9, and this package needs"),
        ("exit 5", "does not tell its version"),
        ("kill -9 $$", "does not tell its version"),
    ],
)
def test_another_program(monkeypatch, tmp_path, said, message):
    other = tmp_path / "validate"
    other.write_text(f"#!/bin/sh\n{said}\n")
    other.chmod(0o755)
    monkeypatch.setenv(library.VARIABLE, str(other))
    with pytest.raises(assay.LibraryError, match=message):
        library.program()


def test_a_program_that_dies(monkeypatch, tmp_path, x):
    other = tmp_path / "validate"
    other.write_text(f"#!/bin/sh\n[ $1 = --version ] && echo {assay.__version__} && exit\nkill -11 $$\n")
    other.chmod(0o755)
    monkeypatch.setenv(library.VARIABLE, str(other))
    library._described.cache_clear()
    with pytest.raises(assay.LibraryError, match="ended with the code -11"):
        assay.check("softmax", x, x=x)


def test_every_exception_is_documented():
    kinds = [e for e in vars(assay).values() if isinstance(e, type) and issubclass(e, Exception)]
    assert len(kinds) == 7 and all(issubclass(e, assay.Error) and e.__doc__ for e in kinds)
    public = [getattr(assay, name) for name in assay.__all__ if name != "__version__"]
    assert all(isinstance(f, (type, types.FunctionType)) or callable(f) for f in public) and all(f.__doc__ for f in public)


def test_memory_files_are_used_again(x):
    def content(file):
        return read_bits(f"/proc/self/fd/{file.fd}")[0]["x"][1].copy()

    large = MemoryFile({"x": ("f32", x)}, {})
    fd = large.fd
    large.close()
    small, other = MemoryFile({"x": ("f32", x[:2, ::2])}, {}), MemoryFile({"x": ("f32", x)}, {})
    assert small.fd == fd != other.fd and os.fstat(fd).st_size < os.fstat(other.fd).st_size
    assert (content(small) == x[:2, ::2]).all() and (content(other) == x).all()
    small.close()
    child = os.fork()
    if child == 0:  # has the same file, which is not its own
        MemoryFile({"x": ("f32", x + 1)}, {})
        os._exit(0)
    os.waitpid(child, 0)
    assert (content(small) == x[:2, ::2]).all()
    large = MemoryFile({"x": ("f32", np.zeros(40 << 20, np.float32))}, {})
    large.close()
    with pytest.raises(OSError):
        os.fstat(large.fd)  # too large to be kept
