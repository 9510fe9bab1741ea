# SPDX-License-Identifier: Apache-2.0
"""Tables of verdicts: how many cases each suite has, and how near to its bound each kernel comes."""
from records import records_of

from .rows import table


def verdicts(records):
    rows = []
    for words, pattern in (
        ("`smoke`", "smoke.jsonl*"),
        ("`smoke`, 9 kernels more", "smoke_later.jsonl*"),
        ("`full`, all ops but the layer", "full_*of4.jsonl*"),
        ("`full`, `transformer_layer`", "full_transformer_layer.jsonl*"),
        ("`long`", "long.jsonl*"),
    ):
        count = dict.fromkeys(("passed", "failed", "suspect", "unsupported", "skipped"), 0)
        for case in records_of(records.paths(pattern)):
            if case["record"] == "case":
                count[case["verdict"]] += 1
        rows.append([words] + [f"{n:,}" for n in count.values()])
    return table(["suite", "passed", "failed", "suspect", "unsupported as declared", "skipped"], rows)


def margins(records):
    worst = {}
    for case in records_of(records.paths("full_*of4.jsonl.gz")):
        if case["record"] == "case" and case["op"] == "layernorm_residual" and case["verdict"] == "passed" and "margin" in case:
            key = case["kernel"], case["dtype"]
            worst[key] = max(worst.get(key, 0), case["margin"])
    return table(
        ["kernel", "f16", "bf16", "f32"],
        [
            [f"`{kernel}`"] + [f"{worst[kernel, dtype]:.3f}" for dtype in ("f16", "bf16", "f32")]
            for kernel in ("naive", "warp_row", "block_row", "unfused")
        ],
    )


TABLES = {"margins": margins, "verdicts": verdicts}
