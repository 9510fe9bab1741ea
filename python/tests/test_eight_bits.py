# SPDX-License-Identifier: Apache-2.0
"""Tensors of 8 bits: their values are those of ml_dtypes, and kernels that read or write them are judged."""

from pathlib import Path

import numpy as np
import pytest

import assay
from assay import formula as f

ml_dtypes = pytest.importorskip("ml_dtypes", minversion="0.5")

FORMATS = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "e8m0": ml_dtypes.float8_e8m0fnu}
LARGEST = {"e4m3": 448.0, "e5m2": 57344.0}


def own_op(name, inputs, outputs, formula):
    """An op under a name of its own, by a function of its inputs."""
    formula.__name__ = name
    return f.op(inputs=inputs, outputs=outputs)(formula)


@pytest.mark.parametrize("dtype", FORMATS)
def test_each_code_has_the_value_of_ml_dtypes(dtype):
    op = own_op(f"copied_{dtype}", {"x": {"axes": "n", "dtype": dtype}}, {"y": "n"}, lambda x: x)
    codes = np.arange(256, dtype=np.uint8).view(FORMATS[dtype])
    golden = assay.golden(op, x=codes)
    np.testing.assert_array_equal(golden, codes.astype(np.float64))


@pytest.mark.parametrize("dtype", LARGEST)
def test_a_rounding_is_that_of_ml_dtypes_and_saturates(dtype):
    op = own_op(f"cast_{dtype}", {"x": "n"}, {"y": "n"}, lambda x: f.rounded_to(dtype, x))
    bits = np.random.default_rng(1).integers(0, 2**32, 2**18, dtype=np.uint32)
    x = bits.view(np.float32)
    x = np.concatenate([x[np.isfinite(x)], np.linspace(-500, 500, 2**16, dtype=np.float32)])
    golden = assay.golden(op, x=x)
    expected = np.clip(x, -LARGEST[dtype], LARGEST[dtype]).astype(FORMATS[dtype]).astype(np.float64)
    np.testing.assert_array_equal(golden, expected)


# A matrix product of e4m3 with a scale for each token and each unit.
@f.op(
    inputs={
        "x": {"axes": "tokens hidden", "dtype": "e4m3"},
        "x_scale": {"axes": "tokens", "dtype": "f32", "holds": "between(0.0009765625, 1)"},
    },
    weights={
        "weight": {"axes": "out hidden", "dtype": "e4m3"},
        "weight_scale": {"axes": "out", "dtype": "f32", "holds": "between(0.0009765625, 1)"},
    },
    outputs={"y": {"axes": "tokens out", "dtype": "bf16"}},
)
def scaled_linear(x, x_scale, weight, weight_scale):
    return f.sum(x * weight, "hidden") * x_scale * weight_scale


def scaled_product(x, x_scale, weight, weight_scale):
    with np.errstate(all="ignore"):
        sums = x.astype(np.float32) @ weight.astype(np.float32).T
        return (sums * x_scale[:, None] * weight_scale[None, :]).astype(ml_dtypes.bfloat16)


def scale_of_another_token(x, x_scale, weight, weight_scale):
    return scaled_product(x, np.roll(x_scale, 1), weight, weight_scale)


def subnormals_lost(x, x_scale, weight, weight_scale):
    x = x.astype(np.float32)
    return scaled_product(np.where(np.abs(x) < 2**-6, 0, x), x_scale, weight, weight_scale)


def one_code_wrong(x, x_scale, weight, weight_scale):
    x = x.astype(np.float32)
    return scaled_product(np.where(x == -448, -416, x), x_scale, weight, weight_scale)


def test_a_product_of_eight_bits_is_judged():
    run = assay.validate(scaled_linear, scaled_product, position_matters=True)
    assert run.verdicts["passed"] > 20


@pytest.mark.parametrize("wrong", [scale_of_another_token, subnormals_lost, one_code_wrong])
def test_a_wrong_product_of_eight_bits_fails(wrong):
    with pytest.raises(assay.Mismatch):
        assay.validate(scaled_linear, wrong, position_matters=True)


# Each token's values in e4m3 with a scale of its own, as the page has it.
quantise_rows = f.read(Path(__file__).resolve().parents[2] / "examples/own_op/quantise_rows.json")


def quantised(x, *, amax_of, divisor=448.0, cast=None):
    with np.errstate(all="ignore"):
        size = np.fmax(amax_of(np.abs(x.astype(np.float32))), np.float32(1e-4))
        scale = size / np.float32(divisor)
        q = np.clip(x.astype(np.float32) / scale[:, None], -448, 448)
        return (q.astype(ml_dtypes.float8_e4m3fn) if cast is None else cast(q)), scale


def of_rows(x):
    return x.max(-1)


def right_rows(x):
    return quantised(x, amax_of=of_rows)


def truncated(x):
    """Rounds towards zero."""

    def cast(q):
        nearest = q.astype(ml_dtypes.float8_e4m3fn)
        beyond = np.abs(nearest.astype(np.float32)) > np.abs(q)
        return (nearest.view(np.uint8) - beyond).view(ml_dtypes.float8_e4m3fn)

    return quantised(x, amax_of=of_rows, cast=cast)


def amax_of_all(x):
    return quantised(x, amax_of=lambda size: np.full(len(size), size.max(initial=0), np.float32))


def divided_by_240(x):
    return quantised(x, amax_of=of_rows, divisor=240.0)


def scale_in_half(x):
    q, scale = quantised(x, amax_of=of_rows)
    return q, scale.astype(np.float16).astype(np.float32)


def one_code_off(x):
    """One element in 1000 has the next code."""

    def cast(q):
        codes = q.astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
        return (codes ^ (np.arange(q.size).reshape(q.shape) % 1000 == 7)).astype(np.uint8).view(ml_dtypes.float8_e4m3fn)

    return quantised(x, amax_of=of_rows, cast=cast)


def test_a_quantising_kernel_is_judged():
    run = assay.validate(quantise_rows, right_rows, finite_inputs=True)
    assert run.verdicts["passed"] > 40


@pytest.mark.parametrize("wrong", [truncated, amax_of_all, divided_by_240, scale_in_half, one_code_off])
def test_a_wrong_quantising_kernel_fails(wrong):
    with pytest.raises(assay.Mismatch):
        assay.validate(quantise_rows, wrong, finite_inputs=True, dtypes=["bf16"])


STEPS = {
    "round": np.rint,
    "floor": np.floor,
    "ceil": np.ceil,
    "pow2_floor": lambda x: 2.0 ** np.floor(np.log2(x)),
    "pow2_ceil": lambda x: 2.0 ** np.ceil(np.log2(x)),
}


@pytest.mark.parametrize("word", STEPS)
def test_words_that_move_to_a_grid(word):
    op = own_op(f"by_{word}", {"x": "n"}, {"y": "n"}, lambda x: getattr(f, word)(x))
    x = np.concatenate([np.arange(-8, 8.25, 0.25), [0.3, 1e-30, 1e30, np.nextafter(4, 5), np.nextafter(4, 3)]]).astype(np.float32)
    x = np.abs(x[x != 0]) if word.startswith("pow2") else x
    np.testing.assert_array_equal(assay.golden(op, x=x), STEPS[word](x.astype(np.float64)))


@f.op(inputs={"x": "n", "scale": {"axes": "1", "holds": "between(0.125, 1)"}}, outputs={"y": {"axes": "n", "dtype": "i8"}})
def quantised_by_one(x, scale):
    return x / scale * 8


def whole(x, scale, to_whole=np.rint):
    with np.errstate(all="ignore"):
        y = to_whole(x.astype(np.float32) / scale.astype(np.float32) * np.float32(8))
        return np.nan_to_num(np.clip(y, -128, 127)).astype(np.int8)


def cut_off(x, scale):
    return whole(x, scale, np.trunc)


def wrapped(x, scale):
    with np.errstate(all="ignore"):
        return np.nan_to_num(np.rint(x.astype(np.float32) / scale.astype(np.float32) * 8)).astype(np.int64).astype(np.int8)


def test_whole_numbers_are_judged():
    assert assay.validate(quantised_by_one, whole, finite_inputs=True).verdicts["passed"] > 30
    for wrong in (cut_off, wrapped):
        with pytest.raises(assay.Mismatch):
            assay.validate(quantised_by_one, wrong, finite_inputs=True, dtypes=["bf16"])


# Blocks of 32 with a power of two as their scale, rounded up.
@f.op(
    inputs={"x": "tokens blocks within"},
    outputs={
        "q": {"axes": "tokens blocks within", "dtype": "e4m3"},
        "scale": {"axes": "tokens blocks", "dtype": "e8m0"},
    },
    axes={"within": (32, 32)},
)
def quantise_blocks(x):
    scale = f.maximum(f.pow2_ceil(f.max(f.absolute(x), "within") / 448), 2.0**-127)
    return x / scale, scale


def in_blocks(x, above=True):
    with np.errstate(all="ignore"):
        size = np.abs(x.astype(np.float64)).max(-1, initial=0) / 448
        exponent = np.ceil(np.log2(size)) if above else np.floor(np.log2(size))
        scale = 2.0 ** np.clip(np.where(size > 0, exponent, -127), -127, 127)
        q = np.clip((x / scale[..., None]).astype(np.float32), -448, 448)
        return q.astype(ml_dtypes.float8_e4m3fn), scale.astype(ml_dtypes.float8_e8m0fnu)


def rounded_down(x):
    return in_blocks(x, above=False)


def test_scales_that_are_powers_of_two_are_judged():
    assert assay.validate(quantise_blocks, in_blocks, finite_inputs=True).verdicts["passed"] > 30
    with pytest.raises(assay.Mismatch):
        assay.validate(quantise_blocks, rounded_down, finite_inputs=True, dtypes=["bf16"])
