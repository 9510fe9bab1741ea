#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the memory that cases are told to need with what they take.

  memory.py VALIDATE [--least] [--group] [LINE...]      LINE: a repro line with a kernel; without any, six shapes of every op

A case takes the peak of the memory of the judge and its worker with one job, above that of a tiny case of the same kernel: their
own pages (PSS), and all pages of the memory that they share.  PSS alone leaves out what a worker wrote and the judge has not
read.  Exits with 1 if a case is told less than 80 % or more than 120 % of that; with --least, if less than 80 %, since on a busy
machine the peak may pass unseen.  With --group, which root may give, each case also runs in a control group that has 1.15 times
what the case was told to need, and must reach the same verdict there."""
import os
import re
import subprocess
import sys
import time

MIB = 1 << 20
UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": MIB, "GiB": 1 << 30}


def own(pid, shared):
    """The bytes of a process that are in no shared memory of the judge; adds that memory to `shared`, by its inode."""
    taken = pss = 0
    try:
        with open(f"/proc/{pid}/smaps_rollup") as rollup:
            for line in rollup:
                key, value = line.split()[:2]
                taken += int(value) * 1024 if key in ("Pss_Anon:", "Pss_File:") else 0
                pss = int(value) * 1024 if key == "Pss_Shmem:" else pss
        with open(f"/proc/{pid}/maps") as maps:
            images = [line.split()[0] for line in maps if "memfd:assay" in line]
        for image in images:
            file = os.stat(f"/proc/{pid}/map_files/{image}")
            shared[file.st_ino] = max(shared.get(file.st_ino, 0), 512 * file.st_blocks)
    except PermissionError:  # who is not root sees only the shared memory that a process has touched
        return taken + pss
    except (OSError, ValueError):
        pass
    return taken


def taken_by(pids):
    shared = {}
    return sum(own(pid, shared) for pid in pids) + sum(shared.values())


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


class Group:
    """A control group that may take so many bytes."""

    def __init__(self, limit):
        first = os.path.isdir("/sys/fs/cgroup/memory")  # version 1
        self.folder = f"/sys/fs/cgroup/{'memory/' if first else ''}assay_memory_{os.getpid()}"
        self.events = "memory.oom_control" if first else "memory.events"
        os.makedirs(self.folder)
        self.write("memory.limit_in_bytes" if first else "memory.max", limit)

    def write(self, name, value):
        with open(f"{self.folder}/{name}", "w") as file:
            file.write(str(int(value)))

    def enter(self):
        self.write("cgroup.procs", os.getpid())

    def kills(self):
        with open(f"{self.folder}/{self.events}") as file:
            return int(re.search(r"oom_kill (\d+)", file.read())[1])

    def leave(self):
        while True:  # its last process may still be ending
            try:
                return os.rmdir(self.folder)
            except OSError:
                time.sleep(0.05)


def replayed(validate, line, group=None):
    return subprocess.Popen(
        [validate, "replay", "--backend", "simt", "--no-shrink", "--timeout", "3000", line],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=group and group.enter,
    )


def verdict_of(said):
    verdict = re.search(r"verdict +(.*)", said)
    return verdict[1] if verdict else said.strip()


def confined(validate, line, limit):
    """The verdict in a group of so many bytes, and how many processes the system ended there."""
    group = Group(limit)
    try:
        return verdict_of(replayed(validate, line, group).communicate()[0]), group.kills()
    finally:
        group.leave()


def measure(validate, line):
    """The peak of a replay in bytes, what it was told, and its verdict."""
    process = replayed(validate, line)
    peak = 0
    while process.poll() is None:
        peak = max(peak, taken_by(tree(process.pid)))
        time.sleep(0.002)
    said = process.stdout.read()
    told = re.search(r"memory +([0-9.]+) (\w+) of judge", said)
    return peak, float(told[1]) * UNITS[told[2]] if told else 0, verdict_of(said)


def small(line):
    """The same case with every extent at most 4."""
    return re.sub(r"\b([a-z_]+)=(\d+)\b", lambda m: f"{m[1]}={min(int(m[2]), 4)}" if m[1] != "seed" else m[0], line)


def main():
    validate = sys.argv[1]
    least = "--least" in sys.argv
    group = "--group" in sys.argv
    lines = [line for line in sys.argv[2:] if not line.startswith("--")] or SHAPES
    bad = 0
    empty = {}
    for line in lines:
        kernel, dtype = line.split()[:2]
        if kernel not in empty:
            empty[kernel] = measure(validate, small(line))[0]
        peak, told, verdict = measure(validate, line)
        taken = peak - empty[kernel]
        ratio = told / taken
        wrong = not 0.8 <= ratio <= (1e9 if least else 1.2)
        if group:
            there, kills = confined(validate, line, 1.15 * told)
            wrong = wrong or kills > 0 or there != verdict
            verdict += f"; confined: {there}, {kills} killed" if kills or there != verdict else "; confined too"
        bad += wrong
        print(
            f"{'WRONG ' if wrong else '      '}{told / MIB:8.0f} MiB told {taken / MIB:8.0f} taken {ratio:6.2f}",
            f"{verdict[:60]:40}  {line}",
            flush=True,
        )
    print(f"{bad} of {len(lines)} are told too little or too much")
    return 1 if bad else 0


# Of every op a kernel that simt runs fast, and six shapes: many short rows, few long ones, 2 and 4 bytes, strided memory.
ROWS = """f16 rows=4096 cols=4096; f32 rows=2048 cols=4096; bf16 rows=90000 cols=128; f16 rows=6 cols=2000000;
    f32 rows=200000 cols=40; f16 rows=3000 cols=3001 layout=padded"""
PRODUCTS = """f16 tokens=4096 hidden=16 out=3072; f32 tokens=2048 hidden=32 out=3072; bf16 tokens=40 hidden=64 out=150000;
    f16 tokens=150000 hidden=32 out=40; f32 tokens=64 hidden=150000 out=64; f16 tokens=3000 hidden=24 out=3000 layout=padded"""
FFN = """f16 tokens=3072 hidden=16 ffn=2048; f32 tokens=2048 hidden=16 ffn=2048; bf16 tokens=40 hidden=32 ffn=100000;
    f16 tokens=100000 hidden=16 ffn=48; f32 tokens=16 hidden=160000 ffn=64; f16 tokens=2500 hidden=24 ffn=2000 layout=padded"""
NARROW = """f16 tokens=400000 hidden=16 ffn=32; f32 tokens=400000 hidden=16 ffn=24; bf16 tokens=40 hidden=32 ffn=100000;
    f16 tokens=100000 hidden=16 ffn=48; f32 tokens=16 hidden=160000 ffn=64; f16 tokens=300000 hidden=24 ffn=20 layout=padded"""
ATTENTION = """f16 batch=1 seq_q=1 seq_k=600000 heads=1 kv_heads=1 head_dim=16;
    f32 batch=80 seq_q=512 seq_k=64 heads=4 kv_heads=2 head_dim=16;
    bf16 batch=1024 seq_q=128 seq_k=16 heads=2 kv_heads=1 head_dim=16;
    f16 batch=8 seq_q=1 seq_k=40000 heads=2 kv_heads=2 head_dim=32;
    f32 batch=1 seq_q=2 seq_k=800000 heads=2 kv_heads=1 head_dim=8;
    f16 batch=384 seq_q=256 seq_k=32 heads=2 kv_heads=2 head_dim=16 layout=padded"""
SCORES = """f16 batch=1 seq_q=2048 seq_k=4096; f32 batch=1 seq_q=2048 seq_k=4096; bf16 batch=2048 seq_q=64 seq_k=64;
    f16 batch=1 seq_q=8 seq_k=1000000; f32 batch=8000 seq_q=64 seq_k=16; f16 batch=4 seq_q=500 seq_k=4001 layout=padded"""
PAGED = """f16 batch=8 kv_heads=2 head_dim=64 pages=4000 max_pages=500;
    f32 batch=16 kv_heads=2 head_dim=64 pages=2000 max_pages=100;
    bf16 batch=4 kv_heads=4 head_dim=64 pages=3000 max_pages=700;
    f16 batch=64 kv_heads=1 head_dim=128 pages=6000 max_pages=90;
    f32 batch=2 kv_heads=1 head_dim=64 pages=8000 max_pages=3000; f16 batch=1 kv_heads=2 head_dim=64 pages=6000 max_pages=6000"""
APPENDED = """f16 batch=8 seq_q=4 kv_heads=2 head_dim=64 pages=500 max_pages=50;
    f32 batch=16 seq_q=1 kv_heads=2 head_dim=64 pages=400 max_pages=20;
    bf16 batch=4 seq_q=40 kv_heads=4 head_dim=64 pages=300 max_pages=70;
    f16 batch=64 seq_q=1 kv_heads=1 head_dim=128 pages=600 max_pages=9;
    f32 batch=2 seq_q=300 kv_heads=1 head_dim=64 pages=800 max_pages=300;
    f16 batch=1 seq_q=1 kv_heads=2 head_dim=64 pages=600 max_pages=600"""
ROTATED = """f16 batch=1 seq_q=4096 heads=16 kv_heads=4 head_dim=128;
    f32 batch=3 seq_q=1024 heads=16 kv_heads=16 head_dim=64; bf16 batch=128 seq_q=64 heads=8 kv_heads=8 head_dim=64;
    f16 batch=1 seq_q=80000 heads=2 kv_heads=1 head_dim=32; f32 batch=1 seq_q=24000 heads=4 kv_heads=4 head_dim=32;
    f16 batch=4 seq_q=1000 heads=16 kv_heads=8 head_dim=100 layout=padded"""
LAYERS = """f16 batch=40 seq_q=64 hidden=128 heads=8 kv_heads=8 ffn=512;
    f32 batch=64 seq_q=32 hidden=128 heads=8 kv_heads=4 ffn=512;
    bf16 batch=300 seq_q=16 hidden=64 heads=4 kv_heads=4 ffn=256;
    f16 batch=1500 seq_q=4 hidden=64 heads=4 kv_heads=1 ffn=256 dialect=gpt2;
    f32 batch=150 seq_q=16 hidden=128 heads=8 kv_heads=8 ffn=512 dialect=gptneox;
    f16 batch=80 seq_q=61 hidden=120 heads=8 kv_heads=8 ffn=500"""
REDUCED = """f16 rows=4096 cols=16384; f32 rows=2048 cols=16384; bf16 rows=1000000 cols=64; f16 rows=12 cols=4000000;
    f32 rows=100000 cols=300; f16 rows=9000 cols=6001 layout=padded"""
LOSSES = """f16 tokens=1024 vocab=50000; f32 tokens=500 vocab=50000; bf16 tokens=200000 vocab=300;
    f16 tokens=12 vocab=4000000; f32 tokens=60000 vocab=500; f16 tokens=5000 vocab=10001 layout=padded"""
TABLES = """f16 tokens=4096 vocab=1000 hidden=4096; f32 tokens=2048 vocab=2000 hidden=4096;
    bf16 tokens=100000 vocab=50 hidden=128; f16 tokens=6 vocab=6 hidden=2000000; f32 tokens=200000 vocab=100000 hidden=40;
    f16 tokens=3000 vocab=3000 hidden=3001 layout=padded"""
OF_OPS = [
    ("add/naive gelu/naive silu_mul/naive softmax/block_row layernorm/block_row", ROWS, ""),
    ("layernorm_residual/naive residual_layernorm/naive residual_rmsnorm/naive rmsnorm/block_row", ROWS, ""),
    ("row_reduce/naive", REDUCED, ""),
    ("cross_entropy/naive", LOSSES, ""),
    ("embedding/naive", TABLES, ""),
    ("linear/mma_tiled gelu_linear/mma_tiled layernorm_linear/mma_tiled rmsnorm_gemm/mma_tiled", PRODUCTS, ""),
    ("gemm_swiglu/mma_tiled", FFN, ""),
    ("ffn_gelu/mma_tiled", NARROW, ""),
    ("attention_forward/naive attention_backward/naive", ATTENTION, ""),
    ("attention_scores/naive", SCORES, " heads=1 kv_heads=1 head_dim=8"),
    ("paged_attention/naive", PAGED, " seq_q=1 heads=4 page_size=64"),
    ("kv_append/naive", APPENDED, " page_size=64"),
    ("rope/naive", ROTATED, ""),
    ("transformer_layer/unfused", LAYERS, " head_dim=16"),
]


def taking(kernel, shape):  # mma_tiled takes no f32
    return kernel.replace("mma_tiled", "fma_tiled") if shape.startswith("f32") else kernel


SHAPES = [
    f"{taking(kernel, shape.strip())} {shape.strip()}{more}"
    for kernels, shapes, more in OF_OPS
    for kernel in kernels.split()
    for shape in shapes.split(";")
]

if __name__ == "__main__":
    sys.exit(main())
