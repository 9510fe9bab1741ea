#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the memory that cases are told to need with what they take.

  memory.py VALIDATE [LINE...]      LINE: a repro line with a kernel; without any, six shapes of every op

A case takes the peak of the proportional set size (PSS) of the judge and its worker with one job, above that of an empty case of
the same kernel.  Exits with 1 if a case is told less than 80 % or more than 120 % of it."""
import os
import re
import subprocess
import sys
import time

MIB = 1 << 20
UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": MIB, "GiB": 1 << 30}


def pss(pid):
    try:
        with open(f"/proc/{pid}/smaps_rollup") as rollup:
            return next(int(line.split()[1]) for line in rollup if line.startswith("Pss:")) * 1024
    except (OSError, StopIteration):
        return 0


def tree(pid):
    """A process and its children, as far as they live."""
    found = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as children:
                for child in children.read().split():
                    found += tree(int(child))
    except OSError:
        pass
    return found


def measure(validate, line):
    """The peak of a replay in bytes, what it was told, and its verdict."""
    process = subprocess.Popen([validate, "replay", "--backend", "simt", "--no-shrink", "--timeout", "3000", line],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(pss(pid) for pid in tree(process.pid)))
        time.sleep(0.002)
    said = process.stdout.read()
    told = re.search(r"memory +([0-9.]+) (\w+) of judge", said)
    verdict = re.search(r"verdict +(.*)", said)
    return peak, float(told[1]) * UNITS[told[2]] if told else 0, verdict[1] if verdict else said.strip()


def small(line):
    """The same case with every extent at most 4."""
    return re.sub(r"\b([a-z_]+)=(\d+)\b", lambda m: f"{m[1]}={min(int(m[2]), 4)}" if m[1] != "seed" else m[0], line)


def main():
    validate, lines = sys.argv[1], sys.argv[2:]
    bad = 0
    empty = {}
    for line in lines or SHAPES:
        kernel, dtype = line.split()[:2]
        if kernel not in empty:
            empty[kernel] = measure(validate, small(line))[0]
        peak, told, verdict = measure(validate, line)
        taken = peak - empty[kernel]
        ratio = told / taken
        wrong = not 0.8 <= ratio <= 1.2
        bad += wrong
        print(f"{'WRONG ' if wrong else '      '}{told / MIB:8.0f} MiB told {taken / MIB:8.0f} taken {ratio:6.2f}  {verdict[:40]:40}  {line}",
              flush=True)
    print(f"{bad} of {len(lines or SHAPES)} are told too little or too much")
    return 1 if bad else 0


# Of every op a kernel that simt runs fast, and six shapes: many short rows, few long ones, both dtypes' sizes, strided memory.
ROWS = ["f16 rows=4096 cols=4096", "f32 rows=2048 cols=4096", "bf16 rows=90000 cols=128", "f16 rows=6 cols=2000000",
        "f32 rows=200000 cols=40", "f16 rows=3000 cols=3001 layout=padded"]
PRODUCTS = ["f16 tokens=4096 hidden=16 out=3072", "f32 tokens=2048 hidden=32 out=3072", "bf16 tokens=40 hidden=64 out=150000",
            "f16 tokens=150000 hidden=32 out=40", "f32 tokens=64 hidden=100000 out=64", "f16 tokens=3000 hidden=24 out=3000 layout=padded"]
FFN = ["f16 tokens=3072 hidden=16 ffn=2048", "f32 tokens=2048 hidden=16 ffn=2048", "bf16 tokens=40 hidden=32 ffn=100000",
       "f16 tokens=100000 hidden=16 ffn=48", "f32 tokens=16 hidden=40000 ffn=64", "f16 tokens=2500 hidden=24 ffn=2000 layout=padded"]
ATTENTION = ["f16 batch=1 seq_q=64 seq_k=300000 heads=1 kv_heads=1 head_dim=16", "f32 batch=64 seq_q=512 seq_k=64 heads=4 kv_heads=2 head_dim=16",
             "bf16 batch=1024 seq_q=128 seq_k=16 heads=2 kv_heads=1 head_dim=16", "f16 batch=8 seq_q=16 seq_k=40000 heads=2 kv_heads=2 head_dim=32",
             "f32 batch=1 seq_q=16 seq_k=400000 heads=2 kv_heads=1 head_dim=8", "f16 batch=256 seq_q=256 seq_k=32 heads=2 kv_heads=2 head_dim=16 layout=padded"]
OF_OP = {
    "add/naive": ROWS, "gelu/naive": ROWS, "silu_mul/naive": ROWS, "softmax/block_row": ROWS, "layernorm/block_row": ROWS,
    "layernorm_residual/naive": ROWS, "residual_layernorm/naive": ROWS, "residual_rmsnorm/naive": ROWS, "rmsnorm/block_row": ROWS,
    "row_reduce/naive": ["f16 rows=4096 cols=16384", "f32 rows=2048 cols=16384", "bf16 rows=1000000 cols=64", "f16 rows=3 cols=30000000",
                         "f32 rows=100000 cols=300", "f16 rows=9000 cols=6001 layout=padded"],
    "cross_entropy/naive": ["f16 tokens=1024 vocab=50000", "f32 tokens=500 vocab=50000", "bf16 tokens=200000 vocab=300",
                            "f16 tokens=4 vocab=12000000", "f32 tokens=60000 vocab=500", "f16 tokens=5000 vocab=10001 layout=padded"],
    "embedding/naive": ["f16 tokens=4096 vocab=1000 hidden=4096", "f32 tokens=2048 vocab=2000 hidden=4096", "bf16 tokens=100000 vocab=50 hidden=128",
                        "f16 tokens=6 vocab=6 hidden=2000000", "f32 tokens=200000 vocab=100000 hidden=40",
                        "f16 tokens=3000 vocab=3000 hidden=3001 layout=padded"],
    "linear/mma_tiled": PRODUCTS, "gelu_linear/mma_tiled": PRODUCTS, "layernorm_linear/mma_tiled": PRODUCTS, "rmsnorm_gemm/mma_tiled": PRODUCTS,
    "gemm_swiglu/mma_tiled": FFN, "ffn_gelu/mma_tiled": FFN,
    "attention_forward/mma_tiled": ATTENTION, "attention_backward/mma_tiled": ATTENTION,
    "attention_scores/naive": ["f16 batch=1 seq_q=2048 seq_k=4096 heads=1 kv_heads=1 head_dim=8", "f32 batch=1 seq_q=2048 seq_k=4096 heads=1 kv_heads=1 head_dim=8",
                               "bf16 batch=256 seq_q=64 seq_k=64 heads=8 kv_heads=1 head_dim=8", "f16 batch=1 seq_q=8 seq_k=1000000 heads=1 kv_heads=1 head_dim=8",
                               "f32 batch=1000 seq_q=64 seq_k=16 heads=8 kv_heads=8 head_dim=8",
                               "f16 batch=4 seq_q=500 seq_k=4001 heads=1 kv_heads=1 head_dim=8 layout=padded"],
    "paged_attention/naive": [f"{dtype} batch={batch} seq_q=1 heads=4 kv_heads={kv} head_dim={dim} pages={pages} page_size=64 max_pages={most}"
                              for dtype, batch, kv, dim, pages, most in
                              (("f16", 8, 2, 64, 4000, 500), ("f32", 16, 2, 64, 2000, 100), ("bf16", 4, 4, 64, 3000, 700), ("f16", 64, 1, 128, 6000, 90),
                               ("f32", 2, 1, 64, 8000, 3000), ("f16", 1, 2, 64, 6000, 6000))],
    "kv_append/naive": [f"{dtype} batch={batch} seq_q={new} kv_heads={kv} head_dim={dim} pages={pages} page_size=64 max_pages={most}"
                        for dtype, batch, new, kv, dim, pages, most in
                        (("f16", 8, 4, 2, 64, 500, 50), ("f32", 16, 1, 2, 64, 400, 20), ("bf16", 4, 40, 4, 64, 300, 70), ("f16", 64, 1, 1, 128, 600, 9),
                         ("f32", 2, 300, 1, 64, 800, 300), ("f16", 1, 1, 2, 64, 600, 600))],
    "rope/naive": [f"{dtype} batch={batch} seq_q={seq} heads={heads} kv_heads={kv} head_dim={dim}{more}" for dtype, batch, seq, heads, kv, dim, more in
                   (("f16", 1, 2048, 16, 4, 128, ""), ("f32", 2, 1024, 16, 16, 64, ""), ("bf16", 64, 64, 8, 8, 64, ""),
                    ("f16", 1, 40000, 2, 1, 32, ""), ("f32", 1, 16000, 4, 4, 32, ""), ("f16", 2, 1000, 16, 8, 100, " layout=padded"))],
    "transformer_layer/unfused": [f"{dtype} batch={batch} seq_q={seq} hidden={hidden} heads={heads} kv_heads={kv} head_dim=16 ffn={ffn}{more}"
                                  for dtype, batch, seq, hidden, heads, kv, ffn, more in
                                  (("f16", 40, 64, 128, 8, 8, 512, ""), ("f32", 64, 32, 128, 8, 4, 512, ""), ("bf16", 300, 16, 64, 4, 4, 256, ""),
                                   ("f16", 1000, 4, 64, 4, 1, 256, " dialect=gpt2"), ("f32", 100, 16, 128, 8, 8, 512, " dialect=gptneox"),
                                   ("f16", 40, 60, 120, 8, 8, 500, " layout=padded"))],
}
SHAPES = [f"{kernel} {shape}" for kernel, shapes in OF_OP.items() for shape in shapes]

if __name__ == "__main__":
    sys.exit(main())
