#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles many PTX modules, has the machine decode every entry of each, runs those that can be launched, and prints the count.

    datasets/ptx/modules.py BUILD OUT [--ours] [--nvcc ARCH] [--triton] [--wheel FILE.whl...]

--ours takes the PTX in the programs BUILD/bin/ptx/OP (cmake --build BUILD --target ptx_kernels ptx_decode), and --nvcc compiles the
kernels of this tree for another architecture.  --triton and --wheel need Triton, which compiles with no GPU.  Of a wheel
it takes every function that triton.jit decorates, with types that are guessed from its parameters' names and uses; what Triton
does not compile so is counted apart.  The modules stay in OUT, a folder.
"""

import argparse
import ast
import collections
import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def ours(build, out):
    """The PTX in the programs of --backend ptx, and whether it ran: every verdict of a small suite."""
    for program in sorted((build / "bin/ptx").iterdir()):
        for name in subprocess.check_output([program], text=True).split():
            kernel = name.split("/")[1].removesuffix(".ptx")
            path = out / f"nvcc-{program.name}-{kernel}.ptx"
            path.write_bytes(subprocess.check_output([program, kernel]))
            run = ["run", "--backend", "ptx", "--kernel", f"{program.name}/{kernel}", "--suite", "sanitize"]
            yield path, [build / "bin/validate", *run]


def by_nvcc(arch, out):
    for source in sorted((ROOT / "cuda").glob("*/*.cu")):
        if source.stem.startswith(("baseline_", "sm90_")):
            continue
        path = out / f"nvcc{arch}-{source.parent.name}-{source.stem}.ptx"
        flags = ["-std=c++20", "--expt-relaxed-constexpr", "-lineinfo", f"-I{ROOT}", f"-arch=compute_{arch}"]
        if not path.exists():
            subprocess.run(["nvcc", "-ptx", *flags, "-o", path, source], check=True)
        yield path, None


def jit_functions(text, path):
    """A module of the functions in a text that triton.jit decorates, without their other decorators, and their trees."""
    tree = ast.parse(text)
    functions = {}
    kept = ["import math", "import triton", "import triton.language as tl"]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(d) for d in node.decorator_list):
            node.decorator_list = [ast.parse("triton.jit", mode="eval").body]
            functions[node.name] = node
            kept.append(ast.unparse(node))
        elif isinstance(node, (ast.Import, ast.ImportFrom)) and "triton" in ast.unparse(node):
            kept.append(f"try:\n    {ast.unparse(node)}\nexcept ImportError: pass")
        elif isinstance(node, ast.Assign) and isinstance(node.value, (ast.Constant, ast.Call)):
            kept.append(f"try:\n    {ast.unparse(node)}\nexcept Exception: pass")
    path.write_text("\n\n".join(kept) + "\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, functions


def compiled(path, kernel, types, constants, arch, divisible=None, **options):
    """Writes a kernel's PTX.  `divisible`: parameters, pointers by 16 and numbers by 8; without it all pointers are."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    signature = {n: "constexpr" if n in constants else types[n] for n in kernel.arg_names}
    if divisible is None:
        divisible = [n for n in kernel.arg_names if signature[n][0] == "*"]
    attributes = {(kernel.arg_names.index(n),): [["tt.divisibility", 16 if signature[n][0] == "*" else 8]] for n in divisible}
    source = ASTSource(kernel, signature, constexprs=constants, attrs=attributes)
    path.write_text(triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options).asm["ptx"])
    return path


def launch_file(name, changes, out):
    """A launch file of this folder with other numbers, for the same kernel in another configuration."""
    text = (ROOT / "datasets/ptx" / name).read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path = out / f"{len(list(out.glob('*.json')))}-{name}"
    path.write_text(text)
    return path


def our_triton(build, out):
    """The kernels of examples/triton in several configurations, for two architectures."""
    rows, _ = jit_functions((ROOT / "examples/triton/rows.py").read_text(), out / "rows.py")
    products, _ = jit_functions((ROOT / "examples/triton/products.py").read_text(), out / "products.py")
    half, single = "*fp16", "*fp32"

    def typed(kernel, pointers, floats=(), of=half, special=None):
        wide = lambda n: "_" in n  # strides
        types = {n: of if n in pointers else "fp32" if n in floats else "i64" if wide(n) else "i32" for n in kernel.arg_names}
        return types | (special or {})

    def validate(path, launch):
        return [build / "bin/validate", "run", "--ptx", path, "--launch", launch, "--suite", "smoke"]

    for arch in (80, 90):
        for block, warps in ((256, 2), (512, 4), (1024, 8)):
            name = f"triton-sm{arch}-softmax-{block}.ptx"
            kernel = rows.softmax_kernel
            path = compiled(
                out / name, kernel, typed(kernel, "xy", of=single), {"x_col": 1, "BLOCK": block}, arch, (), num_warps=warps
            )
            sizes = [
                ("512+9", f"{block}+9"),
                ("cols <= 512", f"cols <= {block}"),
                ("[128]", f"[{32 * warps}]"),
                ('"16"', '"128"'),
            ]
            yield path, validate(path, launch_file("triton_softmax.json", sizes, out))

            name = f"triton-sm{arch}-layernorm_residual-{block}.ptx"
            kernel = rows.layernorm_residual_kernel
            types = typed(kernel, ("x", "residual", "gamma", "beta", "y"), ("epsilon",))
            ones = dict.fromkeys(("x_col", "r_col", "g_col", "b_col"), 1)
            path = compiled(out / name, kernel, types, ones | {"BLOCK": block}, arch, (), num_warps=warps)
            sizes = [
                ("256+9", f"{block}+9"),
                ("cols <= 256", f"cols <= {block}"),
                ("[128]", f"[{32 * warps}]"),
                ('"16"', '"128"'),
            ]
            yield path, validate(path, launch_file("triton_layernorm_residual.json", sizes, out))
        for interleaved, block in ((0, 64), (1, 64), (0, 128)):
            kernel = rows.rope_kernel
            types = typed(kernel, ("x", "y"), special={"cos": single, "sin": single})
            name = f"triton-sm{arch}-rope-{interleaved}-{block}.ptx"
            yield compiled(out / name, kernel, types, {"x_dim": 1, "INTERLEAVED": interleaved, "BLOCK": block}, arch), None
        for m, n, k, warps, stages in ((32, 32, 16, 2, 3), (64, 32, 32, 4, 2), (64, 64, 32, 4, 4)):
            tile = {"M": m, "N": n, "K": k}
            kernel = products.gelu_linear_kernel
            constants = {"x_col": 1, "w_col": 1, "b_col": 1, "BIAS": 1, "ERF": 0} | tile
            name = f"triton-sm{arch}-gelu_linear-{m}-{n}-{k}.ptx"
            types = typed(kernel, ("x", "w", "bias", "y"))
            divisible = ("x", "w", "hidden", "x_row", "w_row")
            path = compiled(out / name, kernel, types, constants, arch, divisible, num_warps=warps, num_stages=stages)
            sizes = [("tokens, 32", f"tokens, {m}"), ("out, 32", f"out, {n}"), ("[64]", f"[{32 * warps}]"), ("4096", "65536")]
            yield path, validate(path, launch_file("triton_gelu_linear.json", sizes, out))

            kernel = products.gemm_swiglu_kernel
            constants = {"x_col": 1, "g_col": 1, "u_col": 1} | tile
            types = typed(kernel, ("x", "w_gate", "w_up", "y"))
            name = f"triton-sm{arch}-gemm_swiglu-{m}-{n}-{k}.ptx"
            yield compiled(out / name, kernel, types, constants, arch, num_warps=warps, num_stages=stages), None
        for causal, queries, keys, dim in ((0, 64, 32, 64), (1, 64, 32, 64), (1, 32, 32, 128)):
            kernel = products.attention_kernel
            types = typed(kernel, "qkvo", ("scale",), special={"lse": single, "first_hidden": "i32"})
            constants = {"q_d": 1, "k_d": 1, "v_d": 1, "CAUSAL": causal, "QUERIES": queries, "KEYS": keys, "DIM": dim}
            yield compiled(out / f"triton-sm{arch}-attention-{causal}-{queries}-{dim}.ptx", kernel, types, constants, arch), None


def guessed(function):
    """Types and constants of a kernel's parameters: a pointer is what a load or a store begins with, or what grows in place."""
    parameters = function.args.args + function.args.kwonlyargs
    names = {a.arg for a in parameters}
    sources = collections.defaultdict(set)  # what an address in a variable begins with

    def root(node):
        while isinstance(node, ast.BinOp):
            node = node.left
        return node.id if isinstance(node, ast.Name) else ""

    pointers = {n for n in names if n.lower().endswith(("_ptr", "_ptrs"))}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            sources[node.targets[0].id].add(root(node.value))
        if (
            isinstance(node, ast.Call)
            and node.args
            and ast.unparse(node.func).split(".")[-1]
            in ("load", "store", "make_block_ptr", "make_tensor_descriptor", "atomic_add")
        ):
            pointers.add(root(node.args[0]))
    for _ in range(4):
        pointers |= {s for p in set(pointers) for s in sources[p]}
    types, constants = {}, {}
    for a in parameters:
        n = a.arg
        if a.annotation is not None and "constexpr" in ast.unparse(a.annotation):
            flag = n.split("_")[0] in ("IS", "HAS", "USE", "STORE", "OUTPUT", "RETURN", "REVERSE", "TRANS", "ALLOW", "HEAD")
            constants[n] = "tanh" if n.endswith("type") else False if flag or n.islower() else 64 if len(n) > 1 else 64
        elif n in pointers:
            types[n] = "*i64" if any(w in n.lower() for w in ("index", "indices", "cu_seq", "_idx", "offsets")) else "*fp32"
        else:
            real = ("eps", "scale", "alpha", "beta", "gamma", "smoothing", "softcap", "weight", "lse_square", "limit", "offset")
            types[n] = "fp32" if any(w in n.lower() for w in real) else "i32"
    return types, constants


def attempt(path, kernel, tree):
    """Compiles a kernel with guessed types in a process of its own, since a wrong guess can take the compiler minutes."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            compiled(path, kernel, *guessed(tree), 80, num_warps=4)
        finally:
            os._exit(0)
    end = time.monotonic() + 20
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        time.sleep(0.05)
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            end = float("inf")


def of_wheel(wheel, out, failed):
    archive = zipfile.ZipFile(wheel)
    for name in sorted(archive.namelist()):
        text = archive.read(name).decode() if name.endswith(".py") else ""
        if "triton" not in text or "jit" not in text or "/backends/" in name:  # the last are for the devices of other vendors
            continue
        stem = "wheel-" + name.removesuffix(".py").replace("/", "-")
        try:
            module, functions = jit_functions(text, out / f"{stem}.py")
        except Exception:
            failed.append(name)
            continue
        for kernel, tree in functions.items():
            if not any(isinstance(n, ast.Call) and ast.unparse(n.func).endswith("program_id") for n in ast.walk(tree)):
                continue  # a function that kernels call
            path = out / f"{stem}-{kernel}.ptx"
            if not path.exists():
                attempt(path, getattr(module, kernel), tree)
            if path.exists():
                yield path, None
            else:
                failed.append(f"{name}: {kernel}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--ours", action="store_true")
    parser.add_argument("--nvcc", metavar="ARCH")
    parser.add_argument("--triton", action="store_true")
    parser.add_argument("--wheel", nargs="+", default=[])
    flags = parser.parse_args()
    flags.out.mkdir(parents=True, exist_ok=True)
    build = flags.build.resolve()
    failed = []
    origins = []
    if flags.ours:
        origins.append(("this tree, in the programs of --backend ptx", ours(build, flags.out)))
    if flags.nvcc:
        origins.append((f"this tree, by nvcc for sm_{flags.nvcc}", by_nvcc(flags.nvcc, flags.out)))
    if flags.triton:
        origins.append(("examples/triton, for sm_80 and sm_90", our_triton(build, flags.out)))
    for wheel in flags.wheel:
        origins.append((pathlib.Path(wheel).name, of_wheel(wheel, flags.out, failed)))
    totals = collections.Counter()
    refused = []
    bad = []
    print("| origin | modules | decoded whole | entries | launched | passed |\n|---|---|---|---|---|---|")
    for origin, modules in origins:
        count = collections.Counter()
        for path, run in modules:
            line = subprocess.run([build / "bin/ptx_decode", path], text=True, capture_output=True).stdout
            _, run_entries, entries, _, why = line.rstrip("\n").split("\t")
            count.update(modules=1, whole=not why, entries=int(run_entries))
            if why:
                refused.append(why)
            if run and not why:
                done = subprocess.run([*run, "--quiet", "--no-shrink"], text=True, capture_output=True)
                count.update(launched=1, passed=done.returncode == 0)
                if done.returncode:
                    bad.append(f"{path.name}: {(done.stderr or done.stdout).strip()[-200:]}")
        print(f"| {origin} | " + " | ".join(str(count[k]) for k in ("modules", "whole", "entries", "launched", "passed")) + " |")
        sys.stdout.flush()
        totals += count
    print("| all | " + " | ".join(str(totals[k]) for k in ("modules", "whole", "entries", "launched", "passed")) + " |\n")
    for line in refused:
        print("refused:", line)
    for line in bad:
        print("not passed:", line)
    if failed:
        print(f"{len(failed)} kernels of the wheels were not compiled with the types that were guessed")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
