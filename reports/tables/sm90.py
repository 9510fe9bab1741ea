# SPDX-License-Identifier: Apache-2.0
"""Tables of the kernels for sm_90a."""
import re

from records import records_of

from .rows import copied, fastest, hopper_rows, ratio, rows_in, share, short, table, us

MULTIPROCESSORS = 132  # of an H200
WIDTHS = (64, 32, 16)  # features of a tile, each timed by itself; of equal costs the first is taken
TILE_FEATURES = 8  # how many features a tile costs beside its own


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
            for (dtype, shape), row in hopper_rows(records, "attention_forward").items()
        ],
    )


def sm90_backward(records):
    rows = []
    cudnn = {}
    for record in records_of(records.paths("pytorch_attention_backward.jsonl*")):
        if record["record"] == "timing" and "time_us" in record:
            cudnn[record["dtype"], record["shape"]] = record
    for (dtype, shape), row in hopper_rows(records, "attention_backward").items():
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

    def mean(shape, figure):
        return sum(figure(record) for record in runs[shape]) / len(runs[shape])

    def plain(shape):
        return " ".join(word for word in shape.split() if not word.startswith(("window=", "packed=", "fill=")))

    def rate(record):
        return record["rate_flops_per_s"]

    rows = [
        [
            f"`{short(shape)}`",
            f"{mean(shape, us):.1f}",
            f"{100 * mean(shape, lambda record: record['share_of_matrix']):.0f} %",
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
                for (dtype, shape), row in {**hopper_rows(records, op), **few(records, op)}.items()
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
    return hopper_rows(records, f"few-{op}") if op != "layernorm_linear" else {}


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
            for (_, shape), row in hopper_rows(records, "linear").items()
        ],
    )


def sm90_few(records):
    runs = [
        (op, hopper_rows(records, f"{cache}few-{op}"))
        for op in ("linear", "gelu_linear", "rmsnorm_gemm")
        for cache in ("", "clean_")
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


def ceil_div(dividend, divisor):
    return -(-dividend // divisor)


def cost(features, width):
    """The time of the busiest multiprocessor in that of a feature, as cost() of cuda/core/hopper_whole_product.cuh has it."""
    tiles = ceil_div(features, width)
    tiles_of_busiest = ceil_div(tiles, MULTIPROCESSORS)
    return tiles_of_busiest * (width + TILE_FEATURES)


def sm90_whole(records):
    """The width of WIDTHS that cost() of cuda/core/hopper_whole_product.cuh prefers on this GPU, timed by itself."""
    timed = {}  # by shape and op: (width, row) of each width
    for op in ("linear", "gelu_linear"):
        for width in WIDTHS:
            for (_, _, shape), row in rows_in(records.found(f"whole_{op}_{width}")).items():
                timed.setdefault(shape, {}).setdefault(op, []).append((width, row))
    rows = []
    for shape, ops in timed.items():
        features = int(shape.split("out=")[1])
        chosen = min((width for width, _ in ops["linear"]), key=lambda width: cost(features, width))
        cells = [", ".join(word.split("=")[1] for word in shape.split()), str(chosen)]
        for op in ("linear", "gelu_linear"):
            by_width = dict(ops[op])
            ours = us(by_width[chosen]["sm90_few_tokens"])
            best = min(us(row["sm90_few_tokens"]) for row in by_width.values())
            cells += [f"{ours:.1f}", f"{ours / best:.2f}", ratio(by_width[chosen], "baseline_cublaslt")]
        rows.append(cells)
    return table(
        ["tokens, channels, features", "features a tile"]
        + [f"`{op}`{more}" for op in ("linear", "gelu_linear") for more in (", µs", ": to the best width", ": to cuBLASLt")],
        rows,
    )


def sm90_pages(records):
    clean = hopper_rows(records, "clean_paged_attention")
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
            for (dtype, shape), row in hopper_rows(records, "paged_attention").items()
            if dtype == "f16"
        ],
    )


TABLES = {
    "sm90_attention": sm90_attention,
    "sm90_backward": sm90_backward,
    "attention_turns": attention_turns,
    "attention_alone": attention_alone,
    "sm90_products": sm90_products,
    "sm90_linear": sm90_linear,
    "sm90_few": sm90_few,
    "sm90_whole": sm90_whole,
    "sm90_pages": sm90_pages,
}
