# SPDX-License-Identifier: Apache-2.0
"""Judges the Triton kernels of this folder (docs/python.md):  python examples/triton/validate.py [SUITE] [OP...]

Without a GPU, on the simulated machine (docs/triton.md):  python examples/triton/validate.py --simulate sm_80 [SUITE] [OP...]
On a GPU, from the PTX for an older one, which simulate() runs too:  python examples/triton/validate.py --compile-for sm_80 [SUITE] [OP...]
Without a GPU, in Triton's interpreter:  TRITON_INTERPRET=1 python examples/triton/validate.py sanitize
"""

import argparse
import os
import sys
from pathlib import Path

import assay

sys.path.insert(0, str(Path(__file__).parent))
import products  # noqa: E402
import rows  # noqa: E402

# How each computes.  Triton's exp is ex2.approx(x log2(e)), whose error grows with |x| up to 104; its / errs by 2 ulp.
EXP, SIGMOID = "function_error=128 quotient_error=4 flushes_subnormals", "exponent_error=2 quotient_error=4 flushes_subnormals"
KERNELS = {
    "softmax": (rows.softmax, f"accumulate=f32 chain=1 {EXP}"),
    "layernorm_residual": (rows.layernorm_residual, "accumulate=f32 chain=1"),
    "rope": (rows.rope, "accumulate=f32 chain=1"),
    "gelu_linear": (products.gelu_linear, f"accumulate=f32 chain=1 mma_terms=16 cancelling_gelu {SIGMOID}"),
    "gemm_swiglu": (products.gemm_swiglu, f"accumulate=f32 chain=1 mma_terms=16 {SIGMOID}"),
    "attention_forward": (
        products.attention_forward,
        f"accumulate=f32 chain=1 mma_terms=16 stores=exps rescales=32 {EXP}",
    ),
}


def compile_for(arch: int) -> None:
    """Makes Triton compile for this arch, and ptxas make code for the GPU that is there from its PTX."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.backends.nvidia.compiler import CUDABackend

    driver, make = triton.runtime.driver.active, CUDABackend.make_cubin
    here = driver.get_current_target().arch
    driver.get_current_target = lambda: GPUTarget("cuda", arch, 32)
    CUDABackend.make_cubin = lambda self, source, metadata, options, capability: make(self, source, metadata, options, here)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulate", metavar="ARCH")
    parser.add_argument("--compile-for", metavar="ARCH")
    parser.add_argument("--isolation", default="process", choices=("process", "none"))
    parser.add_argument("--jobs", type=int, help="workers at a time")
    parser.add_argument("suite", nargs="?", default="smoke")
    parser.add_argument("ops", nargs="*")
    options = parser.parse_args()
    # Note: the interpreter truncates to bf16, where a GPU rounds to nearest, and its products depend on the place of a row.
    interpreted = {"device": "cpu", "dtypes": ["f16", "f32"], "position_matters": True}
    where = interpreted if os.environ.get("TRITON_INTERPRET") == "1" else {"device": "cuda"}
    if options.simulate:
        where = {"simulate": options.simulate}
    if options.compile_for:
        compile_for(int(options.compile_for.removeprefix("sm_")))
        options.isolation = "none"  # Note: a worker of its own would compile for the GPU that is there
    if options.jobs:
        where["flags"] = ["--jobs", str(options.jobs)]
    wrong = 0
    for op in options.ops or KERNELS:
        fn, numerics = KERNELS[op]
        try:
            run = assay.validate(
                op, fn, suite=options.suite, numerics=numerics, records=f"{op}.jsonl", isolation=options.isolation, **where
            )
            print(f"{op:20} passed   {dict(run.verdicts)}  err/bound {run.margin:.3g}", flush=True)
        except assay.Error as e:
            wrong += 1
            print(f"{op:20} {type(e).__name__}\n{e}\n", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
