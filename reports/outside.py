#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges kernels that others wrote, and the Triton kernels of examples/triton, on a GPU, and prints a table of verdicts.

    python reports/outside.py RECORDS_DIR [SUITE] [NAME...]      NAME: of KERNELS, or the beginning of one

A callable declines what its kernel is known not to take, and declares how it computes; `note` says why, and what a failure means.
With ASSAY_TRITON_SIMULATE=sm_90 kernels of Triton run on the simulated machine (docs/triton.md).
"""

import importlib
import os
import re
import sys
import warnings
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import assay

ROOT = Path(__file__).resolve().parents[1]
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 4096  # else it goes on eagerly
torch._dynamo.config.specialize_float = True  # else a second epsilon compiles code whose norms have other last bits
warnings.simplefilter("ignore")

# --- PyTorch ----------------------------------------------------------------------------------------------------------


def softmax(x):
    return F.softmax(x, -1)


def layernorm(x, gamma, beta, epsilon):
    return F.layer_norm(x, gamma.shape, gamma, beta, epsilon)


def rmsnorm(x, gamma, epsilon):
    return F.rms_norm(x, gamma.shape, gamma, epsilon)


def layernorm_residual(x, residual, gamma, beta, epsilon):
    return layernorm(x, gamma, beta, epsilon) + residual


def linear(x, weight, bias):
    return F.linear(x, weight, bias)


def gelu(x, form):
    return F.gelu(x, approximate="none" if form == "erf" else "tanh")


def silu_mul(gate, up):
    return F.silu(gate) * up


def gelu_linear(x, weight, bias, form):
    return gelu(F.linear(x, weight, bias), form)


def gemm_swiglu(x, w_gate, w_up):
    return silu_mul(F.linear(x, w_gate), F.linear(x, w_up))


def ffn_gelu(x, w1, b1, w2, b2, form, bias):
    if bias and len(x) == 1 and x.dtype != torch.float32:
        raise assay.Unsupported("stores a product of one token before it adds the bias: if declared, that leaves bf16 no bound")
    return F.linear(gelu(F.linear(x, w1, b1), form), w2, b2)


def embedding(table, ids):
    return F.embedding(ids.long(), table)


def cross_entropy(x, target):
    loss = F.cross_entropy(x.float(), target.long(), reduction="none")
    return loss, loss.mean().reshape(1)


def compiled(fn):
    return torch.compile(fn, dynamic=True)


def aligned(*tensors):
    """Declines tensors that 16-byte loads cannot read, which attention kernels do not refuse themselves."""
    for t in tensors:
        strides = [s for s, n in zip(t.stride()[:-1], t.shape) if n > 1]
        if any(at % 16 for at in (t.data_ptr(), *(s * t.element_size() for s in strides))):
            raise assay.Unsupported("rows do not begin at multiples of 16 bytes")


def logsumexp(q, k, mask, scale):
    """By other kernels, as the attention kernels of others return none or another's."""
    s = torch.einsum("bihd,bjhd->bhij", q.float(), k.float()) * scale
    if mask != "none":
        s = s.masked_fill(torch.ones(s.shape[-2:], device=q.device, dtype=torch.bool).triu(1), float("-inf"))
    return s.logsumexp(-1)


def attention(compute, takes=lambda q, mask: None):
    def attention_forward(q, k, v, mask, scale):
        if mask == "causal" and q.shape[1] != k.shape[1]:
            raise assay.Unsupported("aligns a causal mask with the first key")
        if min(q.numel(), k.numel()) == 0:
            raise assay.Unsupported("no queries or keys")
        why = takes(q, mask)
        if why:
            raise assay.Unsupported(why)
        scale = scale or q.shape[3] ** -0.5
        group = q.shape[2] // k.shape[2]
        return compute(q, k, v, mask, scale), logsumexp(q, k.repeat_interleave(group, 2), mask, scale)

    return attention_forward


def sdpa(backend):
    def compute(q, k, v, mask, scale):
        if backend != SDPBackend.MATH:
            aligned(q, k, v)
        group = q.shape[2] // k.shape[2]
        q, k, v = (t.transpose(1, 2) for t in (q, k.repeat_interleave(group, 2), v.repeat_interleave(group, 2)))
        with sdpa_kernel(backend):
            try:
                return F.scaled_dot_product_attention(q, k, v, is_causal=mask != "none", scale=scale).transpose(1, 2)
            except RuntimeError as e:
                if "No available kernel" in str(e):
                    raise assay.Unsupported("this backend has no kernel for the case") from None
                raise

    return attention(compute)


ANY = "accumulate=f32 chain=1"
STORES = ANY + " stores=all"
FFN = ANY + " stores=z,h"
MMA = " mma_terms=16"
RSQRT = " quotient_error=4"  # rsqrt, 2 ulp, in the place of a division by sqrt
TRITON = " function_error=128 quotient_error=4 flushes_subnormals"  # its exp is ex2.approx(x log2(e))
SIGMOID = " exponent_error=2 quotient_error=4 flushes_subnormals"
EXP_OVERFLOWS = " flushes_subnormals"  # 1 / (1 + exp(-x)) is 0 where exp(-x) overflows, at x below -88.7
ATTENTION = ANY + " stores=exps rescales=32" + TRITON + MMA
BLAS = {"position_matters": True}
FINITE = {"finite_inputs": True, "position_matters": True}
MOMENTS = "Welford's moments, which threads merge; rsqrt"
KERNELS = {  # name: op, function, numerics, options of validate(), note
    "PyTorch softmax": ("softmax", softmax, ANY, {}, ""),
    "PyTorch layer_norm": ("layernorm", layernorm, ANY + " running_moments" + RSQRT, {}, MOMENTS),
    "PyTorch rms_norm": ("rmsnorm", rmsnorm, ANY + RSQRT, {"finite_inputs": True}, "rsqrt"),
    "PyTorch rms_norm, infinities": (
        "rmsnorm",
        rmsnorm,
        ANY + RSQRT,
        {},
        "fails: unless 4 divides the columns, the mean square is variance + mean^2, so an infinity makes it NaN, and with it the "
        "whole row, where the formula gives 0",
    ),
    "PyTorch layer_norm + residual": (
        "layernorm_residual",
        layernorm_residual,
        STORES + " running_moments" + RSQRT,
        {},
        MOMENTS,
    ),
    "PyTorch linear": ("linear", linear, STORES + MMA, BLAS, "stores a product of one token before it adds the bias"),
    "PyTorch gelu": ("gelu", gelu, ANY + " cancelling_gelu", {}, "x/2 (1 + erf), which cancels"),
    "PyTorch silu * up": ("silu_mul", silu_mul, STORES + EXP_OVERFLOWS, {}, "silu is 0 where exp(-x) overflows"),
    "PyTorch linear, gelu": ("gelu_linear", gelu_linear, STORES + MMA + " cancelling_gelu", BLAS, ""),
    "PyTorch swiglu": ("gemm_swiglu", gemm_swiglu, STORES + MMA + EXP_OVERFLOWS, BLAS, ""),
    "PyTorch ffn": ("ffn_gelu", ffn_gelu, FFN + MMA + " cancelling_gelu", BLAS, ""),
    "PyTorch embedding": ("embedding", embedding, None, {}, ""),
    "PyTorch cross_entropy": ("cross_entropy", cross_entropy, ANY, {}, ""),
    "SDPA math": ("attention_forward", sdpa(SDPBackend.MATH), ATTENTION, FINITE, ""),
    "SDPA flash": (
        "attention_forward",
        sdpa(SDPBackend.FLASH_ATTENTION),
        ATTENTION,
        FINITE,
        "reads tensors that do not begin at a multiple of 16 bytes, and the process loses its device; they are declined here",
    ),
    "SDPA efficient": (
        "attention_forward",
        sdpa(SDPBackend.EFFICIENT_ATTENTION),
        ATTENTION,
        FINITE,
        "fails for subnormal queries in f32, whose products it makes of TF32 pieces: these have no digits below 2^-136",
    ),
    "SDPA cudnn": ("attention_forward", sdpa(SDPBackend.CUDNN_ATTENTION), ATTENTION, FINITE, ""),
}

# --- Our Triton kernels, and packages ---------------------------------------------------------------------------------


def add_ours():
    sys.path.insert(0, str(ROOT / "examples/triton"))
    for op, (fn, numerics) in importlib.import_module("validate").KERNELS.items():
        KERNELS[f"examples/triton {op}"] = (op, fn, numerics, {}, "")


def add_liger():
    ops = {m: importlib.import_module(f"liger_kernel.ops.{m}") for m in ("layer_norm", "rms_norm", "softmax", "swiglu")}
    norm, rms = ops["layer_norm"].LigerLayerNormFunction, ops["rms_norm"].LigerRMSNormFunction
    softmax_of, silu_mul_of = ops["softmax"].LigerSoftmaxFunction, ops["swiglu"].LigerSiLUMulFunction

    def swiglu(gate, up):
        if gate.shape[1] == 0:
            raise assay.Unsupported("takes no rows without columns")
        return silu_mul_of.apply(gate, up)

    of = {
        "softmax": ("softmax", lambda x: softmax_of.apply(x), ANY + " rescales=1024" + TRITON),
        "layer_norm": ("layernorm", lambda x, gamma, beta, epsilon: norm.apply(x, gamma, beta, epsilon), ANY + RSQRT),
        "rms_norm": ("rmsnorm", lambda x, gamma, epsilon: rms.apply(x, gamma, epsilon), STORES + RSQRT),
        "swiglu": ("silu_mul", swiglu, STORES + SIGMOID),
    }
    KERNELS.update({f"liger_kernel {name}": (*made, {}, "") for name, made in of.items()})


def add_fla():
    norms = importlib.import_module("fla.modules.norm.layernorm")
    activations = importlib.import_module("fla.modules.activations.ops")
    parallel = importlib.import_module("fla.ops.attn.parallel").parallel_attn
    for kernel in (norms.layer_norm_fwd_kernel, norms.layer_norm_fwd_kernel_row, activations.swiglu_fwd_kernel):
        kernel.configs = kernel.configs[:1]  # else each width and dtype compiles all 4 to 30, some slowly
    roots = ANY + " root_error=4" + RSQRT
    causal = attention(
        lambda q, k, v, mask, scale: parallel(q, k, v, scale=scale),
        lambda q, mask: "is causal" if mask == "none" else "multiplies f32 as TF32" if q.dtype == torch.float32 else None,
    )

    def parallel_attn(q, k, v, mask, scale):
        """The kernel takes as many queries as keys: zeros stand for queries before the first, and keys that none sees go."""
        queries = q.shape[1]
        more = k.shape[1] - q.shape[1]
        if more < 0:
            raise assay.Unsupported("takes no more queries than keys")
        if mask == "causal":
            q = F.pad(q, (0, 0, 0, 0, more, 0))
        else:
            k = k[:, :queries]
            v = v[:, :queries]
            more = 0
        o, lse = causal(q, k, v, mask, scale)
        return o[:, more:], lse[..., more:]

    of = {
        "layer_norm": ("layernorm", lambda x, gamma, beta, epsilon: norms.layer_norm(x, gamma, beta, eps=epsilon), roots),
        "rms_norm": ("rmsnorm", lambda x, gamma, epsilon: norms.rms_norm(x, gamma, None, eps=epsilon), roots),
        "swiglu": ("silu_mul", lambda gate, up: activations.swiglu(gate, up), ANY + SIGMOID),
    }
    KERNELS.update({f"fla {name}": (*made, {}, "the first of its configurations") for name, made in of.items()})
    wide = "fails for more than 128 channels, where it asks for more shared memory than an H200 has"
    KERNELS["fla parallel_attn"] = ("attention_forward", parallel_attn, ATTENTION, FINITE, wide)


def add_flash_attn():
    fn = importlib.import_module("flash_attn").flash_attn_func

    def compute(q, k, v, mask, scale):
        aligned(q, k, v)
        return fn(q, k, v, softmax_scale=scale, causal=mask != "none")

    takes = lambda q, mask: "takes 16 bits" if q.dtype == torch.float32 else None  # noqa: E731
    KERNELS["flash_attn"] = ("attention_forward", attention(compute, takes), ATTENTION, FINITE, "")


def add_xformers():
    ops = importlib.import_module("xformers.ops")

    def compute(q, k, v, mask, scale):
        aligned(q, k, v)
        group = q.shape[2] // k.shape[2]
        bias = ops.LowerTriangularMask() if mask != "none" else None
        return ops.memory_efficient_attention(q, k.repeat_interleave(group, 2), v.repeat_interleave(group, 2), bias, scale=scale)

    KERNELS["xformers attention"] = ("attention_forward", attention(compute), ATTENTION, FINITE, "")


def add_compiled():
    of = {
        "softmax": (softmax, ANY + TRITON, {}),
        "layernorm": (layernorm, ANY + " running_moments" + RSQRT, {}),
        "rmsnorm": (rmsnorm, ANY + RSQRT, {}),
        "layernorm_residual": (layernorm_residual, ANY + " running_moments" + RSQRT, {}),
        "silu_mul": (silu_mul, STORES + SIGMOID, {}),
        "cross_entropy": (cross_entropy, ANY + " rescales=32" + TRITON, {}),
        "gelu_linear": (gelu_linear, STORES + MMA + " cancelling_gelu", BLAS),
        "gemm_swiglu": (gemm_swiglu, ANY + " stores=gate,up" + MMA + SIGMOID, BLAS),
        "ffn_gelu": (ffn_gelu, FFN + MMA + " cancelling_gelu", BLAS),
    }
    for op, (fn, numerics, options) in of.items():
        KERNELS[f"torch.compile {op}"] = (op, compiled(fn), numerics, options, "")


def add(name, make):
    """Adds the kernels of a package, or names it."""
    try:
        make()
    except Exception as e:  # pylint: disable=broad-except  # what an import may raise is the package's
        print(f"not installed here: {name} ({' '.join(str(e).split())[:100]})", file=sys.stderr)


def row(name, folder, suite):
    """A line of the table, and whether the device is lost to this process."""
    op, fn, numerics, options, note = KERNELS[name]
    file = folder / (re.sub(r"\W+", "_", name) + ".jsonl")
    said = ""
    arch = os.environ.get("ASSAY_TRITON_SIMULATE")
    where = {"simulate": arch} if arch else {"device": "cuda"}
    try:
        run = assay.validate(op, fn, suite=suite, numerics=numerics, isolation="none", records=str(file), **where, **options)
    except (assay.Mismatch, assay.Incomplete) as e:
        run = e.result
        said = " ".join(str(e).split())
    except assay.Error as e:
        return f"| {name} | {op} | {type(e).__name__} | | | {' '.join(str(e).split())[:200]} |", False
    v = run.verdicts
    bad = sum(v[k] for k in ("failed", "crashed", "timeout", "suspect"))
    told = "; ".join(filter(None, [note, said[:300]])).replace("|", "\\|")
    return f"| {name} | {op} | {v['passed']} | {bad} | {v['unsupported']} | {run.margin:.3g} | {told} |", "CUDA error" in said


def main() -> int:
    folder, suite, *wanted = sys.argv[1:2] + (sys.argv[2:] or ["smoke"])
    Path(folder).mkdir(parents=True, exist_ok=True)
    packages = {"examples/triton": add_ours, "liger_kernel": add_liger, "fla": add_fla, "flash_attn": add_flash_attn}
    packages |= {"xformers": add_xformers, "torch.compile": add_compiled}
    for name, make in packages.items():
        add(name, make)
    for name in ("apex", "transformer_engine", "flashinfer", "cudnn"):
        add(name, lambda n=name: importlib.import_module(n))
    again = os.environ.get("OUTSIDE_GOES_ON")
    names = [n for n in KERNELS if not wanted or any(n.startswith(w) for w in wanted)]
    names = names[int(again) :] if again else names
    if not again:
        print("| kernel | op | passed | failed | unsupported | err/bound | what is known, first finding |")
        print("|---|---|---|---|---|---|---|")
    for i, name in enumerate(names):
        line, lost = row(name, Path(folder), suite)
        print(line, flush=True)
        if lost and i + 1 < len(names):  # a new process goes on with the next
            os.environ["OUTSIDE_GOES_ON"] = str(int(again or 0) + i + 1)
            os.execv(sys.executable, [sys.executable, *sys.argv])
    return 0


if __name__ == "__main__":
    sys.exit(main())
