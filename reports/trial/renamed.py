#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rewrites declarations of unpacked kernels in the words of this tree: what a kernel stores is named by `.stores` now.

  renamed.py FOLDER    where FOLDER/OP/... are kernels of OP
"""
import pathlib
import re
import sys

WORDS = {
    "stores_intermediate": {
        "attention_scores": "scores",
        "ffn_gelu": "z,h",
        "gelu_linear": "z",
        "gemm_swiglu": "gate,up",
        "layernorm_linear": "n",
        "layernorm_residual": "normalised",
        "residual_rmsnorm": "xhat",
        "rmsnorm": "xhat",
        "rmsnorm_gemm": "n",
        "silu_mul": "s",
        "softmax": "exps",
    },
    "narrow_probabilities": {"attention_backward": "p_of_dv,ds", "ffn_gelu": "h", "paged_attention": "exps"},
    "rounds_weights": {"rmsnorm_gemm": "scaled_weight"},
}


def main():
    folder = pathlib.Path(sys.argv[1])
    for path in folder.rglob("*.cu"):
        op = path.relative_to(folder).parts[0]
        text = path.read_text(encoding="utf-8")
        for word, steps in WORDS.items():
            if op in steps:
                text = re.sub(rf"\.{word} = true", f'.stores = "{steps[op]}"', text)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
