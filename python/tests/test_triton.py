# SPDX-License-Identifier: Apache-2.0
"""Triton on the simulated machine, on arrays of NumPy; with torch too where it is installed."""

import importlib.util
import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("triton", reason="Triton is not installed")

import assay  # noqa: E402
import assay.triton as simulated  # noqa: E402
import triton_kernels as kernels  # noqa: E402

HERE = Path(__file__).parent
EXP = "accumulate=f32 chain=1 function_error=128 quotient_error=4 flushes_subnormals"
needs_torch = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="PyTorch is not installed")


def line_of(kernel, words):
    lines, first = inspect.getsourcelines(kernel.fn)
    return first + next(i for i, line in enumerate(lines) if words in line)


def right(x):
    p = np.exp(x.astype("f8") - x.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_a_kernel_runs(x, arch):
    with simulated.simulate(arch) as simulation:
        y = kernels.softmax(simulated.tensor(x))
        assert np.abs(y.peek() - right(x)).max() < 1e-6 and not simulation.unwritten(y).any()
        assert simulation.entries["softmax_kernel"].fidelity == "exact"
        part = simulated.tensor(np.asfortranarray(x))[3:, 2:]
        assert np.abs(kernels.softmax(part).peek() - right(x[3:, 2:])).max() < 1e-6


@needs_torch
def test_a_kernel_runs_on_torch(x):
    import torch

    with simulated.simulate():
        y = kernels.softmax(torch.from_numpy(x))
    assert np.abs(y.numpy() - right(x)).max() < 1e-6


def test_a_load_without_a_mask_is_told_at_its_line(x):
    with simulated.simulate(), pytest.raises(assay.Finding) as e:
        kernels.unmasked_kernel[(2,)](simulated.tensor(x[0].copy()), simulated.empty(65), 65, BLOCK=64)
    f = e.value
    assert (f.kind, f.kernel, f.block) == ("out_of_bounds", "unmasked_kernel", (1, 0, 0))
    assert f.file.endswith("triton_kernels.py") and f.line == line_of(kernels.unmasked_kernel, "UNMASKED")
    assert "'x' (260 bytes)" in f.message and f"triton_kernels.py:{f.line}" in str(f)


def test_races_between_programs_are_found_and_atomics_are_none(x):
    total = simulated.zeros(1)
    with simulated.simulate():
        kernels.sum_atomic_kernel[(8,)](simulated.tensor(x), total, BLOCK=64)
        assert abs(total.numpy()[0] - x.reshape(-1)[:512].sum()) < 1e-3
        with pytest.raises(assay.Finding) as e:
            kernels.sum_kernel[(8,)](simulated.tensor(x), total, BLOCK=64)
    assert e.value.kind == "global_race" and e.value.line == line_of(kernels.sum_kernel, "RACE")


@pytest.mark.parametrize("order", ["forward", "reverse", "shuffled"])
def test_the_last_program_joins_what_the_others_have_released(order):
    parts, ticket, total = simulated.zeros(8, "int32"), simulated.zeros(1, "int32"), simulated.zeros(1, "int32")
    with simulated.simulate(order=order):
        kernels.ticket_kernel[(8,)](parts, ticket, total, PROGRAMS=8, SEM="acq_rel")
        assert total.numpy()[0] == 8
        with pytest.raises(assay.Finding, match="global_race"):
            kernels.ticket_kernel[(8,)](parts, simulated.zeros(1, "int32"), total, PROGRAMS=8, SEM="relaxed")


@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_a_tensor_smaller_than_a_block_may_be_changed_in_place(order):
    x = np.arange(16, dtype="f4")
    with simulated.simulate(order=order):
        kernels.double_in_place_kernel[(1,)](simulated.tensor(x), BLOCK=16)
    assert (x == 2 * np.arange(16)).all()


@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_a_load_that_another_warp_must_have_stored_is_a_race(order):
    with simulated.simulate(order=order), pytest.raises(assay.Finding, match="global_race") as e:
        kernels.reversed_in_place_kernel[(1,)](simulated.tensor(np.arange(256, dtype="f4")), BLOCK=256)
    assert e.value.file.endswith("triton_kernels.py")


def test_a_broken_promise_of_divisibility_is_found():
    with simulated.simulate():
        y = simulated.empty(512)
        kernels.promised_kernel[(4,)](simulated.zeros(512), y, 128, BLOCK=128, num_warps=1)
        with pytest.raises(assay.Finding) as e:
            kernels.promised_kernel[(4,)](simulated.zeros(512), y, 65, BLOCK=128, num_warps=1)
    assert e.value.kind == "misaligned" and e.value.line == line_of(kernels.promised_kernel, "PROMISE")


def test_reads_of_what_nobody_wrote():
    with simulated.simulate():
        with pytest.raises(assay.Finding, match="uninitialised: read of 4 bytes at byte 0 of 'total'"):
            kernels.sum_kernel[(1,)](simulated.zeros(64), simulated.empty(1), BLOCK=64)
        total = simulated.empty(1)
        total.numpy()[0] = 1
        kernels.sum_kernel[(1,)](simulated.zeros(64), total, BLOCK=64)
        assert total.numpy()[0] == 1
    with simulated.simulate(watch=False):
        kernels.sum_kernel[(1,)](simulated.zeros(64), simulated.empty(1), BLOCK=64)


@needs_torch
def test_reads_of_what_nobody_wrote_in_torch():
    import torch

    with simulated.simulate():
        with pytest.raises(assay.Finding, match="uninitialised"):
            kernels.sum_kernel[(1,)](torch.zeros(64), torch.empty(1), BLOCK=64)
        for fill in (torch.Tensor.zero_, lambda t: t.numpy().fill(0), lambda t: t.data.fill_(0), lambda t: t[:1].fill_(0)):
            total = torch.empty(1)
            fill(total)
            kernels.sum_kernel[(1,)](torch.zeros(64), total, BLOCK=64)
        with torch.inference_mode():
            total = torch.empty(1).zero_()
            kernels.sum_kernel[(1,)](torch.zeros(64), total, BLOCK=64)


def test_autotuned_kernels_take_a_configuration(x):
    x = x.reshape(-1)[:1000].copy()
    names = simulated.configs(kernels.add_kernel)
    assert len(names) == 3 and "BLOCK: 128" in names[1]
    for config, block in ((0, 64), (2, 256), ("num_warps: 4", 128), (names[1], 128)):
        with simulated.simulate(config=config):
            z = simulated.empty(1000)
            kernels.add_kernel[lambda meta: (-(-1000 // meta["BLOCK"]),)](simulated.tensor(x), simulated.tensor(x), z, 1000)
            assert (z.peek() == 2 * x).all() and kernels.add_kernel.best_config.kwargs["BLOCK"] == block
    with simulated.simulate(config="BLOCK: 7"), pytest.raises(
        assay.InputError, match="add_kernel has no configuration 'BLOCK: 7', but BLOCK: 64"
    ):
        kernels.add_kernel[(1,)](simulated.tensor(x), simulated.tensor(x), simulated.empty(1000), 1000)


def test_what_is_wrong_is_said_in_a_sentence(x, monkeypatch):
    for arguments, sentence in (
        ({"arch": "sm_70"}, "the arch 'sm_70' is none of sm_80, sm_86, sm_87, sm_89, sm_90"),
        ({"order": "sideways"}, "the order 'sideways' is none of forward, reverse, shuffled"),
    ):
        with pytest.raises(assay.InputError, match=sentence), simulated.simulate(**arguments):
            pass
    monkeypatch.setattr(sys.modules["triton"], "__version__", "3.3.1")
    simulated._triton.cache_clear()
    with pytest.raises(assay.InputError, match="works from Triton 3.4 on, and this is 3.3.1"), simulated.simulate():
        pass
    simulated._triton.cache_clear()


def test_a_kernel_is_judged():
    run = assay.validate("softmax", kernels.softmax, simulate="sm_80", dtypes=["f32"], numerics=EXP, suite="sanitize")
    assert run.verdicts["passed"] == 4 and "sm_80 by Triton" in run.records[0]["device"]
    assert run.cases[0]["not_checked"] == ["traffic"]
    assert run.cases[0]["fidelity"] == "exact"


def sum_of(a, b):
    return a + b


def test_each_configuration_is_judged_under_its_name(tmp_path):
    path = tmp_path / "records.jsonl"
    options = {"simulate": "sm_80", "dtypes": ["f32"], "suite": "sanitize", "device": "numpy", "records": path}
    run = assay.validate("add", kernels.add, config="all", **options)
    assert {c["kernel"] for c in run.cases} == {"add", "add_config_1", "add_config_2"} and run.passed
    assert len(path.read_text().splitlines()) == len(run.records)
    run = assay.validate("add", kernels.add, config="BLOCK: 128, num_warps: 4", **options)
    assert {c["kernel"] for c in run.cases} == {"add_BLOCK_128_num_warps_4"}
    assert "configuration 'BLOCK: 128, num_warps: 4'" in run.records[0]["device"]
    with pytest.raises(assay.InputError, match="config is 'all', and 'test_triton' has no autotuned kernel"):
        assay.validate("add", sum_of, config="all", simulate="sm_80")


def test_an_output_left_unwritten_is_told():
    with pytest.raises(assay.Mismatch, match="unwritten: element .* of 'y' was not written"):
        assay.validate(
            "softmax", kernels.softmax_without_the_last_row, simulate="sm_80", dtypes=["f32"], numerics=EXP, suite="sanitize"
        )


def test_a_script_and_tests_run_without_a_line_of_ours(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys; sys.path.insert(0, sys.argv[1])\nimport numpy as np, triton_kernels as k\nfrom assay.triton import *\n"
        "x = tensor(np.arange(80, dtype='f4'))\n"
        "def test_it():\n    k.unmasked_kernel[(5,)](x, empty(80), 80, BLOCK=16)\n"
        "def test_too_far():\n    k.unmasked_kernel[(6,)](x, empty(80), 80, BLOCK=16)\n"
        "if __name__ == '__main__':\n    test_it(); print('done'); test_too_far()\n"
    )
    done = subprocess.run([sys.executable, "-m", "assay.triton", script, HERE], capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == "done\n"
    assert "assay: out_of_bounds: read of 4 bytes ending 4 bytes past the end of 'x' (320 bytes)" in done.stderr
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "assay.pytest_plugin", "-p", "no:cacheprovider", script],
        capture_output=True,
        text=True,
        env={**os.environ, "ASSAY_TRITON_SIMULATE": "sm_80", "PYTHONPATH": f"{os.environ.get('PYTHONPATH', '')}:{HERE}"},
    )
    assert "1 failed, 1 passed" in tests.stdout and "Finding: out_of_bounds" in tests.stdout


def test_what_the_machine_does_not_run_is_left_out_and_said():
    with simulated.simulate(), pytest.raises(
        assay.InputError, match=r"integer_product_kernel.ptx:\d+: `mma.sync.*s8.* is not run"
    ):
        kernels.integer_product_kernel[(1,)](simulated.zeros((32, 32)), N=32)
    with pytest.raises(assay.Incomplete, match="cases were left out: the simulated machine does not run it: .*s8") as e:
        assay.validate(
            "softmax", kernels.softmax_by_integers, simulate="sm_80", dtypes=["f16", "f32"], numerics=EXP, suite="sanitize"
        )
    assert e.value.result.verdicts["passed"] > 0 and e.value.result.verdicts["skipped"] > 0
