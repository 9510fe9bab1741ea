# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # From one kernel to a model
#
# A norm that sums its squares in half precision goes through this notebook: alone, against its bound, and inside a model. There
# the usual measures, perplexity and the likeliest tokens, do not show it.
#
# Jupyter (with jupytext) and VS Code open this file as a notebook; start them at the root of the repository. It runs as a script
# too, by `python examples/notebook/kernel_to_model.py`. It needs NumPy, the package assay (docs/python.md), and the program
# `validate` with its set `trial` (`cmake --build build --target validate set_trial`). With matplotlib it draws three plots, into the notebook or into
# the folder that is its first argument.

# %%
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import assay

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

TREE = Path(__file__).resolve().parents[2] if "__file__" in globals() else Path.cwd()
PLOTS = Path(sys.argv[1]) if len(sys.argv) > 1 and "ipykernel" not in sys.modules else None
VALIDATE = os.environ.get("ASSAY_VALIDATE", str(TREE / "build/bin/validate"))


def show(name):
    """Shows the plot, or stores it if a folder was given."""
    plt.tight_layout()
    if PLOTS:
        plt.savefig(PLOTS / f"{name}.svg")
        plt.close()
    else:
        plt.show()


# %% [markdown]
# ## One kernel
#
# RMSNorm in NumPy: y = x gamma / sqrt(mean(x²) + epsilon), the squares added in f32 or in f16.


# %%
def rmsnorm(x, gamma, epsilon, sums=np.float32):
    with np.errstate(over="ignore"):
        squares = np.add.reduce(x.astype(sums) ** 2, axis=1, dtype=sums, keepdims=True).astype(np.float32) / x.shape[1]
    return (x.astype(np.float32) / np.sqrt(squares + np.float32(epsilon)) * gamma.astype(np.float32)).astype(x.dtype)


rng = np.random.default_rng(1)
worst = {"f32": [], "f16": []}
widths = [64, 256, 1024, 4096]
for cols in widths:
    x, gamma = rng.standard_normal((32, cols)).astype(np.float16), rng.standard_normal(cols).astype(np.float16)
    for name, sums in (("f32", np.float32), ("f16", np.float16)):
        y = rmsnorm(x, gamma, 1e-5, sums)
        try:
            worst[name].append(assay.check("rmsnorm", y, x=x, gamma=gamma, epsilon=1e-5).margin)
        except assay.Mismatch as wrong:
            worst[name].append(wrong.result.margin)
        print(
            f"{cols:5} columns, sums in {name}: allclose at 1e-2 {np.allclose(y, rmsnorm(x, gamma, 1e-5), 1e-2, 1e-2)},"
            f" err/bound {worst[name][-1]:.3g}"
        )

# %% [markdown]
# `allclose` passes both. The bound follows from what a kernel declares, here sums in f32, so the error of sums in f16 exceeds it.

# %%
if plt:
    for name, margins in worst.items():
        plt.semilogx(widths, margins, "o-", label=f"sums in {name}")
    plt.axhline(1, color="black", linewidth=1)
    plt.xlabel("columns")
    plt.ylabel("largest err/bound")
    plt.legend()
    show("bound")

# %% [markdown]
# ## The same fault in a model
#
# The checkpoint of the tree has three layers and knows bytes. `rmsnorm_gemm/half_squares` is the fused norm and product with this
# fault, put into layer 1 alone. Every step of five passes is judged by its op's contract, from the inputs that it had.


# %%
def checked(*kernels):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "check.json"
        model = TREE / "datasets/checkpoints/bytes"
        command = [
            VALIDATE,
            "model",
            "--set",
            "trial",
            model,
            "--check",
            "--text",
            model / "heldout.txt",
            "--backend",
            "simt",
            "--json",
            file,
        ]
        for kernel in ("naive", *kernels):
            command += ["--kernel", kernel]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        print(done.stdout + done.stderr)
        return json.loads(file.read_text(encoding="utf-8"))


right, wrong = checked(), checked("rmsnorm_gemm/half_squares@1")
for what, found in (("sound", right), ("one broken kernel", wrong)):
    steps = sum(k["wrong"] for k in found["kernels"].values())
    print(f"{what}: perplexity {found['perplexity']:.4f}, {found['other_decided']} decided tokens differ, {steps} steps wrong")

# %% [markdown]
# Perplexity stays in its band and no decided token changes, so a test of the model's answers passes. The check of steps names the
# kernel.

# %%
if plt:
    names = sorted(wrong["kernels"])
    plt.barh(names, [wrong["kernels"][n]["margin"] for n in names])
    plt.axvline(1, color="black", linewidth=1)
    plt.xlabel("largest err/bound of its steps")
    show("steps")

# %% [markdown]
# ## What the kernels are worth
#
# An H200 timed whole models on the kernels of this tree, and Hugging Face's implementations after them (`docs/model.md` says how).

# %%
records = TREE / "reports/baselines/nvidia-h200"


def rates(name):
    """Tokens a second at batch 1 after a prompt of 128 tokens, by model and way."""
    lines = [json.loads(line) for line in (records / name).read_text(encoding="utf-8").splitlines()]
    return {(Path(r["config"]).stem, r["way"]): r["tokens_s"] for r in lines if (r["batch"], r["prompt"]) == (1, 128)}


speed = rates("model_times.jsonl") | rates("model_hf.jsonl")
models = sorted({model for model, way in speed if way != "assay"})
for model in models:
    print(f"{model:14}", *(f"{way} {rate:,.0f} tokens/s" for (m, way), rate in sorted(speed.items()) if m == model), sep="  ")

# %%
if plt:
    for at, way in enumerate(sorted({way for _, way in speed})):
        rows = [(i + 0.25 * at, speed[model, way]) for i, model in enumerate(models) if (model, way) in speed]
        plt.bar(*zip(*rows), width=0.25, label=way)
    plt.xticks([i + 0.25 for i in range(len(models))], models)
    plt.yscale("log")
    plt.ylabel("tokens a second")
    plt.legend()
    show("models")
