# SPDX-License-Identifier: Apache-2.0
"""Kernels of the device layer behind the C interface: their arguments arrive, and what they declare is told."""
import pytest

from command_line import cases
from judged import reasons, verdicts


@pytest.fixture(scope="module")
def exported(plugins):
    """The words that name the plugin of these kernels."""
    return ["--backend", "host", "--plugin", plugins / "exported.so"]


@pytest.fixture(scope="module")
def judged(validate, exported):
    validate("run --no-shrink --suite smoke --op linear,rope --json records.jsonl", *exported)
    return cases("records.jsonl")


@pytest.mark.parametrize(
    "kernel, expected",
    [
        ("serial", {"passed"}),
        ("narrow", {"passed", "unsupported"}),
        ("by_pairs", {"passed"}),
    ],
)
def test_verdicts(judged, kernel, expected):
    assert verdicts(kernel, judged) == expected


def test_the_reason_of_a_kernel_that_declines(judged):
    assert "a row exceeds 8 channels" in reasons("narrow", judged)


@pytest.mark.parametrize(
    "what",
    ["bias=yes", "positions=explicit", "layout_of_pairs=interleaved", "in_place=yes", "frequencies=given", "rotary_dim="],
)
def test_cases_with_each_argument_pass(judged, what):
    assert any(what in case["repro"] for case in judged if case["verdict"] == "passed")


def test_dtypes_of_a_kernel_that_declares_one(judged):
    passed = [case for case in judged if case["kernel"] == "narrow" and case["verdict"] == "passed"]
    assert {case["dtype"] for case in passed} == {"f32"}


def test_numerics_that_a_kernel_declares(judged):
    expected = "accumulate=f32 chain=1 function_error=1 angle_error=4.76837158203125e-07"
    assert expected in {case["numerics"] for case in judged if case["kernel"] == "by_pairs"}


def test_a_wrong_kernel_fails(validate, exported):
    validate("run --no-shrink --suite sanitize --op softmax", *exported, code=1)


def test_a_kernel_that_throws(validate, exported):
    said = validate("replay --no-shrink", *exported, "linear/narrow f32 tokens=13 hidden=4 out=2", code=1)
    assert "run() returned the error 1" in said.out


def test_doctor(validate, exported):
    validate("doctor", *exported)
