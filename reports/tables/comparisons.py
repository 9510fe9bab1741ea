# SPDX-License-Identifier: Apache-2.0
"""Tables that set our kernels beside others: PyTorch, Triton, libraries, a copy of the same bytes, the parts of a layer."""
import re

from records import BadInput, records_of

from .rows import dram, fastest, ours_of, rows_in, short, table, us

LLAMA = "heads=32 kv_heads=32 head_dim=128"
# Rows of the table "compared": label, op, dtype, shape.
COMPARED = [
    *[(f"LayerNorm + residual, {rows}×2560", "layernorm_residual", "f32", f"rows={rows} cols=2560") for rows in (1, 128, 4096)],
    ("LayerNorm + residual, 16384×8192", "layernorm_residual", "f16", "rows=16384 cols=8192"),
    *[
        (f"Llama-2-7B attention, {n} tokens", "attention_forward", "f16", f"batch=1 seq_q={n} seq_k={n} {LLAMA} mask=causal")
        for n in (512, 1024, 2048, 4096)
    ],
    *[
        (f"its feed-forward block with GELU, {n}", "ffn_gelu", "f16", f"tokens={n} hidden=4096 ffn=11008")
        for n in (512, 1024, 2048, 4096)
    ],
    *[
        (f"the whole layer, {n}", "transformer_layer", "f16", f"batch=1 seq_q={n} hidden=4096 {LLAMA} ffn=11008")
        for n in (512, 1024, 2048, 4096)
    ],
    *[
        (f"RMSNorm + GEMM, 4096 to 12288, {n} token{'s' * (n > 1)}", "rmsnorm_gemm", "f16", f"tokens={n} hidden=4096 out=12288")
        for n in (1, 512, 2048)
    ],
    *[
        (f"GEMM + SwiGLU, 4096 to 11008, {n} token{'s' * (n > 1)}", "gemm_swiglu", "f16", f"tokens={n} hidden=4096 ffn=11008")
        for n in (1, 512, 2048)
    ],
    *[
        (f"scores + softmax, {n} queries and keys", "attention_scores", "f16", f"batch=1 seq_q={n} seq_k={n} {LLAMA} mask=causal")
        for n in (512, 2048)
    ],
]
LN_SHAPES = [(16384, 8192), (16384, 2560), (4096, 2560), (2048, 2560), (128, 2560), (1, 2560)]


def compared(records):
    rows = []
    for words, op, dtype, shape in COMPARED:
        row = records.row(op, dtype, shape)
        ours = ours_of(row)
        library = fastest(row, "baseline_")
        others = [
            row.get("pytorch_eager_graph", row.get("pytorch_eager")),
            row.get("pytorch_compile"),
            row.get("unfused"),
            library,
        ]
        published = ours.get("suite", {}).get("reported", {}).get("speedup")
        unfused = row["unfused"]
        saved = f"{100 * (1 - ours['bytes']['formula'] / ours['bytes']['unfused_formula']):.0f} %"
        counted = f"{100 * (1 - dram(ours) / dram(unfused)):.0f} %" if "dram" in ours and dram(unfused) > 4e6 else "–"
        rows.append(
            [words, dtype, f"{published:g}×" if published else "–"]
            + [f"{us(r):.1f}" if r else "–" for r in others]
            + [f"{us(ours):.1f} (`{ours['kernel']}`)"]
            + [f"{us(r) / us(ours):.2f}×" if r else "–" for r in others]
            + [f"{counted} ({saved})"]
        )
    return table(
        [
            "",
            "dtype",
            "published speedup",
            "PyTorch eager",
            "`torch.compile`",
            "`unfused`",
            "library",
            "ours",
            "to eager",
            "to compiled",
            "to `unfused`",
            "to library",
            "DRAM saved: counted (formula)",
        ],
        rows,
    )


def layernorm_residual(records):
    rows = []
    for height, width in LN_SHAPES:
        for dtype in ("f16", "f32"):
            row = records.row("layernorm_residual", dtype, f"rows={height} cols={width}")
            best = row["block_row"]
            rows.append(
                [f"{height}×{width}", dtype]
                + [f"{us(row[k]):.1f} µs" if k in row else "–" for k in ("block_row", "warp_row", "unfused", "naive")]
                + [
                    f"{100 * best['share_of_copy']:.1f} % ({best['rate_bytes_per_s'] / 1e9:.0f} GB/s)",
                    f"{us(row['unfused']) / us(best):.2f}×",
                ]
            )
    return table(
        [
            "shape",
            "dtype",
            "`block_row`",
            "`warp_row`",
            "`unfused`",
            "`naive`",
            "`block_row`: share of the copy rate",
            "ratio to `unfused`",
        ],
        rows,
    )


def launches_of(record):
    return sorted((f["function"], f["blocks"], f["threads"], f["dynamic_shared"]) for f in record["resources"])


def layer_parts(records):
    tables = {}
    for row in rows_in(records.found("beside_layer-parts")).values():
        best = ours_of(row)
        tables.setdefault(best["suite"]["table"], {})[best["suite"]["label"]] = best
    rows = []
    of = {}
    for title, of in tables.items():
        layer = of.pop("layer")
        parts = [(int(label.split(" × ")[0]) if " × " in label else 1, part) for label, part in of.items()]
        if launches_of(layer) != sorted(launch for times, part in parts for launch in times * launches_of(part)):
            raise BadInput(f"beside_layer-parts, {title}: the layer launches other functions than its parts")
        each = [times * us(part) for times, part in parts]
        rows.append(
            [title, f"{us(layer):.1f}"] + [f"{part:.1f}" for part in each] + [f"{sum(each):.1f}", f"{sum(each) / us(layer):.3f}"]
        )
    return table(["", "layer, µs"] + list(of) + ["sum of the parts", "sum to layer"], rows)


def copies(records):
    clean = rows_in(records.found("copies_clean"))
    rows = []
    for (op, dtype, shape), row in rows_in(records.found("beside_copies")).items():
        best = ours_of(row)
        copy = [f"{best['copy_us']['median']:.1f}", f"{best['share_of_same_copy']:.3f}"] if "copy_us" in best else ["–", "–"]
        rows.append(
            [f"`{op}`", f"`{best['kernel']}`", f"`{shape}`", dtype, f"{1e-6 * best['bytes']['formula']:.0f}", f"{us(best):.1f}"]
            + copy
            + [f"{ours_of(clean[op, dtype, shape])['share_of_same_copy']:.3f}" if (op, dtype, shape) in clean else "–"]
        )
    return table(
        ["op", "kernel", "shape", "dtype", "MB", "µs", "the copy, µs", "copy to kernel", "L2 clean: copy to kernel"], rows
    )


def launched_or_replayed(ways, kernel):
    return min((us(ways[way]) for way in (kernel, kernel + "_graph") if way in ways), default=None)


def compiled(records):
    ours = rows_in(records.found("beside_few-rows", "beside_layer-parts"))
    rows = []
    for key, ways in rows_in(records.found("beside_pytorch_few-rows", "beside_pytorch_layer-parts")).items():
        best = ours_of(ours[key])
        times = [launched_or_replayed(ways, way) for way in ("pytorch_eager", "pytorch_compile")]
        rows.append(
            [f"`{key[0]}`", f"`{key[2]}`", key[1]]
            + [f"{t:.1f}" if t else "–" for t in times]
            + [f"{us(best):.1f} (`{best['kernel']}`)"]
            + [f"{t / us(best):.2f}×" if t else "–" for t in times]
        )
    return table(["op", "shape", "dtype", "PyTorch eager, µs", "`torch.compile`", "ours", "to eager", "to compiled"], rows)


def few_rows(records):
    rows = []

    def by_rows(row):
        return int(re.search(r"rows=(\d+)", row[0][2])[1])

    for (_, dtype, shape), ways in sorted(rows_in(records.found("few_rows_turns")).items(), key=by_rows):
        theirs, *ours = [launched_or_replayed(ways, way) for way in ("pytorch_compile", "block_row", "one_pack")]
        rows.append([f"`{shape}`", dtype, f"{theirs:.2f}"] + [f"{t:.2f} ({theirs / t:.2f}×)" for t in ours])
    return table(["shape", "dtype", "`torch.compile`, µs", "`block_row`", "`one_pack`"], rows)


def triton(records):
    rows = []
    for record in records_of(records.found("triton_times")):
        if record["record"] != "timing":
            continue
        if "left_out" in record:
            raise BadInput(f"triton_times: {record['op']} {record['shape']}: {record['left_out']}")
        best = min(record["beside"], key=lambda kernel: record["beside"][kernel]["median"])
        time = record["beside"][best]["median"]
        rows.append(
            [
                f"`{record['op']}`",
                f"`{short(record['shape'])}`",
                record["dtype"],
                f"{us(record):.1f}",
                f"{time:.1f} (`{best}`)",
                f"{us(record) / time:.2f}×",
            ]
        )
    return table(["op", "shape", "dtype", "Triton, µs", "ours", "Triton to ours"], rows)


TABLES = {
    "triton": triton,
    "layer_parts": layer_parts,
    "copies": copies,
    "compiled": compiled,
    "few_rows": few_rows,
    "compared": compared,
    "layernorm_residual": layernorm_residual,
}
