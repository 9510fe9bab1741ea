# SPDX-License-Identifier: Apache-2.0
"""Runs the kernels of kernels.py on the simulated machine in three orders of threads, and prints what became of each:

python reports/trial/triton/run.py [ARCH [NAME...]]
"""

import sys
import time
from collections import Counter

import numpy as np
import torch

import assay.triton
import kernels


def outcome(fn, arch, order):
    try:
        with assay.triton.simulate(arch, order=order):
            pairs = fn()
    except assay.Finding as e:
        return "alarm", str(e)
    except assay.InputError as e:
        return "refused", str(e)
    except Exception as e:  # of Triton's compiler
        return "not compiled", f"{type(e).__name__}: {str(e).strip().splitlines()[-1] if str(e).strip() else ''}"
    for got, expected in pairs:
        got = got.to(torch.float64).numpy()
        wrong = ~np.isclose(got, expected, rtol=1e-3, atol=1e-3)
        if wrong.any():
            return "wrong", f"{wrong.sum()} of {wrong.size} elements, by up to {np.abs(got - expected).max():.3g}"
    return "right", ""


def main():
    arch, *names = sys.argv[1:] or ["sm_80"]
    counts = Counter()
    for name in names or kernels.KERNELS:
        begin = time.perf_counter()
        for order in ("forward", "reverse", "shuffled"):
            what, why = outcome(kernels.KERNELS[name], arch, order)
            if what != "right":
                break
        counts[what] += 1
        print(f"{name:28} {what:13} {time.perf_counter() - begin:5.1f} s  {why}", flush=True)
    print(f"\n{arch}: {sum(counts.values())} kernels: {', '.join(f'{n} {what}' for what, n in counts.items())}")


if __name__ == "__main__":
    main()
