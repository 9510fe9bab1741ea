#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the Triton kernels of examples/triton beside ours, in turns, as CUDA graphs, and writes `timing` records:
  triton_rows.py OUT.jsonl [--suite NAME ...] [--op OP ...] [--dtype DTYPE ...] [--seconds S]
The outputs of both are judged first.  Needs PyTorch, Triton, the package `assay` and its kernels.
Exit codes: 0 done, 1 an output is wrong, 2 bad usage, 77 no PyTorch, Triton or GPU here."""
import json
import os
import sys

from pytorch.rows import rows_of
from pytorch_rows import head_of, show
from records import BadInput, Parser, judged

OURS = ("sm90_wgmma", "mma_tiled", "block_row", "warp_row", "vector16", "table")  # none that is slow on these rows
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def flags_of(arguments):
    p = Parser(__doc__)
    p.add_argument("out", help="file for the records")
    p.add_argument(
        "--suite", action="append", default=[], metavar="NAME", help="rows of datasets/bench/suites/NAME.json; triton by default"
    )
    p.add_argument("--op", action="append", default=[], help="only rows of this op")
    p.add_argument("--dtype", action="append", default=[], help="f16, bf16 or f32")
    p.add_argument("--seconds", type=float, default=1.0, help="how long to time a row")
    p.add_argument("--datasets", default=os.path.join(ROOT, "datasets"), help="folder of the datasets")
    flags = p.parse_args(arguments)
    flags.device = "cuda"
    flags.suite = flags.suite or ["triton"]
    if not flags.seconds > 0:
        raise BadInput("--seconds must be above 0")
    return flags


def main(arguments):
    flags = flags_of(arguments)
    rows = rows_of(flags.datasets, flags.op, flags.suite, flags.dtype, [])
    if not rows:
        raise BadInput("no row has that op and dtype; reports/pytorch_rows.py --suite triton --list prints them")
    try:
        import torch
        import triton
    except ImportError as e:
        print(f"PyTorch or Triton cannot be imported, so nothing is timed ({e}).", file=sys.stderr)
        return 77
    if not torch.cuda.is_available():
        print("PyTorch sees no GPU here, so nothing is timed.", file=sys.stderr)
        return 77
    sys.path[:0] = [os.path.join(ROOT, "python"), os.path.join(ROOT, "examples/triton")]
    import assay
    import products
    import validate
    from pytorch.clock import kept, summary

    # Note: without the look at v, which waits for the GPU.
    kernels = {**validate.KERNELS, "attention_forward": (products.attention, validate.KERNELS["attention_forward"][1])}
    wrong = 0
    with open(flags.out, "w") as out:
        out.write(json.dumps(head_of(torch, flags)) + "\n")
        for row in rows:
            if row.op not in kernels:
                raise BadInput(f"examples/triton has no kernel for '{row.op}'")
            fn, numerics = kernels[row.op]
            j = {
                "record": "timing",
                "source": "triton " + triton.__version__,
                "op": row.op,
                "kernel": "triton",
                "backend": "cuda",
                "dtype": row.dtype,
                "shape": row.shape,
                "what": f"examples/triton, {fn.__name__}; as a CUDA graph",
            }
            try:
                of = assay.bench(
                    row.op, fn, row.shape, dtype=row.dtype, numerics=numerics, only=OURS, seconds=flags.seconds, graph=True
                )
                (_, samples), *others = of.samples.items()
                j |= {
                    "time_us": summary(samples),
                    "samples_us": [kept(samples)],
                    "beside": {name: summary(us) for name, us in others},
                }
            except assay.Mismatch as e:
                wrong += 1
                j["left_out"] = "wrong: " + str(e).splitlines()[0]
            out.write(json.dumps(j) + "\n")
            out.flush()
            show(j)
            torch.cuda.empty_cache()
    print(f"{len(rows)} rows")
    return int(wrong > 0)


if __name__ == "__main__":
    judged(main)
