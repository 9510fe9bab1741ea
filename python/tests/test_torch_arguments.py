# SPDX-License-Identifier: Apache-2.0
"""What f.from_torch and assay.validate are given for a reference in PyTorch: what is taken, and what is refused in one sentence."""

import re

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import assay  # noqa: E402
from assay import formula as f  # noqa: E402

ROWS = {"x": "rows cols"}
ON_CPU = {"device": "cpu", "isolation": "none", "dtypes": "f32"}


def twice(x):
    return x * 2


def scaled(x, gamma, factor=2.0):
    return x * gamma * factor


def test_axes_may_be_lists_of_names():
    op = f.from_torch(scaled, inputs={"x": ("rows", "cols")}, weights={"gamma": {"axes": ["cols"], "dtype": "f32"}})
    assert '"x": "rows cols"' in op.text and '"axes": "cols"' in op.text


def test_an_op_stands_in_place_of_a_reference():
    op = f.from_torch(twice, inputs=ROWS)
    assert assay.validate(twice, reference=op, **ON_CPU).passed
    with pytest.raises(assay.Mismatch):
        assay.validate(lambda x: x * 3, reference=op, **ON_CPU)
    with pytest.raises(assay.InputError, match="the op 'twice' has its inputs, and others were given"):
        assay.validate(twice, reference=op, inputs=ROWS, **ON_CPU)


def test_validate_hands_bounds_of_axes_on():
    run = assay.validate(twice, reference=twice, inputs=ROWS, axes={"cols": (2, 2)}, **ON_CPU)
    assert run.passed and all(" cols=2 " in case["repro"] for case in run.cases)


def test_outputs_may_have_the_axes_that_are_returned():
    for given in ("rows cols", ("rows", "cols"), {"axes": "rows cols"}):
        assert '"out": "rows cols"' in f.from_torch(twice, inputs=ROWS, outputs={"out": given}).text


@pytest.mark.parametrize(
    "arguments, why",
    [
        ({"inputs": "rows cols"}, "inputs is of type str, and a dict of each tensor's axes was expected"),
        ({"inputs": ["x"]}, "inputs is of type list, and a dict"),
        ({"inputs": {"x": None}}, "'x' has no axes: 'rows cols' or ('rows', 'cols') was expected"),
        ({"inputs": {"x": {"dtype": "f32"}}}, "'x' has no axes"),
        ({"inputs": ROWS, "weights": "cols"}, "weights is of type str, and a dict"),
        ({}, "the reference takes (x, gamma, factor=2.0), and no inputs were given: inputs={...} was expected"),
        ({"inputs": ROWS}, "and x were given: missing a required argument: 'gamma'"),
        ({"attributes": {"factor": "2"}}, "the attribute 'factor' is '2', and a number was expected"),
        ({"attributes": 2.0}, "attributes is of type float, and a dict was expected"),
        ({"axes": {"cols": "x"}}, "the axis 'cols' has the extents 'x', and its least extent"),
        ({"axes": {"cols": (3, 2)}}, "the axis 'cols' has the extents (3, 2), and its least extent"),
        ({"axes": {"other": 3}}, "axes has 'other', and the tensors have the axes rows, cols"),
        ({"axes": ["cols"]}, "axes is of type list, and a dict of least extents was expected"),
        ({"outputs": {"out": "cols rows"}}, "the output 'out' has the axes cols rows, and the reference returns rows cols"),
        ({"outputs": {"out": "rows"}}, "the output 'out' has the axes rows, and the reference returns rows cols"),
        ({"outputs": {"out": {"axes": "rows cols", "dtype": "f32"}}}, "has the dtype f32, and the reference returns the inputs'"),
        ({"outputs": 3}, "outputs is 3, and names of outputs were expected"),
        ({"outputs": ["a", "b"]}, "the reference returns 1 tensor, and outputs= has 2: a, b"),
        ({"dtypes": "fp16"}, "the dtype 'fp16' is none of f16, bf16, f32"),
    ],
)
def test_wrong_arguments_are_told_in_a_sentence(arguments, why):
    given = arguments if "inputs" in arguments or not arguments else {"inputs": ROWS, "weights": {"gamma": "cols"}, **arguments}
    with pytest.raises(assay.InputError, match=re.escape(why)) as caught:
        f.from_torch(scaled, **given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "reference, why",
    [
        (3, "the reference is of type int, and a function or a module of PyTorch was expected"),
        (torch.ones(3), "the reference is of type Tensor"),
        (torch.nn.SiLU, "the reference SiLU is a class, and an instance of it was expected, like SiLU(...)"),
        (torch.compile(twice), "the reference is compiled by torch.compile, and cannot be traced: give what was compiled"),
        (torch.compile(torch.nn.SiLU()), "the reference is compiled by torch.compile"),
    ],
    ids=["number", "tensor", "class", "compiled", "compiled_module"],
)
def test_what_is_no_reference_is_told_in_a_sentence(reference, why):
    with pytest.raises(assay.InputError, match=re.escape(why)):
        assay.validate(twice, reference=reference, inputs=ROWS, **ON_CPU)


def test_what_is_missing_is_told():
    for positional in ((), (twice,), (None, twice)):
        with pytest.raises(assay.InputError, match="an op and a kernel were expected, or a kernel and its reference"):
            assay.validate(*positional)
    with pytest.raises(assay.InputError, match="the kernel is missing"):
        assay.validate(reference=twice, inputs=ROWS)
    with pytest.raises(assay.InputError, match="axes is that of a reference, and none is given"):
        assay.validate("softmax", twice, axes={"cols": 3})
    with pytest.raises(assay.InputError, match="'softmax.json' is a path: f.from_definition reads a definition"):
        f.from_torch("softmax.json", inputs=ROWS)
