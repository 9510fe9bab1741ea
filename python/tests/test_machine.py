# SPDX-License-Identifier: Apache-2.0
"""The simulated machine in the process of Python, on PTX that Triton made once: neither Triton nor torch is needed."""

import struct
from pathlib import Path

import numpy as np
import pytest

import assay
from assay import machine, ptx_library
from assay.arrays import empty, empty_like, tensor, zeros
from assay.fresh import Fresh

PTX = Path(__file__).parents[2] / "datasets/ptx/triton_softmax.ptx"
COLS = 65


@pytest.fixture(scope="module")
def softmax():
    return machine.Entry(PTX.read_bytes(), "softmax_kernel", "softmax.ptx")


def run(entry, x, y, rows, memory=None, fresh=False, **options):
    """Launches softmax on arrays, a block a row."""
    x_region = machine.Region(x.base, x.base_bytes, "x", x.is_fresh)
    y_region = machine.Region(y.base, y.base_bytes, "y", fresh, y.is_writable)

    def pack(translate, _):
        packed = bytearray(entry.bytes)
        values = (translate(x.data_ptr()), translate(y.data_ptr()), COLS, x.stride(0), 0, 0)
        for (offset, _), form, value in zip(entry.parameters, "QQiqQQ", values):
            struct.pack_into("<" + form, packed, offset, value)
        return bytes(packed)

    (memory or machine.Memory()).launch(
        entry, (rows, 1, 1), (128, 1, 1), 16, [x_region, y_region], pack, machine.Options(**options)
    )


def right(x):
    p = np.exp(x.astype("f8") - x.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def test_a_kernel_runs_on_arrays(softmax):
    x = np.random.default_rng(1).normal(size=(5, COLS)).astype("f4")
    for order in machine.ORDERS:
        y = zeros((5, COLS))
        run(softmax, tensor(x), y, 5, order=order)
        assert np.abs(y.numpy() - right(x)).max() < 1e-6
    assert softmax.fidelity == "exact"


def test_a_block_too_many_is_found_at_its_line(softmax):
    with pytest.raises(assay.Finding) as e:
        run(softmax, zeros((5, COLS)), zeros((5, COLS)), 6)
    f = e.value
    assert (f.kernel, f.kind, f.block) == ("softmax_kernel", "out_of_bounds", (5, 0, 0))
    assert f.file.endswith("rows.py") and f.line > 0 and f.ptx_line > 0 and "'x' (1300 bytes)" in f.message
    assert str(f).startswith("out_of_bounds: read of 4 bytes")


def test_reads_of_what_nobody_wrote_and_outputs_left_unwritten(softmax):
    with pytest.raises(assay.Finding, match="uninitialised: read of 4 bytes at byte 0 of 'x'"):
        run(softmax, empty((5, COLS)), zeros((5, COLS)), 5)
    run(softmax, empty((5, COLS)), zeros((5, COLS)), 5, watch=False)
    memory = machine.Memory()
    y = empty((5, COLS))
    run(softmax, zeros((5, COLS)), y, 3, memory, True)
    flags = memory.unwritten(y.base, y.base_bytes)
    assert not flags[: 3 * COLS * 4].any() and flags[3 * COLS * 4 :].all()
    memory.forget_all()
    assert memory.unwritten(y.base, y.base_bytes) is None


def test_an_array_that_is_read_only_is_not_written(softmax):
    y = np.zeros((5, COLS), "f4")
    y.flags.writeable = False
    run(softmax, tensor(y), zeros((5, COLS)), 5)
    with pytest.raises(assay.InputError, match="softmax_kernel writes 'y', whose array is read-only"):
        run(softmax, zeros((5, COLS)), tensor(y), 5)


def test_what_is_known_of_a_storage_ends_with_it():
    memory = machine.Memory()
    fresh = Fresh(memory)
    y = empty(8)
    begin = y.base
    fresh.add(y.owner, begin, y.base_bytes)
    assert begin in fresh
    del y
    assert begin not in fresh


def test_arrays_are_views():
    x = tensor(np.arange(12, dtype="f4").reshape(3, 4))
    part = x[1:, 1:]
    assert part.shape == (2, 3) and part.stride() == (4, 1) and part.data_ptr() == x.data_ptr() + 20 and part.base == x.base
    assert x.view(12).numel() == 12 and x.size(0) == 3 and x.element_size() == 4 and len(x) == 3
    part.numpy()[...] = 7
    assert x.numpy()[1, 1] == 7
    fresh = empty((3, 4), "int32")
    half = fresh[1:]
    assert half.is_fresh
    fresh.numpy()
    assert not half.is_fresh
    assert empty_like(x).dtype == np.float32 and empty_like(x, "float16").dtype == np.float16
    with pytest.raises(assay.InputError, match="must give a view"):
        x[np.array([0, 2])]
    with pytest.raises(assay.InputError, match="'float17' is no dtype"):
        empty(3, "float17")


def test_what_cannot_run_is_refused():
    head = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<2>;\n"
    with pytest.raises(assay.InputError, match=r"^k.ptx:7: `tcgen05.ld` is no instruction that the machine runs$"):
        machine.Entry(head + b"tcgen05.ld %r1;\nret;\n}\n", "k", "k.ptx")
    with pytest.raises(assay.InputError, match="there is no entry 'other', but k"):
        machine.Entry(head + b"ret;\n}\n", "other", "k.ptx")


def test_another_object_is_refused(monkeypatch, tmp_path):
    ptx_library.opened.cache_clear()
    monkeypatch.setenv(ptx_library.VARIABLE, str(tmp_path / "none.so"))
    with pytest.raises(assay.LibraryError, match="ASSAY_PTX names another"):
        ptx_library.opened()
    ptx_library.opened.cache_clear()
