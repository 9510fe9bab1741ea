# SPDX-License-Identifier: Apache-2.0
"""bench without a GPU: turns, medians and ratios by a pretended timer; with PyTorch all of it, over kernels of the host."""

import contextlib
import gc
import os
import types
import weakref
from pathlib import Path

import pytest

import assay
from assay import benching, kernels

PLUGIN = Path(os.environ["ASSAY_VALIDATE"]).parent.parent / "plugins/exported.so"


def test_turns():
    calls = []
    launches = {name: lambda name=name: calls.append(name) for name in ("fn", "quick", "slow", "hopeless")}
    costs = {"fn": 30.0, "quick": 10.0, "slow": 600.0, "hopeless": 30_000.0}

    def timer(launch):
        launch()
        return costs[calls[-1]] + len(calls) % 3

    samples, left_out = benching.turns(launches, timer, 0.001)
    assert list(samples) == ["fn", "quick", "slow"] and {len(s) for s in samples.values()} == {benching.LEAST}
    assert calls[8:] == ["fn", "quick", "slow"] * benching.LEAST
    assert left_out == {"hopeless": "a launch takes 30 ms"}
    samples, _ = benching.turns({"fn": launches["fn"]}, timer, 1e6)
    assert len(samples["fn"]) == benching.MOST
    samples, left_out = benching.turns({"fn": launches["hopeless"], "quick": launches["quick"]}, timer, 0)
    assert set(samples) == {"fn", "quick"} and not left_out  # the callable is never left out


def test_a_graph_keeps_the_memory_of_its_launch():
    class Workspace:
        pass

    class Cuda:
        synchronize = staticmethod(lambda: None)
        graph = staticmethod(contextlib.nullcontext)

        class CUDAGraph:
            replay = staticmethod(lambda: None)

    contest = object.__new__(benching._Contest)
    contest._torch = types.SimpleNamespace(cuda=Cuda)
    contest._held = []
    workspace = Workspace()
    contest._launches = {"kernel": lambda w=workspace: w}
    kept = weakref.ref(workspace)
    del workspace
    contest.capture()
    gc.collect()
    assert kept() is not None


def test_figures():
    samples = {"fn": [40, 20, 30], "a": [10, 11, 9]}
    of = assay.Bench("softmax f16 rows=1 cols=2", samples, {"fn": 0.5, "a": 0.25}, {"b": "a reason"})
    assert of.medians == {"fn": 30, "a": 10} and of.ratios == {"a": 3.0}
    assert str(of).splitlines()[2:] == [
        "  fn      30.00                0.5",
        "  a       10.00    3.00       0.25",
        "  left out: b: a reason",
    ]


def test_without_a_gpu(monkeypatch):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(assay.InputError, match="bench needs a GPU"):
        assay.bench("softmax", lambda x: x, "rows=2 cols=3")


def test_on_the_host(monkeypatch):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.setenv(kernels.VARIABLE, str(PLUGIN))
    contract = assay.describe("linear")
    given = benching._inputs(contract, "linear f32 tokens=4 hidden=9 out=5 bias=yes", torch.device("cpu"), torch)

    def contest(fn):
        made = benching._Contest(contract, "f32", *given, torch)
        made.add_callable(fn, None)
        made.add_kernels((kernels.HOST, 0), lambda: 0, None)
        return made.run("linear", lambda launch: (launch(), 5.0)[1], 0)

    of = contest(lambda x, weight, bias: torch.nn.functional.linear(x, weight, bias))
    assert list(of.samples) == ["<lambda>", "serial"] and of.left_out == {"narrow": "a row exceeds 8 channels"}
    assert 0 < of.margins["serial"] < 1
    with pytest.raises(assay.Mismatch):
        contest(lambda x, weight, bias: torch.nn.functional.linear(x, weight))
