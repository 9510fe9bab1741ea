#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of docs/results-h200.md from records:
  results.py [FOLDER] [PAGE] [--check]
Rewrites the text of PAGE between <!-- begin NAME --> and <!-- end NAME -->.  FOLDER is a device's folder in reports/baselines.
--check writes nothing.  Exit codes: 0 the page has these tables, 1 (--check) it has others, 2 bad usage."""
import glob
import os
import re

from records import BadInput, Parser, judged, records_of

HERE = os.path.dirname(os.path.abspath(__file__))
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
SUITES = [f"{kind}_{name}.jsonl*" for kind in ("suite", "pytorch") for name in ("ln-residual", "llama2-7b", "fused-ops")]
SUITES.append("pytorch_compile.jsonl*")
LN_SHAPES = [(16384, 8192), (16384, 2560), (4096, 2560), (2048, 2560), (128, 2560), (1, 2560)]


class Records:
    def __init__(self, folder):
        self.folder = folder
        self.rows = {}
        # Note: only these suites, since others have some of the same rows from other runs.
        for record in records_of([path for suite in SUITES for path in self.paths(suite)]):
            if record["record"] in ("bench", "timing") and "time_us" in record:
                self.rows.setdefault((record["op"], record["dtype"], axes_of(record["shape"])), {})[record["kernel"]] = record

    def paths(self, pattern):
        found = sorted(glob.glob(os.path.join(self.folder, pattern)))
        if not found:
            raise BadInput(f"'{self.folder}' has no {pattern}")
        return found

    def found(self, *names):
        return [path for name in names for path in sorted(glob.glob(os.path.join(self.folder, name + ".jsonl*")))]

    def row(self, op, dtype, shape):
        try:
            return self.rows[op, dtype, axes_of(shape)]
        except KeyError:
            raise BadInput(f"no times of {op} {dtype} {shape}")


def axes_of(shape):
    return tuple(sorted(shape.split()))


def us(record):
    return record["time_us"]["median"]


def is_ours(kernel):
    return not kernel.startswith(("baseline_", "pytorch_")) and kernel not in ("unfused", "naive")


def dram(record):
    return record["dram"]["read_bytes"] + record["dram"]["written_bytes"]


def table(columns, rows):
    return ["| " + " | ".join(cells) + " |" for cells in [columns, ["---"] * len(columns)] + rows]


def compared(records):
    rows = []
    for words, op, dtype, shape in COMPARED:
        row = records.row(op, dtype, shape)
        ours = ours_of(row)
        library = min((r for kernel, r in row.items() if kernel.startswith("baseline_")), key=us, default=None)
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


def rows_in(paths):
    """The rows of files in their order: {(op, dtype, shape): {kernel: record}}."""
    rows = {}
    for record in records_of(paths):
        if record["record"] in ("bench", "timing") and "time_us" in record:
            rows.setdefault((record["op"], record["dtype"], record["shape"]), {})[record["kernel"]] = record
    return rows


def hopper(records, name):
    """The rows of a file of `.ci/hopper`: {(dtype, shape): {kernel: record}}."""
    return {key[1:]: row for key, row in rows_in(records.paths(f"hopper_{name}.jsonl*")).items()}


def fastest(row, begin):
    return min((r for kernel, r in row.items() if kernel.startswith(begin)), key=us, default=None)


def ours_of(row):
    return min((r for kernel, r in row.items() if is_ours(kernel)), key=us)


def ratio(row, other):
    """The other's time over that of our fastest kernel for sm_90a."""
    other = fastest(row, other)
    return f"{us(other) / us(fastest(row, 'sm90_')):.2f}" if other else "–"


def share(row):
    best = fastest(row, "sm90_")
    return f"{100 * best['share_of_limit']:.0f} % of {best['limit']}"


def short(shape):
    """A shape in words of the page: heads and tokens once where keys and queries have the same."""
    a = dict(word.split("=") for word in shape.split())
    if "seq_q" in a and a["seq_q"] == a.get("seq_k"):
        a["tokens"] = a.pop("seq_q")
        a.pop("seq_k")
    if "heads" in a and a["heads"] == a.get("kv_heads"):
        a.pop("kv_heads")
    order = ["batch", "tokens", "seq_q", "seq_k"]
    return " ".join(f"{k}={a[k]}" for k in sorted(a, key=lambda k: order.index(k) if k in order else len(order)))


def sm90_attention(records):
    return table(
        ["shape", "dtype", "µs", "to cuDNN", "to `mma_tiled`", "share"],
        [
            [
                f"`{short(shape)}`",
                dtype,
                f"{us(fastest(row, 'sm90_')):.1f}",
                ratio(row, "baseline_cudnn"),
                ratio(row, "mma_tiled"),
                share(row),
            ]
            for (dtype, shape), row in hopper(records, "attention_forward").items()
        ],
    )


def sm90_backward(records):
    rows = []
    cudnn = {}
    for record in records_of(records.paths("pytorch_attention_backward.jsonl*")):
        if record["record"] == "timing" and "time_us" in record:
            cudnn[record["dtype"], record["shape"]] = record
    for (dtype, shape), row in hopper(records, "attention_backward").items():
        if "sm90_fused" not in row:
            continue
        fused, steps, other = us(row["sm90_fused"]), us(row["sm90_wgmma"]), us(cudnn[dtype, shape])
        rows.append(
            [
                f"`{short(shape)}`",
                dtype,
                f"{fused:.1f}",
                f"{steps:.1f}",
                f"{other:.1f}",
                f"{other / fused:.2f}",
                f"{other / steps:.2f}",
                f"{100 * row['sm90_fused']['share_of_matrix']:.0f} %",
            ]
        )
    return table(
        [
            "shape",
            "dtype",
            "`sm90_fused`, µs",
            "`sm90_wgmma`",
            "cuDNN",
            "`sm90_fused` to cuDNN",
            "`sm90_wgmma` to cuDNN",
            "share of matrix",
        ],
        rows,
    )


def attention_turns(records):
    rows = []
    for record in records_of(records.paths("attention_turns.jsonl")):
        times = record["median_us"]
        cells = [
            f"{times[k]:.1f} ({times['cudnn'] / times[k]:.2f}×)" if k in times else "–" for k in ("sm90_fused", "sm90_wgmma")
        ]
        rows.append([f"`{record['op']}`", f"`{record['shape']}`", f"{times['cudnn']:.1f}"] + cells)
    return table(["op", "shape", "cuDNN 9.19, µs", "`sm90_fused`", "`sm90_wgmma`"], rows)


def attention_alone(records):
    """Windows and packed sequences beside the same shape without them; means of the runs of a row."""
    runs = {}
    for record in records_of(records.paths("attention_alone.jsonl*")):
        if record["record"] == "bench":
            runs.setdefault(record["shape"], []).append(record)
    mean = lambda shape, of: sum(of(r) for r in runs[shape]) / len(runs[shape])
    plain = lambda shape: " ".join(word for word in shape.split() if not word.startswith(("window=", "packed=", "fill=")))
    rate = lambda r: r["rate_flops_per_s"]
    rows = [
        [
            f"`{short(shape)}`",
            f"{mean(shape, us):.1f}",
            f"{100 * mean(shape, lambda r: r['share_of_matrix']):.0f} %",
            f"{mean(shape, rate) / mean(plain(shape), rate):.2f}" if shape != plain(shape) else "–",
        ]
        for shape in sorted(runs, key=lambda s: (plain(s), s != plain(s), s))
    ]
    return table(["shape", "µs", "share of matrix", "rate ÷ rate of the plain shape"], rows)


def sm90_products(records):
    columns = {
        "linear": "baseline_cublaslt",
        "gelu_linear": "baseline_cublaslt",
        "gemm_swiglu": "baseline_cublaslt",
        "rmsnorm_gemm": "baseline_cublaslt",
        "ffn_gelu": "baseline_cublaslt",
        "layernorm_linear": "unfused",
    }
    rows = []
    for tokens in (1, 64, 512, 2048, 8192):
        cells = []
        for op, other in columns.items():
            found = [
                ratio(row, other)
                for (dtype, shape), row in {**hopper(records, op), **few(records, op)}.items()
                if re.match(f"tokens={tokens} hidden=4096 (out|ffn)=(12288|11008)\\b", shape)
            ]
            cells.append(found[0] if found else "–")
        rows.append([f"{tokens:,}"] + cells)
    return table(
        [
            "tokens",
            "`linear`, 12,288 features",
            "`gelu_linear`, 11,008",
            "`gemm_swiglu`, 11,008",
            "`rmsnorm_gemm`, 12,288",
            "`ffn_gelu`, 11,008",
            "`layernorm_linear`, 12,288",
        ],
        rows,
    )


def few(records, op):
    return hopper(records, f"few-{op}") if op != "layernorm_linear" else {}


def copied(row):
    return f"{100 * fastest(row, 'sm90_')['share_of_copy']:.0f} %"


def sm90_linear(records):
    return table(
        ["shape", "µs", "TFLOP/s", "to cuBLASLt"],
        [
            [
                f"`{shape}`",
                f"{us(fastest(row, 'sm90_')):.1f}",
                f"{fastest(row, 'sm90_')['rate_flops_per_s'] / 1e12:.0f}",
                ratio(row, "baseline_cublaslt"),
            ]
            for (_, shape), row in hopper(records, "linear").items()
        ],
    )


def sm90_few(records):
    runs = [
        (op, hopper(records, f"{cache}few-{op}")) for op in ("linear", "gelu_linear", "rmsnorm_gemm") for cache in ("", "clean_")
    ]
    return table(
        ["tokens, channels, features"]
        + [f"`{op}`: to cuBLASLt, share of copy" if i % 2 == 0 else "L2 clean" for i, (op, _) in enumerate(runs)],
        [
            [", ".join(word.split("=")[1] for word in key[1].split())]
            + [f"{ratio(found[key], 'baseline_cublaslt')}, {copied(found[key])}" for _, found in runs]
            for key in runs[0][1]
        ],
    )


def sm90_whole(records):
    """The width of 16, 32 and 64 that cost() of cuda/core/hopper_whole_product.cuh prefers on 132 multiprocessors, timed by itself."""
    by_op = {}
    for op in ("linear", "gelu_linear"):
        for width in (64, 32, 16):
            for (_, _, shape), row in rows_in(records.found(f"whole_{op}_{width}")).items():
                features = int(shape.split("out=")[1])
                cost = -(-(-(-features // width)) // 132) * (width + 8)
                by_op.setdefault(shape, {}).setdefault(op, []).append((cost, -width, row))
    rows = []
    for shape, ops in by_op.items():
        cells = [", ".join(word.split("=")[1] for word in shape.split()), str(-min(ops["linear"])[1])]
        for op in ("linear", "gelu_linear"):
            timed = sorted(ops[op], key=lambda each: each[:2])
            ours = us(timed[0][2]["sm90_few_tokens"])
            best = min(us(row["sm90_few_tokens"]) for _, _, row in timed)
            cells += [f"{ours:.1f}", f"{ours / best:.2f}", ratio(timed[0][2], "baseline_cublaslt")]
        rows.append(cells)
    return table(
        ["tokens, channels, features", "features a tile"]
        + [f"`{op}`{more}" for op in ("linear", "gelu_linear") for more in (", µs", ": to the best width", ": to cuBLASLt")],
        rows,
    )


def sm90_pages(records):
    clean = hopper(records, "clean_paged_attention")
    return table(
        ["shape", "µs", "share of the copy rate", "to `split_keys`", "L2 clean: µs", "share"],
        [
            [
                f"`{short(shape)}`",
                f"{us(fastest(row, 'sm90_')):.1f}",
                copied(row),
                ratio(row, "split_keys"),
                f"{us(fastest(clean[dtype, shape], 'sm90_')):.1f}",
                copied(clean[dtype, shape]),
            ]
            for (dtype, shape), row in hopper(records, "paged_attention").items()
            if dtype == "f16"
        ],
    )


def launches_of(record):
    return sorted((f["function"], f["blocks"], f["threads"], f["dynamic_shared"]) for f in record["resources"])


def layer_parts(records):
    tables = {}
    for row in rows_in(records.found("beside_layer-parts")).values():
        best = ours_of(row)
        tables.setdefault(best["suite"]["table"], {})[best["suite"]["label"]] = best
    rows = []
    for title, of in tables.items():
        layer = of.pop("layer")
        parts = [(int(label.split(" × ")[0]) if " × " in label else 1, part) for label, part in of.items()]
        if launches_of(layer) != sorted(launch for times, part in parts for launch in times * launches_of(part)):
            raise BadInput(f"beside_layer-parts, {title}: the layer launches other functions than its parts")
        each = [times * us(part) for times, part in parts]
        rows.append(
            [title, f"{us(layer):.1f}"] + [f"{part:.1f}" for part in each] + [f"{sum(each):.1f}", f"{sum(each) / us(layer):.3f}"]
        )
    return table(["", "layer, µs"] + list(of) + ["sum of the parts", "sum to layer"], rows) if rows else ["Not measured yet."]


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
    return (
        table(["op", "kernel", "shape", "dtype", "MB", "µs", "the copy, µs", "copy to kernel", "L2 clean: copy to kernel"], rows)
        if rows
        else ["Not measured yet."]
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
    return (
        table(["op", "shape", "dtype", "PyTorch eager, µs", "`torch.compile`", "ours", "to eager", "to compiled"], rows)
        if rows
        else ["Not measured yet."]
    )


def few_rows(records):
    rows = []
    by_rows = lambda row: int(re.search(r"rows=(\d+)", row[0][2])[1])
    for (_, dtype, shape), ways in sorted(rows_in(records.found("few_rows_turns")).items(), key=by_rows):
        theirs, *ours = [launched_or_replayed(ways, way) for way in ("pytorch_compile", "block_row", "one_pack")]
        rows.append([f"`{shape}`", dtype, f"{theirs:.2f}"] + [f"{t:.2f} ({theirs / t:.2f}×)" for t in ours])
    return table(["shape", "dtype", "`torch.compile`, µs", "`block_row`", "`one_pack`"], rows) if rows else ["Not measured yet."]


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
    return table(["op", "shape", "dtype", "Triton, µs", "ours", "Triton to ours"], rows) if rows else ["Not measured yet."]


TABLES = {
    "triton": triton,
    "layer_parts": layer_parts,
    "copies": copies,
    "compiled": compiled,
    "few_rows": few_rows,
    "sm90_attention": sm90_attention,
    "sm90_backward": sm90_backward,
    "attention_turns": attention_turns,
    "attention_alone": attention_alone,
    "sm90_products": sm90_products,
    "sm90_linear": sm90_linear,
    "sm90_few": sm90_few,
    "sm90_whole": sm90_whole,
    "sm90_pages": sm90_pages,
    "compared": compared,
    "layernorm_residual": layernorm_residual,
    "margins": margins,
    "verdicts": verdicts,
}


def main(arguments):
    p = Parser(__doc__)
    p.add_argument("folder", nargs="?", default=os.path.join(HERE, "baselines/nvidia-h200"), metavar="FOLDER")
    p.add_argument("page", nargs="?", default=os.path.join(HERE, "../docs/results-h200.md"), metavar="PAGE")
    p.add_argument("--check", action="store_true", help="only check whether the page has these tables; write nothing")
    flags = p.parse_args(arguments)
    try:
        with open(flags.page, encoding="utf-8") as file:
            text = file.read()
    except OSError as e:
        raise BadInput(f"cannot read '{flags.page}': {e.strerror}")
    records = Records(flags.folder)
    new = text
    other = []
    for name, make in TABLES.items():
        marked = re.compile(f"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.S)
        if not marked.search(new):
            raise BadInput(f"'{flags.page}' has no marks for the table {name}")
        made = "\n".join(make(records)) + "\n"
        before = new
        new = marked.sub(lambda m: m[1] + "\n" + made + "\n" + m[2], new)
        if new != before:
            other.append(name)
    if flags.check:
        if other:
            print(f"{flags.page}: not as in the records: {', '.join(other)}")
        return int(bool(other))
    with open(flags.page, "w", encoding="utf-8") as file:
        file.write(new)
    return 0


if __name__ == "__main__":
    judged(main)
